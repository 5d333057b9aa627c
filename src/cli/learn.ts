/** `gate learn`: the command line; the work is in `learn-run.ts`. */
import { Command } from 'commander';
import type { CommandFactory } from './command';
import type { LearnFlags } from './learn-run';
import { addLimitOptions, collect, collectModels, positiveInteger, withExamples } from './options';

export const learnCommand: CommandFactory = (io, outcome) =>
  withExamples(
    addLimitOptions(
      new Command('learn')
        .description('prove the conventions of a database without a question, for all later ones (docs/layer.md)')
        .option(
          '--db <database>',
          'a configured name, an SQLite file, or postgresql://… (default: the only configured one)',
        )
        .option('--turns <n>', 'at most this many turns of queries and claims', positiveInteger, 8)
        .option('--docs <path>', 'documentation of the database (repeatable)', collect)
        .option('--model <name>', 'model for all roles, or ROLE=NAME for one (repeatable)', collectModels),
    )
      .option('--detach', 'return at once; a server and a worker keep running in the background')
      .option('--json', 'print the final record as JSON')
      .action(async (flags: LearnFlags) => {
        outcome.code = await (await import('./learn-run')).runLearnCommand(flags, io);
      }),
    'gate learn --db shop',
    'gate learn --db sales --max-cost 2 --turns 6',
  );
