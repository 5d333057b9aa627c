/** What `gate doctor` says of one thing. */
export interface Finding {
  readonly what: string;
  /** `missing`: GATE cannot work without it. `note`: it works, but look. */
  readonly state: 'ok' | 'note' | 'missing';
  readonly detail: string;
  readonly fix: string | null;
}

export function ok(what: string, detail: string): Finding {
  return { what, state: 'ok', detail, fix: null };
}

export function note(what: string, detail: string, fix: string | null): Finding {
  return { what, state: 'note', detail, fix };
}

export function missing(what: string, detail: string, fix: string): Finding {
  return { what, state: 'missing', detail, fix: fix === 'see there' ? null : fix };
}
