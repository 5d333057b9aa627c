/** `gate batch`: the command line of a batch; the work is in `batch-run.ts`, which only runs when it is needed. */
import { Command, Option } from 'commander';
import type { Question } from '../domain';
import {
  addSearchOptions,
  collect,
  collectDocs,
  positiveInteger,
  positiveNumber,
  withExamples,
  type SearchFlags,
} from './options';
import type { CommandFactory } from './program';

export interface BatchFlags extends SearchFlags {
  readonly db?: readonly string[];
  readonly out?: string;
  readonly concurrency: number;
  readonly name?: string;
  readonly limit?: number;
  readonly ids?: readonly string[];
  readonly knowledge?: boolean;
  readonly docs?: readonly string[] | false;
  readonly output: Question['outputMode'];
  readonly web?: boolean;
  readonly maxTotalCost?: number;
  readonly dryRun?: boolean;
  readonly fresh?: boolean;
  readonly json?: boolean;
  readonly debug?: boolean;
}

export const batchCommand: CommandFactory = (io, outcome) =>
  withExamples(
    new Command('batch').description('answer a file of questions, and score them where the file has gold').addCommand(
      withExamples(
        addSearchOptions(
          new Command('run')
            .description('run a file of questions, or go on where it was; what is answered is not paid again')
            .argument('<questions>', 'JSONL: one object a line with question, and id, database, context, gold_sql …')
            .option(
              '--db <database>',
              'NAME=… for a database of the file, or one template with {database}; each is a configured name, an SQLite file or postgresql://… (repeatable)',
              collect,
            )
            .option('--out <folder>', 'for results.jsonl and summary.json')
            .option('--concurrency <n>', 'questions in flight', positiveInteger, 8)
            .option('--dry-run', 'check files and databases, estimate calls and cost, ask nothing'),
        ),
        'gate batch run questions.jsonl --db sales=./sales.sqlite --out results/',
        "gate batch run questions.jsonl --db 'postgresql://reader@localhost/{database}' --out results/ --dry-run",
      )
        .option('--limit <n>', 'only the first n questions', positiveInteger)
        .option('--ids <ids>', 'only these questions, separated by commas (repeatable)', collect)
        .option('--knowledge', "give each question the file's hidden_knowledge: a setting of its own")
        .option(
          '--docs <path>',
          'what explains the databases, as for gate ask; {database} stands for each name (repeatable; default: "docs" of the database)',
          collectDocs,
        )
        .option('--no-docs', 'without documentation, also without that of the configuration')
        .addOption(
          new Option('--output <mode>', 'the SQL alone, or also an answer in words')
            .choices(['sql', 'answer'])
            .default('sql'),
        )
        .option('--web', 'each search may also look things up on the web, as evidence from outside (docs/web.md)')
        .option('--max-total-cost <usd>', 'start no question once the batch has cost this much', positiveNumber)
        .option('--name <name>', 'whose submission it is; another name is another batch (default: from the file)')
        .option('--fresh', 'ask everything anew although it was answered before')
        .option('--json', 'print the summary as JSON')
        .action(async (file: string, flags: BatchFlags, command: Command) => {
          const { runBatchCommand } = await import('./batch-run');
          outcome.code = await runBatchCommand(file, flags, argumentsOf(command), io);
        }),
    ),
    'gate batch run questions.jsonl --db sales=./sales.sqlite --out results/',
  );

/** What was typed after `gate`. */
function argumentsOf(command: Command): readonly string[] {
  let root = command;
  while (root.parent !== null) root = root.parent;
  return (root as Command & { readonly rawArgs?: readonly string[] }).rawArgs ?? [];
}
