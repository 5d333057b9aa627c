/** `gate demo`: the sprint question of the paper on a small sample database, with the model's replies replayed. */
import { Command } from 'commander';
import { withExamples } from './options';
import type { CommandFactory } from './command';

export const demoCommand: CommandFactory = (io, outcome) =>
  withExamples(
    new Command('demo')
      .description('answer a sample question on a sample database; needs no model')
      .option('--json', 'print the final record as JSON, as gate ask does')
      .action(async (flags: { json?: boolean; debug?: boolean }) => {
        const { runDemo } = await import('./demo-run');
        outcome.code = await runDemo(flags, io);
      }),
    'gate demo',
    'gate demo --json',
  );
