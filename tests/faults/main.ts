/**
 * `npm run faults`: real searches meet real faults at seeded moments, and every promise of the design is checked
 * (docs/faults.md). `-- --short`: two moments of each kind; `-- --only KIND`; `-- --moments N`; `-- --seed N`;
 * `-- --json`. Exit 1 when a promise is broken.
 */
import { parseArgs } from 'node:util';
import { installLogger } from '../../src/workers/run-worker';
import type { FaultKind } from './kind';
import { clockJumps } from './kinds/clock';
import { diskFull } from './kinds/disk';
import { endpointKinds } from './kinds/model';
import { postgresStopped, storeDown, temporalKilled, workerKilled } from './kinds/processes';
import { race } from './kinds/race';
import { summaryOf, table, type KindSummary } from './report';
import { runKind, type MomentReport } from './run-kind';
import { openStage, type Stage } from './stage';

/** Slowest first, so that the last ones to run are short. */
const KINDS: readonly FaultKind[] = [
  ...[workerKilled, storeDown, race, temporalKilled, diskFull, clockJumps, postgresStopped],
  ...endpointKinds,
];
const FULL = 20;
const SHORT = 2;

async function main(): Promise<void> {
  const flags = readFlags();
  if (flags === null) return;
  const startedMs = Date.now();
  const moments: MomentReport[] = [];
  const failed = new Map<string, string>();
  const report = (moment: MomentReport): void => {
    moments.push(moment);
    const verdict = moment.broken.length === 0 ? 'kept' : 'BROKEN';
    console.error(
      `${moment.kind} ${String(moment.index + 1)}: ${verdict}, ${moment.moment}; recovered in ${recovery(moment)}, took ${seconds(moment.tookMs)}`,
    );
    for (const line of moment.broken) console.error(`    ${line}`);
  };
  const stages = new Set<Stage>();
  closeOnInterrupt(stages);
  const waiting = [...flags.kinds];
  const work = async (): Promise<void> => {
    for (let kind = waiting.shift(); kind !== undefined; kind = waiting.shift()) {
      try {
        const stage = await openStage(kind.stage());
        stages.add(stage);
        try {
          await runKind(kind, stage, { moments: flags.moments, seed: flags.seed, report });
        } finally {
          stages.delete(stage);
          await stage.close();
        }
      } catch (error) {
        failed.set(kind.name, error instanceof Error ? error.message : String(error));
        console.error(`${kind.name}: ${failed.get(kind.name) ?? ''}`);
      }
    }
  };
  await Promise.all(Array.from({ length: flags.jobs }, work));
  const kinds: KindSummary[] = flags.kinds.map((kind) =>
    summaryOf(
      kind,
      moments.filter((moment) => moment.kind === kind.name),
      failed.get(kind.name) ?? null,
    ),
  );
  const tookSeconds = Math.round((Date.now() - startedMs) / 1000);
  console.log(
    flags.json
      ? JSON.stringify({ seed: flags.seed, seconds: tookSeconds, kinds, moments }, null, 2)
      : table(kinds, tookSeconds),
  );
  if (kinds.some(({ kept }) => !kept)) process.exitCode = 1;
}

/** Servers and workers are processes of their own, which would go on. */
function closeOnInterrupt(stages: ReadonlySet<Stage>): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      const closed = [...stages].map((stage) => stage.close());
      void Promise.allSettled(closed).then(() => process.exit(130));
    });
}

/** The slowest search of the moment. */
function recovery({ recoveriesMs }: MomentReport): string {
  return recoveriesMs.length === 0 ? 'no time' : seconds(Math.max(...recoveriesMs));
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

interface Flags {
  readonly kinds: readonly FaultKind[];
  readonly moments: number;
  readonly seed: number;
  readonly jobs: number;
  readonly json: boolean;
}

function readFlags(): Flags | null {
  try {
    const { values } = parseArgs({
      options: {
        ...{ short: { type: 'boolean' }, json: { type: 'boolean' }, only: { type: 'string', multiple: true } },
        ...{ seed: { type: 'string' }, moments: { type: 'string' }, jobs: { type: 'string' } },
      } as const,
    });
    const names = KINDS.map(({ name }) => name);
    const unknown = (values.only ?? []).filter((name) => !names.includes(name));
    if (unknown.length > 0) throw new Error(`--only: no kind ${unknown.join(', ')}; there are ${names.join(', ')}`);
    return {
      kinds: values.only === undefined ? KINDS : KINDS.filter(({ name }) => values.only?.includes(name)),
      moments: whole('--moments', values.moments, values.short === true ? SHORT : FULL),
      seed: whole('--seed', values.seed, 1),
      jobs: whole('--jobs', values.jobs, 2),
      json: values.json ?? false,
    };
  } catch (error) {
    console.error(`faults: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 2;
    return null;
  }
}

function whole(flag: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  if (!/^\d{1,6}$/.test(text)) throw new Error(`${flag}: give a whole number, 0 or more`);
  return Number(text);
}

installLogger('ERROR', () => undefined);
main()
  .catch((error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  })
  // Connections of a server that was killed may keep the process alive.
  .finally(() => setTimeout(() => process.exit(), 200));
