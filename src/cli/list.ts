/** `gate list`: past questions from the store, and what still runs from Temporal, if it is up. */
import { Command } from 'commander';
import { cut } from '../report/printable';
import { statedText } from '../text/answer-text';
import { positiveInteger, withExamples } from './options';
import type { CommandFactory } from './command';

/** Width of the table when it is not printed on a terminal. */
const PIPED_WIDTH = 200;

export const listCommand: CommandFactory = (io) =>
  withExamples(
    new Command('list')
      .description('list past and running questions, newest first')
      .option('--limit <n>', 'at most this many', positiveInteger, 30)
      .option('--json', 'print JSON')
      .action(async (flags: { limit: number; json?: boolean }) => {
        const { openServices, listSearches, recordOf } = await import('./services');
        const { runningSearches, sayStoreOnly, statusWithoutRecord } = await import('./temporal-session');
        const { textTable } = await import('./table');
        const { config, store } = openServices(io);
        const entries = (await listSearches(store)).slice(0, flags.limit);
        const running = await runningSearches(config, io.env, sayStoreOnly(io));
        const otherwise = statusWithoutRecord(config, io.env, running !== null);
        const rows = await Promise.all(
          entries.map(async (entry) => {
            const record = await recordOf(store, entry.id);
            const status = running?.get(entry.id) ?? record?.status ?? otherwise;
            return {
              ...entry,
              status,
              answer: record === null ? null : (statedText(record) ?? record.reason),
              costUsd: record?.usage.costUsd ?? null,
            };
          }),
        );
        if (flags.json) {
          io.out(`${JSON.stringify(rows, null, 2)}\n`);
          return;
        }
        if (rows.length === 0) {
          io.err('no question was asked yet; begin with: gate ask "…" --db …\n');
          return;
        }
        const cells = rows.map(({ id, status, startedAt, database, question, answer }) => [
          id,
          status,
          startedAt.slice(0, 16).replace('T', ' '),
          cut(database, 20),
          cut(question, 60),
          cut(answer ?? '', 60),
        ]);
        io.out(
          `${textTable(['id', 'status', 'asked (UTC)', 'database', 'question', 'answer'], cells, { width: io.outIsTerminal ? io.columns : PIPED_WIDTH, whole: 3 })}\n`,
        );
      }),
    'gate list --limit 5',
  );
