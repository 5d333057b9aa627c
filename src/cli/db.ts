/** `gate db`: the command line of what is about a database; each action is in a file of its own. */
import { Option } from 'commander';
import {
  collect,
  positiveNumber,
  commandOf,
  type CommandFactory,
  positiveInteger,
  A_DATABASE,
  ONE_DATABASE,
} from './options';
import type { AddFlags } from '../app/databases';
import type { DescribeFlags, SqlFlags } from './db-run';

export const dbCommand: CommandFactory = (io, outcome) => {
  const says = 'add, list, check, describe and query databases';
  const db = commandOf('db', says, 'gate db add shop --path ./shop.sqlite', 'gate db check shop');
  for (const create of [addCommand, listCommand, checkCommand, describeCommand, sqlCommand])
    db.addCommand(create(io, outcome));
  return db;
};

const addCommand: CommandFactory = (io) =>
  commandOf(
    'add',
    'add a database to gate.config.json; passwords stay in the environment or in a file',
    'gate db add shop --path ./shop.sqlite',
    'gate db add exports --path ./exports/',
    'gate db add sales --url-env SALES_URL --role reader --deny "customers.email,audit_*"',
  )
    .argument('<name>', 'letters, digits, - and _')
    .option('--path <file>', 'an SQLite or DuckDB file, or data files: CSV, Parquet or JSON, one or a folder of them')
    .option('--url <url>', 'postgresql://…, mysql://…, snowflake://… or bigquery://… without a password')
    .option('--url-env <variable>', 'the environment variable that holds the URL')
    .option('--url-file <file>', 'the file that holds the URL')
    .option('--id <id>', 'a fixed identity, for a database that has several addresses or may move')
    .option('--role <role>', 'a role with only SELECT rights, used for every statement')
    .option('--schemas <names>', 'the schemas to look in, separated by commas (repeatable)', collect)
    .option('--allow <names>', 'only these tables and columns may reach a model (repeatable)', collect)
    .option('--deny <names>', 'these tables and columns may not reach a model (repeatable)', collect)
    .option('--docs <path>', 'documentation of the database (repeatable)', collect)
    .option(
      '--max-plan-cost <n>',
      'PostgreSQL: refuse statements that the planner expects to cost more',
      positiveNumber,
    )
    .option('--max-scan-bytes <n>', 'Snowflake, BigQuery: refuse statements that would scan more', positiveNumber)
    .option('--replace', 'replace the database of that name')
    .action(async (name: string, flags: AddFlags) => {
      (await import('./db-run')).addDatabase(name, flags, io);
    });

const listCommand: CommandFactory = (io) =>
  commandOf('list', 'list the configured databases: engine, address without secrets, id, access', 'gate db list')
    .option('--json', 'print JSON')
    .action(async (flags: { json?: boolean }) => {
      (await import('./db-run')).listDatabases(flags, io);
    });

const DATABASE = ['<database>', A_DATABASE] as const;

const checkCommand: CommandFactory = (io, outcome) =>
  commandOf(
    'check',
    'prove that the connection cannot write, and say what to fix',
    'gate db check sales',
    'gate db check postgresql://reader@localhost/sales --json',
  )
    .argument(...DATABASE)
    .option('--json', 'print JSON')
    .action(async (spec: string, flags: { json?: boolean }) => {
      outcome.code = await (await import('./db-run')).runCheck(spec, flags, io);
    });

const describeCommand: CommandFactory = (io) =>
  commandOf(
    'describe',
    'show the schema as a model would see it, with its size',
    'gate db describe shop',
    'gate db describe sales --table orders --table customers',
  )
    .argument(...DATABASE)
    .option('--table <name>', 'show only these tables, in full (repeatable)', collect)
    .option(
      '--question <text>',
      'show what the model would see for this question, if the schema is too large to show whole',
    )
    .option('--json', 'print JSON')
    .action(async (spec: string, flags: DescribeFlags) => {
      await (await import('./db-run')).describeDatabase(spec, flags, io);
    });

const sqlCommand: CommandFactory = (io) =>
  commandOf(
    'sql',
    'run one read-only query, with the safeguards of a search: access lists, time and row limits',
    'gate db sql "SELECT count(*) FROM orders" --db ./shop.sqlite',
    'gate db sql - --db sales --format csv < query.sql',
  )
    .argument('<query>', 'one SELECT; - reads it from standard input')
    .option(...ONE_DATABASE)
    .addOption(
      new Option('--format <name>', 'csv, json or table (default: table on a terminal, else csv)').choices([
        'csv',
        'json',
        'table',
      ]),
    )
    .option('--json', 'the same as --format json')
    .option('--max-rows <n>', 'at most this many rows of the result', positiveInteger, 10_000)
    .option('--timeout <seconds>', 'at most this many seconds', positiveNumber, 25)
    .action(async (argument: string, flags: SqlFlags) => {
      await (await import('./db-run')).runSql(argument, flags, io);
    });
