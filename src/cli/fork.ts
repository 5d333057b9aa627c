/** `gate fork`: the command line; the work is in `fork-run.ts`. */
import { Command, Option } from 'commander';
import type { PresetName } from '../domain';
import {
  addLimitOptions,
  collectModels,
  integer,
  positiveInteger,
  PRESET_NAMES,
  withExamples,
  type LimitFlags,
  type ModelFlags,
} from './options';
import type { CommandFactory } from './program';
import { addSteerOptions, STEERING_GROUP } from './steer';

export interface ForkFlags extends LimitFlags {
  readonly at: number;
  readonly hint?: string;
  readonly author?: string;
  readonly db?: string;
  readonly model?: ModelFlags;
  readonly preset?: PresetName;
  readonly seed?: number;
  readonly iterations?: number;
  readonly detach?: boolean;
  readonly fresh?: boolean;
  readonly json?: boolean;
  readonly debug?: boolean;
}

const NOTES = `
A fork begins where its parent stood after that iteration, with all that was proved; it pays only its own calls.
If candidates agree there already, it ends at once: take an earlier --at. The same fork twice is one search.
Limits are the parent's unless given, and count from zero.`;

export const forkCommand: CommandFactory = (io, outcome) =>
  withExamples(
    addSteerOptions(
      addLimitOptions(
        new Command('fork')
          .helpGroup(STEERING_GROUP)
          .description('start a new search from a checkpoint of another one, running or long finished')
          .argument('<id>', 'search id, its beginning, or last')
          .requiredOption('--at <n>', 'after which of its iterations', positiveInteger)
          .option('--hint <text>', 'tell it something that the parent did not know')
          .option('--db <database>', 'where an SQLite file or a URL that is not configured lies now')
          .option('--model <name>', 'model for all roles, or ROLE=NAME for one (repeatable)', collectModels)
          .addOption(new Option('--preset <name>', 'how much effort from there on').choices(PRESET_NAMES))
          .option('--seed <n>', 'another seed is another search', integer)
          .option(
            '--iterations <n>',
            'at most so many further iterations (default: as many as the preset has)',
            positiveInteger,
          ),
      ),
    )
      .option('--detach', 'return at once; server and worker stay up')
      .option('--fresh', 'fork anew although the same fork was made before')
      .addHelpText('after', NOTES)
      .action(async (id: string, flags: ForkFlags) => {
        const { runFork } = await import('./fork-run');
        outcome.code = await runFork(id, flags, io);
      }),
    'gate fork last --at 2 --hint "gaps are in seconds"',
    'gate fork q-3f9a --at 1 --model gpt-5 --preset thorough --max-cost 3 --detach',
  );
