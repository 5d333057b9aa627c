/** `gate result`: the answer of a finished question; with `--wait`, of a running one as soon as it is there. */
import { Command } from 'commander';
import { CommandFailed } from './errors';
import { csvOption, withExamples } from './options';
import type { CommandFactory } from './command';

export const resultCommand: CommandFactory = (io, outcome) =>
  withExamples(
    new Command('result')
      .description('print the answer of a question with its evidence')
      .argument('[id]', 'search id, its beginning, or last', 'last')
      .option('--wait', 'wait until it is answered')
      .option('--json', 'print the final record as JSON')
      .addOption(csvOption().conflicts('json'))
      .action(async (wanted: string, flags: { wait?: boolean; json?: boolean; csv?: boolean }) => {
        const { openServices, findSearch, inputOf, recordOf } = await import('./services');
        const { howToGoOn } = await import('./search-status');
        const { openRunning, sayStoreOnly, statusWithoutRecord } = await import('./temporal-session');
        const { followSearch } = await import('./follow');
        const { printAnswer } = await import('./print-answer');
        const services = openServices(io);
        const searchId = await findSearch(services.store, wanted);
        const session = await openRunning(services.config, io.env, sayStoreOnly(io));
        try {
          const live = session === null ? null : await session.describe(searchId);
          if (session !== null && live?.status === 'RUNNING') {
            if (!flags.wait)
              throw new CommandFailed(`${searchId} still runs; add --wait, or look with gate status ${searchId}`);
            await followSearch(session, searchId, io, { cancelOnInterrupt: false });
          }
          const record = await recordOf(services.store, searchId);
          if (record === null) {
            const why =
              statusWithoutRecord(services.config, io.env, session !== null) === 'unknown'
                ? 'it may still run'
                : `it was interrupted; ${howToGoOn(await inputOf(services.store, searchId))}`;
            throw new CommandFailed(`${searchId} has no result in the store: ${why}`);
          }
          outcome.code = await printAnswer(services, record, io, {
            json: flags.json ?? false,
            csv: flags.csv,
            ui: session?.uiOf(searchId) ?? null,
          });
        } finally {
          await session?.close();
        }
      }),
    'gate result last --json',
    'gate result last --csv > rows.csv',
    'gate result q-3f9a --wait',
  );
