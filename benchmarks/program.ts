/** The commands of `gate-bench`; their work is in the file of each, which is loaded when it is needed. */
import { Argument, Command, Option } from 'commander';
import { addRunOptions, runFlagsOf } from '../src/cli/batch';
import {
  addJudgeOptions,
  argumentsOf,
  collect,
  integer,
  positiveInteger,
  positiveNumber,
  withExamples,
  type CommandFactory,
} from '../src/cli/options';
import type { Program } from '../src/cli/program';
import { JUDGE_MODES } from '../src/domain/judge-modes';
import type { AuditFlags, DecideFlags } from './audit';
import { BENCHMARKS } from './boards';
import type { DataFlags } from './data';
import { DATA_SOURCES } from './data-sources';
import type { JudgeCommandFlags } from './judge';
import type { PredictionFlags } from './score';
import type { SubmitFlags } from './submit';

const benchmarkOption = (flag: string, means: string): Option =>
  new Option(`${flag} <name>`, means).choices(Object.keys(BENCHMARKS));

/** Options of the commands that read a predictions file. */
function addPredictionOptions(command: Command): Command {
  return command
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
    );
}

const scoreCommand: CommandFactory = (io, outcome) =>
  withExamples(
    addPredictionOptions(
      new Command('score')
        .description('score a predictions file by the official rules of its benchmark (docs/benchmarks.md)')
        .addOption(benchmarkOption('--benchmark', 'whose rules, and whose format').makeOptionMandatory())
        .requiredOption('--predictions <path>', 'the file or folder that the benchmark takes as a submission')
        .requiredOption('--data <folder>', "the benchmark's own folder, with questions and gold"),
    )
      .option('--timings <n>', 'where a benchmark scores time, run both queries this often', positiveInteger)
      .option('--json', 'print figures and the score of each question as JSON')
      .action(async (flags: PredictionFlags & { readonly json?: boolean }) => {
        outcome.code = await (await import('./score')).runScore(flags, io);
      }),
    'gate-bench score --benchmark ehrsql2024 --predictions prediction.json --data ./ehrsql-2024 --split valid --db mimic_iv=./mimic_iv.sqlite',
    'gate-bench score --benchmark questions --predictions predictions.jsonl --data ./questions.jsonl --db sales=./sales.sqlite --json',
  );

const judgeCommand: CommandFactory = (io, outcome) =>
  withExamples(
    addPredictionOptions(
      addJudgeOptions(
        new Command('judge')
          .description(
            'let a model judge the answers of a batch or of a predictions file, and compare it with execution match (docs/judging.md)',
          )
          .argument(
            '<answers>',
            'the --out folder of gate batch run, or with --benchmark a predictions file; judged.jsonl is written there or beside it',
          )
          .addOption(
            new Option(
              '--judge <how>',
              'two-pass: whether it abstains, then whether it means the same; single: whether it is exactly correct',
            )
              .choices(JUDGE_MODES)
              .default('two-pass'),
          )
          .option('--questions <file>', 'the file of questions (default: as summary.json names it)')
          .addOption(benchmarkOption('--benchmark', 'whose predictions these are; questions: of a file of your own'))
          .option('--data <folder>', "with --benchmark: the benchmark's own folder, with questions and gold"),
      ),
    )
      .option('--json', 'print the summary as JSON')
      .action(async (answers: string, flags: JudgeCommandFlags) => {
        outcome.code = await (await import('./judge')).runJudge(answers, flags, io);
      }),
    'gate-bench judge results/ --judge two-pass --model gpt-5.4',
    'gate-bench judge answers.jsonl --benchmark questions --data ./questions.jsonl --model gpt-5.4 --json',
  );

const submitCommand: CommandFactory = (io, outcome) =>
  withExamples(
    new Command('submit')
      .description(
        'write the answers of a batch as the official file or folder of a benchmark, checked, with a manifest (docs/benchmarks.md)',
      )
      .argument('<batch>', 'batch id, last, or the --out folder of gate batch run')
      .addOption(benchmarkOption('--format', 'the benchmark that it is for').makeOptionMandatory())
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
        outcome.code = await (await import('./submit')).runSubmit(batch, flags, io);
      }),
    'gate-bench submit last --format bird --data ./bird/dev --out predict_dev.json',
    'gate-bench submit results/ --format ehrsql2024 --data ./ehrsql-2024 --split test --out prediction.json',
  );

const dataCommand: CommandFactory = (io, outcome) => {
  const nameOf = (): Argument => new Argument('<name>', 'the benchmark').choices(Object.keys(DATA_SOURCES));
  const inFolder = (command: Command): Command =>
    command.addArgument(nameOf()).option('--dir <folder>', 'where it is, or goes (default: a folder of that name)');
  return withExamples(
    new Command('data')
      .description('the data of benchmarks: where they come from, and their licence')
      .addCommand(
        new Command('list')
          .description('sources, licences, and what has to be asked of each publisher')
          .option('--json', 'print JSON')
          .action(async (flags: DataFlags) => {
            (await import('./data')).listData(flags, io);
          }),
      )
      .addCommand(
        withExamples(
          inFolder(new Command('fetch'))
            .description('download what may be downloaded, or copy it from a local folder, and unpack it')
            .option('--from <folder>', 'a local folder with the data, or with a folder of them; nothing is downloaded')
            .action(async (name: string, flags: DataFlags) => {
              outcome.code = await (await import('./data')).fetchData(name, flags, io);
            }),
          'gate-bench data fetch ehrsql2024 --dir ./ehrsql-2024',
          'gate-bench data fetch bird --from ./data --dir ./bird',
        ),
      ),
    'gate-bench data fetch ehrsql2024 --dir ./ehrsql-2024',
  );
};

const auditCommand: CommandFactory = (io, outcome) =>
  withExamples(
    new Command('audit')
      .description('how consistent the grounding updates of stored searches are (docs/judging.md)')
      .addCommand(
        withExamples(
          addJudgeOptions(
            new Command('updates')
              .description('count updates, their reuse, and the pairs of one search that read a common table')
              .argument('<what...>', 'the --out folder of a batch, a batch id (b-…), search ids, or last')
              .option('--judge', 'let a model judge whether the two updates of each such pair contradict each other'),
          ).option('--json', 'print everything as JSON'),
          'gate-bench audit updates b-3f9a --judge --model gpt-5.4',
          'gate-bench audit updates last --json',
        ).action(async (what: readonly string[], flags: AuditFlags) => {
          outcome.code = await (await import('./audit')).auditUpdates(what, flags, io);
        }),
      )
      .addCommand(
        withExamples(
          new Command('decide')
            .description('say whether a flagged pair is a contradiction; later audits count it')
            .argument('<pair>', 'id of a pair that gate-bench audit updates --judge showed, or its beginning')
            .addArgument(new Argument('<decision>').choices(['contradiction', 'consistent']))
            .option('--note <text>', 'why')
            .option('--author <name>', 'who decides (default: the user name)')
            .option('--json', 'print the decision as JSON'),
          'gate-bench audit decide p-3f9a consistent --note "the two codes are of other years"',
        ).action(async (pair: string, decision: string, flags: DecideFlags) =>
          (await import('./audit')).decidePair(pair, decision, flags, io),
        ),
      ),
    'gate-bench audit updates results/ --judge',
  );

const compareCommand: CommandFactory = (io, outcome) =>
  withExamples(
    addRunOptions(
      new Command('compare')
        .description(
          'answer questions by several methods on equal terms: the .yaml of a run with benchmarks and judges (docs/runs.md), or a file of questions as gate batch run reads it',
        )
        .argument('<what>', 'the .yaml of a run, or a file of questions'),
    )
      .option('--no-docs', 'use no documentation, not even that of the configuration')
      .option('--knowledge', "give each question the file's hidden_knowledge")
      .option('--data <folder>', 'with a .yaml: where its relative paths begin (default: its own folder)')
      .option('--record <file>', 'write every exchange with the model to this file')
      .addOption(new Option('--replay <file>', 'answer from a recording instead of a model').conflicts('record'))
      .action(async (what: string, _: unknown, command: Command) => {
        const [{ runCommand }, { LABORATORY }] = await Promise.all([
          import('../src/cli/batch-run'),
          import('./laboratory'),
        ]);
        outcome.code = await runCommand(what, runFlagsOf(command), argumentsOf(command), io, LABORATORY);
      }),
    'gate-bench compare examples/paper/main-results.yaml --data ~/benchmarks --model gpt-5.4-mini --out report/',
    'gate-bench compare questions.jsonl --db sales=./sales.sqlite --methods fast,react --seeds 3 --out report/',
  );

export const GATE_BENCH: Program = {
  name: 'gate-bench',
  description:
    'Public benchmarks of text-to-SQL: their data, official scores and submissions, judges, audits, and runs of several methods.',
  examples: ['gate-bench data list', 'gate-bench compare run.yaml --out report/'],
  commands: [compareCommand, scoreCommand, judgeCommand, submitCommand, dataCommand, auditCommand],
};
