/** `gate worker`: serves questions on configured databases until it is stopped. */
import { Command, Option } from 'commander';
import { collect, withExamples } from './options';
import type { CommandFactory } from './program';

export const workerCommand: CommandFactory = (io) =>
  withExamples(
    new Command('worker')
      .description(
        'work on questions until stopped; any number may run, on any machine that reaches Temporal and the store',
      )
      .option(
        '--db <database>',
        'serve this one only: a name, an SQLite file or a URL (repeatable; default: all configured)',
        collect,
      )
      .addOption(new Option('--background').hideHelp())
      .action(async (flags: { db?: readonly string[]; background?: boolean; debug?: boolean }) => {
        const { loadConfig } = await import('../config');
        const { openTemporal } = await import('./temporal-session');
        const { serveUntilInterrupted } = await import('./serve');
        const { DATABASE_VARIABLE } = await import('./background');
        const config = loadConfig(io);
        const given = io.env[DATABASE_VARIABLE];
        const session = await openTemporal(config, io.env, { onProgress: (line) => io.err(`${line}\n`) });
        try {
          const databases = [...(flags.db ?? []), ...(flags.background && given ? [given] : [])];
          const ready = (names: readonly string[]): void =>
            io.err(`serving ${names.join(', ') || 'no database'} on Temporal ${session.address}; Ctrl-C stops\n`);
          await serveUntilInterrupted(
            config,
            session,
            { databases, debug: flags.debug ?? false, background: flags.background ?? false, ready },
            io,
          );
        } finally {
          await session.close();
        }
      }),
    'gate worker',
    'TEMPORAL_ADDRESS=temporal.internal:7233 gate worker --db sales',
  );
