/** `gate trace`: the search as text, from the store alone. */
import { Command } from 'commander';
import { CommandFailed } from './errors';
import { withExamples } from './options';
import type { CommandFactory } from './command';

export const traceCommand: CommandFactory = (io) =>
  withExamples(
    new Command('trace')
      .description('print how a question was searched: trajectories, probes, verdicts, candidates')
      .argument('[id]', 'search id, its beginning, or last', 'last')
      .option('--json', 'print everything the store holds about the search')
      .action(async (wanted: string, flags: { json?: boolean }) => {
        const { openServices, findSearch, sha256 } = await import('./services');
        const { loadTrace, renderTraceText } = await import('../report');
        const { store } = openServices(io);
        const searchId = await findSearch(store, wanted);
        const trace = await loadTrace(store, searchId, sha256);
        if (trace === null)
          throw new CommandFailed(`no search ${searchId} in the store; gate list shows the known ones`);
        io.out(`${flags.json ? JSON.stringify(trace, null, 2) : renderTraceText(trace)}\n`);
      }),
    'gate trace last',
    'gate trace q-3f9a --json',
  );
