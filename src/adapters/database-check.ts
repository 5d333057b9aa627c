/** What a check on the spot finds: writes that were really attempted, and rights that someone could use elsewhere. */
export interface DatabaseCheck {
  readonly version: string;
  /** Who the statements run as, where the engine has users. */
  readonly user: string | null;
  /** null: nothing goes over a network. */
  readonly tls: boolean | null;
  readonly connectMs: number;
  /** One round trip, the best of some. */
  readonly latencyMs: number;
  readonly attempts: readonly WriteAttempt[];
  readonly rights: readonly WritingRight[];
}

export interface WriteAttempt {
  readonly what: string;
  /** `refused`: the database said no because it would write. `failed`: no for another reason, which proves nothing. */
  readonly outcome: 'refused' | 'went-through' | 'failed';
  readonly message: string;
}

/** The read-only transaction keeps these from being used here; with another program they would be. */
export interface WritingRight {
  readonly what: string;
  readonly fix: string;
}
