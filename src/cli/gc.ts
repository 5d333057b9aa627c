/** `gate ops gc`: removes old searches from the store, and what nothing refers to any more. */
import { Command, InvalidArgumentError } from 'commander';
import { counted } from '../counted';
import type { Io } from './io';
import { withExamples, type CommandFactory } from './options';
import type { Cleaned } from '../app/gc';

interface GcFlags {
  readonly olderThan?: number;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

const UNITS_MS = { h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };

export const gcCommand: CommandFactory = (io) =>
  withExamples(
    new Command('gc')
      .description('remove old searches from the store; searches still in use are kept')
      .option(
        '--older-than <age>',
        'remove what was last used this long ago: 12h, 30d, 8w (default: store.retentionDays)',
        age,
      )
      .option('--dry-run', 'remove nothing; only say what would be removed')
      .option('--json', 'print JSON')
      .action((flags: GcFlags) => runGc(flags, io)),
    'gate ops gc --older-than 30d --dry-run',
  );

/** In milliseconds. */
function age(text: string): number {
  const [, digits, unit] = /^(\d{1,6}(?:\.\d+)?)([hdw])$/.exec(text) ?? [];
  if (digits === undefined) throw new InvalidArgumentError('give hours, days or weeks, such as 12h, 30d or 8w');
  return Number(digits) * UNITS_MS[unit as keyof typeof UNITS_MS];
}

async function runGc({ olderThan, dryRun = false, json }: GcFlags, io: Io): Promise<void> {
  const { cleanStore } = await import('../app/gc');
  const cleaned = await cleanStore(io, { olderThanMs: olderThan, dryRun });
  io.out(json ? `${JSON.stringify(cleaned, null, 2)}\n` : told(cleaned));
}

function told(result: Cleaned): string {
  const { dryRun, searches, batches, objects, payloads, judgements, bytes } = result;
  const optional = [
    [batches.length, 'batch', 'batches'],
    [payloads, 'payload', 'payloads'],
    [judgements, 'file of a judge', 'files of a judge'],
  ] as const;
  const counts = [
    counted(searches.length, 'search', 'searches'),
    counted(objects, 'shared object'),
    ...optional.flatMap(([count, one, many]) => (count === 0 ? [] : [counted(count, one, many)])),
  ];
  const megabytes = (bytes / 1_000_000).toFixed(bytes < 10_000_000 ? 2 : 0);
  const lines = [
    `${dryRun ? 'would remove' : 'removed'} ${counts.join(', ')}: ${megabytes} MB`,
    ...result.kept.map(({ id, why }) => `kept ${id}: ${why}`),
    ...(result.young === 0
      ? []
      : [`kept ${counted(result.young, 'unused object')} less than a day old: run gate ops gc again later`]),
    ...result.problems.map((problem) => `note: ${problem}`),
  ];
  return `${lines.join('\n')}\n`;
}
