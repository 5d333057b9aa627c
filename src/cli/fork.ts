/** `gate fork`: the command line; the work is in `fork-run.ts`. */
import { Command, Option } from 'commander';
import { addLimitOptions, collectModels, integer, positiveInteger, withExamples, type CommandFactory } from './options';
import { parseMethodSpec } from '../config/method-specs';
import type { ForkFlags } from './fork-run';
import { addSteerOptions, STEERING_GROUP } from './steer';

const NOTES = `
A fork starts from the state of its parent after that iteration, with all that was proved by then. It pays only its own
calls. If candidates already agree at that point, the fork ends at once, or with --hint after one more plan. Asking for the same fork
again continues it. A fork has the limits of its parent unless you give others; its usage counts from zero.`;

export const forkCommand: CommandFactory = (io, outcome) =>
  withExamples(
    addSteerOptions(
      addLimitOptions(
        new Command('fork')
          .helpGroup(STEERING_GROUP)
          .description('start a new search from a checkpoint of another search, running or finished')
          .argument('<id>', 'search id, its beginning, or last')
          .requiredOption('--at <n>', 'start from the state after this iteration', positiveInteger)
          .option('--hint <text>', 'tell the fork something that its parent did not know')
          .option('--db <database>', 'the SQLite file or URL, if the database is not configured')
          .option('--model <name>', 'model for all roles, or ROLE=NAME for one (repeatable)', collectModels)
          .option(
            '--method <spec>',
            'fast, thorough or paper from there on, for a search by one of them',
            parseMethodSpec,
          )
          .option('--seed <n>', 'a number; another seed makes another search', integer)
          .option(
            '--iterations <n>',
            'at most this many further iterations (default: as many as the method has)',
            positiveInteger,
          ),
      ),
    )
      .option('--detach', 'return at once; a server and a worker keep running in the background')
      .option('--fresh', 'fork again even if the same fork was made before')
      .addHelpText('after', NOTES)
      .action(async (id: string, flags: ForkFlags) => {
        const { runFork } = await import('./fork-run');
        outcome.code = await runFork(id, flags, io);
      }),
    'gate fork last --at 2 --hint "gaps are in seconds"',
    'gate fork q-3f9a --at 1 --model gpt-5 --method thorough --max-cost 3 --detach',
  );
