/** What is told of a running search, after every step that changes it. */
import { counted } from '../counted';
import type { Usage } from '../domain';

/** A step under way, and since when. */
export interface Waiting {
  /** A model's name, or `the database`. */
  readonly what: string;
  readonly sinceMs: number;
}

export interface Progress {
  readonly iteration: number;
  readonly iterations: number;
  readonly trajectories: number;
  readonly open: number;
  readonly bottleneck: string | null;
  /** The finding of the last judgement, in one sentence. */
  readonly learned: string | null;
  readonly candidates: number;
  /** Claims that the data showed so far, or steps; left out: the method proves nothing. */
  readonly proved?: number;
  /** Oldest first; known to the workflow alone. */
  readonly waiting?: readonly Waiting[];
  readonly usage: Usage;
  readonly plan: readonly { readonly name: string; readonly state: string; readonly updateId: string | null }[];
  readonly frontier: readonly {
    readonly id: string;
    readonly score: number;
    readonly status: string;
    readonly bottleneck: string | null;
  }[];
}

/** `waiting for gpt-5.4, 18 s; 2 queries done; 3 claims proved`. */
export function progressText(progress: Progress, nowMs: number): string {
  const { waiting = [], usage, proved, bottleneck, candidates } = progress;
  return [
    ...waitedFor(waiting).map(({ what, sinceMs }) => `waiting for ${what}, ${secondsText(nowMs - sinceMs)}`),
    `${counted(usage.sqlExecutions, 'query', 'queries')} done`,
    ...(proved === undefined ? [] : [`${counted(proved, 'claim')} proved`]),
    ...(candidates === 0 ? [] : [counted(candidates, 'candidate')]),
    ...(bottleneck === null ? [] : [`working on ${bottleneck}`]),
  ].join('; ');
}

/** Each once, with how many calls wait for it. */
export function waitedFor(waiting: readonly Waiting[]): readonly Waiting[] {
  const names = [...new Set(waiting.map(({ what }) => what))];
  return names.flatMap((what) => {
    const all = waiting.filter((each) => each.what === what);
    return all
      .slice(0, 1)
      .map((first) => (all.length === 1 ? first : { ...first, what: `${what} (${all.length} calls)` }));
  });
}

function secondsText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
