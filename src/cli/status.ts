/** `gate status`: where a question stands, from Temporal while it runs and from the store otherwise. */
import { Command } from 'commander';
import { counted, dollars, visible } from '../report/printable';
import { withExamples } from './options';
import type { CommandFactory } from './command';
import type { ViewFlags } from './search-views';

export const statusCommand: CommandFactory = (io) =>
  withExamples(
    new Command('status')
      .description('show where a question stands')
      .argument('[id]', 'search id, its beginning, or last', 'last')
      .option('--plan', 'show its newest plan')
      .option('--memory', 'show what is proved, with the ids that gate veto and gate pin take')
      .option('--candidates', 'show the candidates for the answer')
      .option('--json', 'print JSON')
      .action(async (wanted: string, flags: { json?: boolean } & ViewFlags) => {
        const { openServices, findSearch } = await import('./services');
        if (flags.plan || flags.memory || flags.candidates) {
          const { searchViews } = await import('./search-views');
          const services = openServices(io);
          io.out(await searchViews(services, io, await findSearch(services.store, wanted), flags));
          return;
        }
        const { searchStatus } = await import('./search-status');
        const services = openServices(io);
        const status = await searchStatus(services, io, await findSearch(services.store, wanted));
        if (flags.json) {
          io.out(`${JSON.stringify(status, null, 2)}\n`);
          return;
        }
        const { usage } = status;
        const lines = [
          `${status.id}  ${status.status}  ${status.question ?? ''}`,
          ...(status.reason === null ? [] : [visible(status.reason)]),
          ...(status.iteration === null
            ? []
            : [
                `iteration ${status.iteration}${status.bottleneck === null ? '' : `, working on ${status.bottleneck}`}`,
              ]),
          ...(status.learned === null ? [] : [`learned: ${status.learned}`]),
          ...(usage === null
            ? []
            : [
                `${counted(usage.llmCalls, 'model call')}, ${dollars(usage.costUsd)}, ${counted(usage.sqlExecutions, 'SQL statement')}`,
              ]),
          ...status.retrying,
          ...(status.ui === null ? [] : [`UI ${status.ui}`]),
          ...(status.next === null ? [] : [status.next]),
        ];
        io.out(`${lines.join('\n')}\n`);
      }),
    'gate status last',
    'gate status last --memory',
  );
