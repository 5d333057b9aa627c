/** `gate submit`: the official file or folder of a benchmark, from a batch; the work is in `submit-run.ts`. */
import { Command, Option } from 'commander';
import { BENCHMARKS } from '../benchmarks/boards';
import { collect, integer, withExamples, type CommandFactory } from './options';
import type { SubmitFlags } from './submit-run';

export const submitCommand: CommandFactory = (io, outcome) =>
  withExamples(
    new Command('submit')
      .description(
        'write the answers of a batch as the official file or folder of a benchmark, checked, with a manifest (docs/benchmarks.md)',
      )
      .argument('<batch>', 'batch id, last, or the --out folder of gate batch run')
      .addOption(
        new Option('--format <name>', 'the benchmark that it is for')
          .choices(Object.keys(BENCHMARKS))
          .makeOptionMandatory(),
      )
      .option(
        '--data <folder>',
        "the benchmark's own folder: every question gets a place (default: the batch's own file)",
      )
      .option('--split <name>', 'which part of it (default: the first that the benchmark has)')
      .option('--seed <n>', 'for a split that is drawn', integer, 0)
      .option('--out <path>', 'the file or folder to write (default: submission-FORMAT in the current folder)')
      .option('--rows', 'give the stored results instead of SQL, where the benchmark takes them')
      .option(
        '--allow-literals <ids>',
        'questions whose literals a person has looked at, separated by commas (repeatable)',
        collect,
      )
      .option('--json', 'print what was written as JSON')
      .action(async (batch: string, flags: SubmitFlags) => {
        const { runSubmit } = await import('./submit-run');
        outcome.code = await runSubmit(batch, flags, io);
      }),
    'gate submit last --format bird --data ./bird/dev --out predict_dev.json',
    'gate submit results/ --format ehrsql2024 --data ./ehrsql-2024 --split test --out prediction.json',
  );
