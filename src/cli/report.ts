/** `gate report`: one self-contained HTML file. */
import { Command } from 'commander';
import { CommandFailed } from './errors';
import { withExamples } from './options';
import type { CommandFactory } from './command';

export const reportCommand: CommandFactory = (io) =>
  withExamples(
    new Command('report')
      .description('write the report of a question: one HTML file that works offline')
      .argument('[id]', 'search id, its beginning, or last', 'last')
      .option('--out <file>', 'where to write it (default: the folder "reports" beside the store)')
      .option('--json', 'print the path as JSON')
      .action(async (wanted: string, flags: { out?: string; json?: boolean }) => {
        const { openServices, findSearch } = await import('./services');
        const { writeReport } = await import('./write-report');
        const services = openServices(io);
        const searchId = await findSearch(services.store, wanted);
        const path = await writeReport(
          services,
          searchId,
          flags.out === undefined ? {} : { out: flags.out, cwd: io.cwd },
        );
        if (path === null)
          throw new CommandFailed(`no search ${searchId} in the store; gate list shows the known ones`);
        io.out(flags.json ? `${JSON.stringify({ id: searchId, report: path })}\n` : `${path}\n`);
      }),
    'gate report last',
    'gate report q-3f9a --out answer.html',
  );
