/** What a kind kept, over all its moments: a line of the table. */
import type { FaultKind } from './kind';
import type { MomentReport } from './run-kind';

export interface KindSummary {
  readonly name: string;
  readonly title: string;
  readonly kept: boolean;
  readonly moments: number;
  readonly brokenMoments: number;
  readonly searches: number;
  readonly calls: number;
  readonly paidAgain: number;
  readonly recoveryMedianMs: number | null;
  readonly recoveryMaxMs: number | null;
  /** Why the kind could not be run. */
  readonly failure: string | null;
}

export function summaryOf(kind: FaultKind, moments: readonly MomentReport[], failure: string | null): KindSummary {
  const sum = (of: (moment: MomentReport) => number): number => moments.reduce((total, each) => total + of(each), 0);
  const recoveries = moments.flatMap(({ recoveriesMs }) => recoveriesMs).sort((a, b) => a - b);
  const brokenMoments = moments.filter(({ broken }) => broken.length > 0).length;
  return {
    ...{ name: kind.name, title: kind.title, moments: moments.length, brokenMoments, failure },
    kept: failure === null && brokenMoments === 0 && moments.length > 0,
    searches: sum(({ searches }) => searches),
    calls: sum(({ calls }) => calls),
    paidAgain: sum(({ paidAgain }) => paidAgain),
    recoveryMedianMs: recoveries[Math.floor(recoveries.length / 2)] ?? null,
    recoveryMaxMs: recoveries.at(-1) ?? null,
  };
}

export function table(kinds: readonly KindSummary[], seconds: number): string {
  const head = ['fault', 'moments', 'searches', 'calls', 'paid again', 'recovery median', 'max', 'promises'];
  const rows = kinds.map((kind) => [
    kind.name,
    ...[kind.moments, kind.searches, kind.calls, kind.paidAgain].map(String),
    ...[inSeconds(kind.recoveryMedianMs), inSeconds(kind.recoveryMaxMs)],
    kind.kept ? 'kept' : (kind.failure ?? `BROKEN at ${String(kind.brokenMoments)} moments`),
  ]);
  const all = [head, ...rows];
  const widths = head.map((_, at) => Math.max(...all.map((row) => (row[at] ?? '').length)));
  const lines = all.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return [...lines, '', `${String(seconds)} s in all`].join('\n');
}

function inSeconds(ms: number | null): string {
  return ms === null ? '-' : `${(ms / 1000).toFixed(1)} s`;
}
