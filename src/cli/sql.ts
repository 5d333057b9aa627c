/** `gate sql`: one read-only query through the same guarded port that the search uses. */
import { Command, Option } from 'commander';
import { positiveInteger, positiveNumber, withExamples, type CommandFactory } from './options';
import type { SqlFlags } from './sql-run';

export const sqlCommand: CommandFactory = (io) =>
  withExamples(
    new Command('sql')
      .description('run one read-only query, with the safeguards of a search: access lists, time and row limits')
      .argument('<query>', 'one SELECT; - reads it from standard input')
      .option(
        '--db <database>',
        'a configured name, an SQLite file, or postgresql://… (default: the only configured one)',
      )
      .addOption(
        new Option('--format <name>', 'csv, json or table (default: table on a terminal, else csv)').choices([
          'csv',
          'json',
          'table',
        ]),
      )
      .option('--json', 'the same as --format json')
      .option('--max-rows <n>', 'at most this many rows', positiveInteger, 10_000)
      .option('--timeout <seconds>', 'at most this many seconds', positiveNumber, 25)
      .action(async (argument: string, flags: SqlFlags) => {
        const { runSql } = await import('./sql-run');
        await runSql(argument, flags, io);
      }),
    'gate sql "SELECT count(*) FROM orders" --db ./shop.sqlite',
    'gate sql - --db sales --format csv < query.sql',
  );
