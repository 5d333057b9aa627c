/** `gate batch`: the command line of a batch; the work is in `batch-run.ts`, which only runs when it is needed. */
import { Command, Option } from 'commander';
import { JUDGE_MODES } from '../domain/judge-modes';
import type { BatchJudgeFlags } from './batch-judge';
import type { BatchFlags } from './batch-plan';
import { UsageError } from './errors';
import {
  addJudgeOptions,
  addSearchOptions,
  collect,
  collectDocs,
  positiveInteger,
  positiveNumber,
  withExamples,
  type CommandFactory,
} from './options';
import type { RunFlags } from './run-sets';

export const batchCommand: CommandFactory = (io, outcome) =>
  withExamples(
    new Command('batch')
      .description('answer a file of questions, and score the answers where the file has gold SQL')
      .addCommand(
        withExamples(
          addSearchOptions(
            new Command('run')
              .description('run a file of questions, or continue an earlier run; answered questions are not paid again')
              .argument(
                '<questions>',
                'JSONL or CSV: each line has question and, if you like, id, database, context, gold_sql …; or the .yaml of a run of several methods, files and seeds (docs/runs.md)',
              )
              .option(
                '--db <database>',
                'NAME=… for a database of the file, or one template with {database}; each is a configured name, an SQLite file or postgresql://… (repeatable)',
                collect,
              )
              .option('--out <folder>', 'the folder for results.jsonl and summary.json, or the report of a .yaml')
              .option('--concurrency <n>', 'how many questions run at the same time', positiveInteger, 8)
              .option('--dry-run', 'check files and databases, estimate calls and cost, ask nothing')
              .option(
                '--detach',
                'start it and return; workers, or one in the background, work on it, and the same command without --detach follows it and writes the results',
              ),
          ),
          'gate batch run questions.jsonl --db sales=./sales.sqlite --out results/',
          "gate batch run questions.jsonl --db 'postgresql://reader@localhost/{database}' --out results/ --dry-run",
          'gate batch run questions.jsonl --db shop --concurrency 50 --detach',
          'gate batch run examples/paper/main-results.yaml --data ~/benchmarks --model gpt-5.4-mini --out report/',
        )
          .option('--limit <n>', 'only the first n questions', positiveInteger)
          .option('--ids <ids>', 'only these questions, separated by commas (repeatable)', collect)
          .option('--knowledge', "give each question the file's hidden_knowledge; the summary says so")
          .option(
            '--docs <path>',
            'documentation of the databases, as for gate ask; {database} stands for each name (repeatable; default: "docs" of the database in the configuration)',
            collectDocs,
          )
          .option('--no-docs', 'use no documentation, not even that of the configuration')
          .addOption(
            new Option('--output <mode>', 'the SQL alone, or also an answer in words')
              .choices(['sql', 'answer'])
              .default('sql'),
          )
          .option('--web', 'let each search also look things up on the web (docs/web.md)')
          .option(
            '--max-total-cost <usd>',
            'start no further question once the batch has cost this much',
            positiveNumber,
          )
          .option(
            '--name <name>',
            'name of the batch; another name makes another batch (default: the name of the file)',
          )
          .option('--fresh', 'ask every question again even if it was answered before')
          .option('--data <folder>', 'with a .yaml: where its relative paths begin (default: its own folder)')
          .option('--json', 'print the summary as JSON')
          .option('--events', 'tell what happens as lines of JSON on stderr (docs/json.md)')
          .action(async (file: string, flags: BatchFlags & Pick<RunFlags, 'data'>, command: Command) => {
            if (/\.ya?ml$/i.test(file)) {
              const { runBatches } = await import('./run-batches');
              outcome.code = await runBatches(file, runFlags(command), argumentsOf(command), io);
              return;
            }
            if (flags.data !== undefined) throw new UsageError('--data is for the .yaml of a run; leave it out');
            const { runBatchCommand } = await import('./batch-run');
            outcome.code = await runBatchCommand(file, flags, argumentsOf(command), io);
          }),
      )
      .addCommand(
        addJudgeOptions(
          withExamples(
            new Command('judge')
              .description(
                'let a model judge the stored answers of a batch, and compare it with execution match (docs/judging.md)',
              )
              .argument('<results>', 'the --out folder of gate batch run; judged.jsonl is written there')
              .addOption(
                new Option(
                  '--judge <how>',
                  'two-pass: whether it abstains, then whether it means the same; single: whether it is exactly correct',
                )
                  .choices(JUDGE_MODES)
                  .default('two-pass'),
              )
              .option('--questions <file>', 'the file of questions (default: as summary.json names it)')
              .option('--db <database>', 'where gold queries run, as for gate batch run (repeatable)', collect),
            'gate batch judge results/ --judge two-pass --model gpt-5.4',
            'gate batch judge results/ --judge single --json',
          ),
        )
          .option('--json', 'print the summary as JSON')
          .action(async (results: string, flags: BatchJudgeFlags) => {
            outcome.code = await (await import('./batch-judge')).judgeBatch(results, flags, io);
          }),
      ),
    'gate batch run questions.jsonl --db sales=./sales.sqlite --out results/',
  );

const OF_RUN = [
  'out',
  'db',
  'data',
  'model',
  'concurrency',
  'limit',
  'seed',
  'maxTotalCost',
  'dryRun',
  'fresh',
  'json',
  'debug',
];

/** What stands before the file of a run; everything else is said in the file. */
function runFlags(command: Command): RunFlags {
  const given = Object.entries(command.opts()).filter(([name]) => command.getOptionValueSource(name) === 'cli');
  const other = given.find(([name]) => !OF_RUN.includes(name))?.[0];
  const flag = command.options.find((option) => option.attributeName() === other)?.long ?? other;
  if (flag !== undefined) throw new UsageError(`${flag}: leave it out; the file of a run says what is asked`);
  return Object.fromEntries(given);
}

/** What was typed after `gate`. */
function argumentsOf(command: Command): readonly string[] {
  let root = command;
  while (root.parent !== null) root = root.parent;
  return (root as Command & { readonly rawArgs?: readonly string[] }).rawArgs ?? [];
}
