/** `gate worker`: serves questions on configured databases until it is stopped. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { collect, withExamples } from './options';
import type { ServedParts } from './serve';
import type { CommandFactory } from './command';

export const workerCommand: CommandFactory = (io) =>
  withExamples(
    new Command('worker')
      .description(
        'work on questions asked with the same configuration, until stopped; any number of workers may run, on any machine that reaches Temporal and the store',
      )
      .option(
        '--db <database>',
        'serve only this database: a name, an SQLite file or a URL (repeatable; default: all configured)',
        collect,
      )
      .option(
        '--serve <parts>',
        'serve only these queues: workflow, model:NAME (separated by commas; default: all)',
        collectParts,
      )
      .addOption(new Option('--background').hideHelp())
      .action(async (flags: { db?: readonly string[]; serve?: ServedParts; background?: boolean; debug?: boolean }) => {
        const { loadConfig } = await import('../config');
        const { openTemporal } = await import('./temporal-session');
        const { checkParts, serveUntilInterrupted } = await import('./serve');
        const { DATABASE_VARIABLE } = await import('./background');
        const config = loadConfig(io);
        const given = io.env[DATABASE_VARIABLE];
        checkParts(config, flags.serve);
        const session = await openTemporal(config, io.env, { onProgress: (line) => io.err(`${line}\n`) });
        try {
          const databases = [...(flags.db ?? []), ...(flags.background && given ? [given] : [])];
          const ready = (names: readonly string[], endpoint: string): void =>
            io.err(
              `serving ${names.join(', ') || 'no database'} with model endpoint ${endpoint} on Temporal ${session.address}; Ctrl-C stops\n`,
            );
          const parts = flags.serve === undefined ? {} : { parts: flags.serve };
          await serveUntilInterrupted(
            config,
            session,
            { databases, debug: flags.debug ?? false, background: flags.background ?? false, ready, ...parts },
            io,
          );
        } finally {
          await session.close();
        }
      }),
    'gate worker',
    'TEMPORAL_ADDRESS=temporal.internal:7233 gate worker --db sales',
    'gate worker --serve model:gpt-5.4-mini',
  );

/** Written as `workflow` and `model:NAME`. */
function collectParts(text: string, before?: ServedParts): ServedParts {
  let parts = before ?? { workflow: false, models: [] };
  for (const part of text.split(',').map((each) => each.trim())) {
    const [, model] = /^model:(.+)$/.exec(part) ?? [];
    if (part === 'workflow') parts = { ...parts, workflow: true };
    else if (model !== undefined) parts = { ...parts, models: [...parts.models, model] };
    else throw new InvalidArgumentError(`'${part}' cannot be served; give workflow or model:NAME`);
  }
  return parts;
}
