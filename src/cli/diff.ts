/** `gate diff`: where two searches part, from the store alone. */
import { Command } from 'commander';
import { CommandFailed } from './errors';
import { withExamples } from './options';
import type { CommandFactory } from './command';

export const diffCommand: CommandFactory = (io) =>
  withExamples(
    new Command('diff')
      .description('compare two searches: settings, the first iteration that differs, answers')
      .argument('<a>', 'search id, its beginning, or last')
      .argument('<b>', 'another search, such as a fork of the first')
      .option('--json', 'print the whole difference as JSON')
      .action(async (wantedA: string, wantedB: string, flags: { json?: boolean }) => {
        const { openServices, findSearch } = await import('./services');
        const { loadSide, renderDiffText, searchDiff } = await import('../report');
        const { sha256 } = await import('../sha256');
        const { store } = openServices(io);
        const [a, b] = await Promise.all(
          [wantedA, wantedB].map(async (wanted) => {
            const id = await findSearch(store, wanted);
            const side = await loadSide(store, id, sha256);
            if (side === null) throw new CommandFailed(`no search ${id} in the store; gate list shows the known ones`);
            return side;
          }),
        );
        if (a === undefined || b === undefined) return;
        const diff = searchDiff(a, b);
        io.out(`${flags.json ? JSON.stringify(diff, null, 2) : renderDiffText(diff)}\n`);
      }),
    'gate diff q-3f9a last',
  );
