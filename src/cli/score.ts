/** `gate score`: a predictions file made by anyone, judged by the rules of its benchmark; the work is in `score-run.ts`. */
import { Command, Option } from 'commander';
import { BENCHMARKS } from '../benchmarks/boards';
import { JUDGE_MODES } from '../domain/judge-modes';
import {
  addJudgeOptions,
  collect,
  integer,
  positiveInteger,
  positiveNumber,
  withExamples,
  type CommandFactory,
} from './options';
import type { ScoreFlags } from './score-run';

export const scoreCommand: CommandFactory = (io, outcome) =>
  withExamples(
    addJudgeOptions(
      new Command('score')
        .description(
          'score a predictions file by the official rules of its benchmark, and by a model if you like (docs/benchmarks.md)',
        )
        .addOption(
          new Option('--benchmark <name>', 'whose rules, and whose format')
            .choices(Object.keys(BENCHMARKS))
            .makeOptionMandatory(),
        )
        .requiredOption('--predictions <path>', 'the file or folder that the benchmark takes as a submission')
        .requiredOption('--data <folder>', "the benchmark's own folder, with questions and gold")
        .option('--split <name>', 'which part of it (default: the first that the benchmark has)')
        .option('--seed <n>', 'for a split that is drawn', integer, 0)
        .option('--db <database>', 'databases that are not in the folder, as for gate batch run (repeatable)', collect)
        .option('--concurrency <n>', 'how many predictions are scored at the same time', positiveInteger, 4)
        .option(
          '--timeout <seconds>',
          'at most this long for a query, unless the benchmark sets a limit',
          positiveNumber,
          120,
        )
        .option(
          '--max-rows <n>',
          'at most this many rows of a result are compared; one with more may be undecided',
          positiveInteger,
          100_000,
        )
        .option('--timings <n>', 'where a benchmark scores time, run both queries this often', positiveInteger)
        .addOption(
          new Option(
            '--judge <how>',
            'let a model judge each answer as well, in words or by its rows, as gate batch judge does',
          ).choices(JUDGE_MODES),
        ),
      '--judge-model',
    )
      .option('--json', 'print figures and the score of each question as JSON')
      .action(async (flags: ScoreFlags) => {
        const { runScore } = await import('./score-run');
        outcome.code = await runScore(flags, io);
      }),
    'gate score --benchmark ehrsql2024 --predictions prediction.json --data ./ehrsql-2024 --split valid --db mimic_iv=./mimic_iv.sqlite',
    'gate score --benchmark questions --predictions predictions.jsonl --data ./questions.jsonl --db sales=./sales.sqlite --json',
    'gate score --benchmark questions --predictions answers.jsonl --data ./questions.jsonl --judge two-pass --judge-model gpt-5.4',
  );
