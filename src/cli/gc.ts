/** `gate gc`: removes old searches from the store, and what nothing refers to any more. */
import { Command, InvalidArgumentError } from 'commander';
import { withExamples, type CommandFactory } from './options';

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
      .option('--keep-answers', 'keep questions and final answers; remove plans, prompts and probe results')
      .option('--json', 'print JSON')
      .action(async (flags: { olderThan?: number; dryRun?: boolean; keepAnswers?: boolean; json?: boolean }) => {
        const { runGc } = await import('./gc-run');
        await runGc(flags, io);
      }),
    'gate gc --older-than 30d --dry-run',
    'gate gc --older-than 1w --keep-answers',
  );

/** In milliseconds. */
function age(text: string): number {
  const [, digits, unit] = /^(\d{1,6}(?:\.\d+)?)([hdw])$/.exec(text) ?? [];
  if (digits === undefined) throw new InvalidArgumentError('give hours, days or weeks, such as 12h, 30d or 8w');
  return Number(digits) * UNITS_MS[unit as keyof typeof UNITS_MS];
}
