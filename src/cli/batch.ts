/** `gate batch`: the command line of runs and batches; the work only loads when it is needed. */
import { Option, type Command } from 'commander';
import { METHODS, parseMethodSpecs } from '../config/method-specs';
import type { BatchStatusFlags } from './batch-status';
import type { RetryFlags, RunFlags } from './batch-run';
import {
  addLimitOptions,
  argumentsOf,
  collect,
  collectDocs,
  collectModels,
  integer,
  memoryOption,
  positiveInteger,
  positiveNumber,
  typedOptions,
  commandOf,
  type CommandFactory,
} from './options';

/** Options of everything that runs questions. */
export function addRunOptions(command: Command): Command {
  return addLimitOptions(
    command
      .option(
        '--db <database>',
        'NAME=… for a database of the file, or one template with {database}; each is a configured name, a file or a URL (repeatable)',
        collect,
      )
      .option('--out <folder>', 'the folder for results.jsonl, summary.json and the report')
      .option(
        '--methods <specs>',
        `how to search: ${Object.keys(METHODS).join(', ')}, some with settings, as in react:queries=8; several with commas between (docs/methods)`,
        parseMethodSpecs,
      )
      .option('--seeds <n>', 'how often each question is asked by each method, with another seed', positiveInteger)
      .option('--seed <n>', 'this seed alone', integer)
      .option('--model <name>', 'model for all roles, or ROLE=NAME for one (repeatable)', collectModels)
      .addOption(memoryOption())
      .option('--concurrency <n>', 'how many questions run at the same time (default: 8)', positiveInteger)
      .option('--limit <n>', 'only the first n questions', positiveInteger)
      .option('--ids <ids>', 'only these questions, separated by commas (repeatable)', collect)
      .option(
        '--docs <path>',
        'documentation of the databases, as for gate ask; {database} stands for each name (repeatable; default: "docs" of the database in the configuration)',
        collectDocs,
      )
      .addOption(new Option('--output <mode>', 'the SQL alone, or also an answer in words').choices(['sql', 'answer']))
      .option('--web', 'let each search also look things up on the web (docs/web.md)')
      .option('--rows', 'put the rows of each answer into results.jsonl')
      .option('--name <name>', 'name of the run; another name makes another one (default: the name of the file)')
      .option('--max-total-cost <usd>', 'start no further question once the run has cost this much', positiveNumber)
      .option('--fresh', 'ask every question again even if it was answered before')
      .option('--dry-run', 'check files and databases, estimate calls and cost, ask nothing')
      .option('--json', 'print the summary, or the estimate, as JSON'),
  );
}

/** Options that were typed. */
export function runFlagsOf(command: Command): RunFlags {
  const { debug } = command.opts<RunFlags>();
  return { ...typedOptions(command), ...(debug && { debug }) };
}

export const batchCommand: CommandFactory = (io, outcome) =>
  commandOf(
    'batch',
    'answer a file of questions, and score the answers where the file has gold SQL',
    'gate batch run questions.jsonl --db sales=./sales.sqlite --out results/',
  )
    .addCommand(
      addRunOptions(
        commandOf(
          'run',
          'run a file of questions, or continue an earlier run; answered questions are not paid again',
          'gate batch run questions.jsonl --db sales=./sales.sqlite --out results/',
          "gate batch run questions.jsonl --db 'postgresql://reader@localhost/{database}' --out results/ --dry-run",
          'gate batch run questions.jsonl --db sales --methods fast,react --seeds 3 --out results/',
          'gate batch run questions.jsonl --db shop --concurrency 50 --detach',
          'gate batch run run.yaml --model gpt-5.4-mini --out report/',
        ).argument(
          '<questions>',
          'JSONL or CSV: each line has question and, if you like, id, database, context, gold_sql …; or the .yaml of a run of several methods, files and seeds (docs/runs.md)',
        ),
      )
        .option(
          '--detach',
          'start it and return; workers, or one in the background, work on it, and the same command without --detach follows it and writes the results',
        )
        .action(async (file: string, _: unknown, command: Command) => {
          const { runCommand } = await import('./batch-run');
          outcome.code = await runCommand(file, runFlagsOf(command), argumentsOf(command), io);
        }),
    )
    .addCommand(batchStatusCommand(io, outcome))
    .addCommand(batchRetryCommand(io, outcome));

const BATCH_ARGUMENT = ['<id>', 'batch id, its beginning, or last'] as const;

const batchStatusCommand: CommandFactory = (io) =>
  commandOf(
    'status',
    'show where a batch stands, or list the batches of the store',
    'gate batch status',
    'gate batch status last',
  )
    .argument('[id]', BATCH_ARGUMENT[1])
    .option('--limit <n>', 'without an id: at most this many', positiveInteger, 20)
    .option('--json', 'print JSON')
    .action(async (wanted: string | undefined, flags: BatchStatusFlags) =>
      (await import('./batch-status')).showBatchStatus(wanted, flags, io),
    );

const batchRetryCommand: CommandFactory = (io, outcome) =>
  commandOf(
    'retry',
    'ask the infrastructure failures of an ended batch again, and nothing else; nothing is paid twice',
    'gate batch retry last',
  )
    .argument(...BATCH_ARGUMENT)
    .option('--undecided', 'also what was cancelled before it was decided')
    .option('--json', 'print the summary as JSON')
    .action(async (wanted: string, flags: RetryFlags, command: Command) => {
      const { retryCommand } = await import('./batch-run');
      outcome.code = await retryCommand(wanted, flags, argumentsOf(command), io);
    });
