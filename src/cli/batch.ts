/** `gate batch`: the command line of a batch; the work is in `batch-run.ts`, which only runs when it is needed. */
import { Command, Option } from 'commander';
import type { ControlFlags } from './batch-control';
import type { BatchFlags } from './batch-plan';
import { UsageError } from '../app/errors';
import type { BatchStatusFlags } from './batch-status';
import type { Io } from './io';
import {
  addSearchOptions,
  argumentsOf,
  collect,
  collectDocs,
  positiveInteger,
  positiveNumber,
  typedOptions,
  withExamples,
  type CommandFactory,
} from './options';
import type { RunFlags } from './run-sets';
import { addSteerOptions } from './steer';

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
          'gate batch run run.yaml --model gpt-5.4-mini --out report/',
        )
          .option('--limit <n>', 'only the first n questions', positiveInteger)
          .option('--ids <ids>', 'only these questions, separated by commas (repeatable)', collect)
          .option('--rows', 'put the rows of each answer into results.jsonl')
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
          .addOption(new Option('--retry-of <id>').hideHelp())
          .addOption(new Option('--undecided').hideHelp())
          .option('--events', 'tell what happens as lines of JSON on stderr (docs/json.md)')
          .action(async (file: string, flags: BatchFlags & Pick<RunFlags, 'data'>, command: Command) => {
            if (/\.ya?ml$/i.test(file)) {
              const [{ runBatches }, { runFlags }] = await Promise.all([import('./run-batches'), import('./run-sets')]);
              outcome.code = await runBatches(file, runFlags(typedOptions(command)), argumentsOf(command), io);
              return;
            }
            if (flags.data !== undefined) throw new UsageError('--data is for the .yaml of a run; leave it out');
            const { runBatchCommand } = await import('./batch-run');
            outcome.code = await runBatchCommand(file, flags, argumentsOf(command), io);
          }),
      )
      .addCommand(batchStatusCommand(io, outcome))
      .addCommand(controlCommand('pause', io))
      .addCommand(controlCommand('resume', io))
      .addCommand(controlCommand('cancel', io))
      .addCommand(batchRetryCommand(io, outcome)),
    'gate batch run questions.jsonl --db sales=./sales.sqlite --out results/',
  );

const BATCH_ARGUMENT = ['<id>', 'batch id, its beginning, or last'] as const;

const batchStatusCommand: CommandFactory = (io) =>
  withExamples(
    new Command('status')
      .description('show where a batch stands, or list the batches of the store')
      .argument('[id]', BATCH_ARGUMENT[1])
      .option('--watch', 'go on showing it until it has ended')
      .option('--limit <n>', 'without an id: at most this many', positiveInteger, 20)
      .option('--json', 'print JSON')
      .action(async (wanted: string | undefined, flags: BatchStatusFlags) =>
        (await import('./batch-status')).showBatchStatus(wanted, flags, io),
      ),
    'gate batch status',
    'gate batch status last --watch',
  );

const CONTROL = {
  pause: 'start no further question of a batch; those in flight finish',
  resume: 'go on with a paused batch',
  cancel: 'cancel a batch and its questions in flight; the same command as before continues it',
};

function controlCommand(kind: keyof typeof CONTROL, io: Io): Command {
  const command = addSteerOptions(new Command(kind).description(CONTROL[kind]).argument(...BATCH_ARGUMENT));
  if (kind === 'pause') command.option('--now', 'pause the questions in flight as well, as gate pause does');
  command.action(async (wanted: string, flags: ControlFlags) =>
    (await import('./batch-control')).controlBatch(wanted, kind, flags, io),
  );
  return withExamples(command, `gate batch ${kind} last`);
}

const batchRetryCommand: CommandFactory = (io, outcome) =>
  withExamples(
    new Command('retry')
      .description('ask the infrastructure failures of an ended batch again, and nothing else; nothing is paid twice')
      .argument(...BATCH_ARGUMENT)
      .option('--undecided', 'also what was cancelled before it was decided')
      .option('--json', 'print the summary as JSON')
      .option('--events', 'tell what happens as lines of JSON on stderr (docs/json.md)')
      .action(async (wanted: string, flags: { undecided?: boolean; json?: boolean; events?: boolean }) => {
        const again = await (await import('./batch-control')).retryCommand(wanted, flags, io);
        if (again === null) return;
        const told = [...(flags.json ? ['--json'] : []), ...(flags.events ? ['--events'] : [])];
        const program = new Command('gate').addCommand(batchCommand({ ...io, cwd: again.cwd }, outcome));
        await program.parseAsync([...again.args, ...told], { from: 'user' });
      }),
    'gate batch retry last',
  );
