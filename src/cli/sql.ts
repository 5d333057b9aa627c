/** `gate sql`: one read-only query through the same guarded port that the search uses. */
import { Command, Option } from 'commander';
import { CommandFailed } from './errors';
import { positiveInteger, positiveNumber, withExamples } from './options';
import { counted } from '../report/printable';
import type { CommandFactory } from './command';

interface SqlFlags {
  readonly db?: string;
  readonly format?: 'csv' | 'json' | 'table';
  readonly json?: boolean;
  readonly maxRows: number;
  readonly timeout: number;
}

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
        const { questionText } = await import('./ask-input');
        const { loadConfig } = await import('../config');
        const { resolveDatabase } = await import('../config/databases');
        const { onlyDatabase } = await import('./only-database');
        const { compose } = await import('../workers/composition');
        const { csv, textTable } = await import('./table');
        const query = await questionText(argument, io, 'query');
        const config = loadConfig(io);
        const database = resolveDatabase(config, flags.db ?? onlyDatabase(config), io.cwd);
        const composition = await compose(config, { adHoc: database.adHoc ? [database] : [] });
        const stop = new AbortController();
        const stopListening = io.onInterrupt(() => stop.abort());
        try {
          const { engine } = await composition.engine(database.name);
          const options = {
            timeoutMs: Math.round(flags.timeout * 1000),
            maxRows: flags.maxRows,
            signal: stop.signal,
            tag: 'gate sql',
          };
          const { results } = await engine.run([query], options);
          const [result] = results;
          if (result?.kind === 'timeout')
            throw new CommandFailed(`no result within ${flags.timeout} s; narrow the query or raise --timeout`);
          if (result?.kind !== 'rows')
            throw new CommandFailed(
              `${result?.kind === 'refused' ? 'refused' : 'SQL error'}: ${result?.message ?? 'no result'}`,
            );
          const names = result.columns.map(({ name }) => name);
          const format = flags.json ? 'json' : (flags.format ?? (io.outIsTerminal ? 'table' : 'csv'));
          if (format === 'json')
            io.out(`${JSON.stringify({ columns: result.columns, rows: result.rows, truncated: result.truncated })}\n`);
          else if (format === 'csv') io.out(csv(names, result.rows));
          else io.out(`${textTable(names, result.rows, { width: io.columns })}\n`);
          if (result.truncated) io.err(`${cutLine(result.rows.length, flags.maxRows)}\n`);
        } finally {
          stopListening();
          await composition.close();
        }
      }),
    'gate sql "SELECT count(*) FROM orders" --db ./shop.sqlite',
    'gate sql - --db sales --format csv < query.sql',
  );

/** Rows are cut by their number, or by the size of them all. */
export function cutLine(rows: number, maxRows: number): string {
  if (rows >= maxRows) return `cut after ${counted(maxRows, 'row')}; --max-rows raises the limit`;
  return `cut after ${counted(rows, 'row')}: the result is too large; select fewer columns or parts of the values`;
}
