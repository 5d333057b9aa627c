/** The result of `gate db check`: writes that were really attempted, and rights that other programs could use. */
export interface DatabaseCheck {
  readonly version: string;
  /** The database user or role; null for an engine without users. */
  readonly user: string | null;
  /** null: no network connection is used. */
  readonly tls: boolean | null;
  readonly connectMs: number;
  /** The shortest of several round trips. */
  readonly latencyMs: number;
  readonly attempts: readonly WriteAttempt[];
  readonly rights: readonly WritingRight[];
}

export interface WriteAttempt {
  readonly what: string;
  /** `refused`: the database rejected it because it writes. `failed`: it was rejected for another reason: no proof. */
  readonly outcome: 'refused' | 'went-through' | 'failed';
  readonly message: string;
}

/**
 * Attempts each statement; `write` leaves nothing of it behind. `verdict`: by the code of the error; one that says nothing of
 * the statement is to be thrown by it.
 */
export async function attempted(
  statements: readonly (readonly [what: string, sql: string])[],
  write: (sql: string) => unknown,
  verdict: (error: unknown) => 'refused' | 'failed',
): Promise<WriteAttempt[]> {
  const attempts: WriteAttempt[] = [];
  for (const [what, sql] of statements)
    try {
      await write(sql);
      attempts.push({ what, outcome: 'went-through', message: 'it was executed, and rolled back' });
    } catch (error) {
      attempts.push({ what, outcome: verdict(error), message: (error as Error).message });
    }
  return attempts;
}

/** The shortest of five round trips. */
export async function latencyOf(trip: () => Promise<unknown>): Promise<number> {
  const took: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const startedMs = performance.now();
    await trip();
    took.push(performance.now() - startedMs);
  }
  return Math.min(...took);
}

/** A right that this user has. GATE's read-only transactions cannot use it, but another program could. */
export interface WritingRight {
  readonly what: string;
  readonly fix: string;
}
