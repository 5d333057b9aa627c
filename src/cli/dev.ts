/** `gate dev`: the embedded Temporal with its UI and a worker, kept running; `--stop` ends what was left running. */
import { Command } from 'commander';
import { port, withExamples } from './options';
import type { CommandFactory } from './program';

interface DevFlags {
  readonly port?: number;
  readonly uiPort?: number;
  readonly stop?: boolean;
  readonly debug?: boolean;
}

export const devCommand: CommandFactory = (io) =>
  withExamples(
    new Command('dev')
      .description('run the embedded Temporal with its UI and a worker until stopped')
      .option('--port <n>', 'port of the server (default: a free one)', port)
      .option('--ui-port <n>', 'port of the UI (default: 8833 or a free one)', port)
      .option('--stop', 'stop the embedded server and the workers that ask --detach left running')
      .action(async (flags: DevFlags) => {
        const { loadConfig } = await import('../config');
        const config = loadConfig(io);
        if (flags.stop) {
          const { stopBackground } = await import('./background');
          const { stopEmbeddedServer } = await import('../workers/embedded-server');
          const workers = await stopBackground(config);
          const server = await stopEmbeddedServer(config.folders);
          io.out(
            `${server ? 'stopped the embedded server' : 'no embedded server was running'}; ${workers} background workers stopped\n`,
          );
          return;
        }
        const { openTemporal } = await import('./temporal-session');
        const { serveUntilInterrupted } = await import('./serve');
        const ports = {
          ...(flags.port ? { port: flags.port } : {}),
          ...(flags.uiPort ? { uiPort: flags.uiPort } : {}),
        };
        const session = await openTemporal(config, io.env, { ...ports, onProgress: (line) => io.err(`${line}\n`) });
        try {
          const ready = (names: readonly string[]): void => {
            io.out(`Temporal ${session.address}\n${session.uiUrl === null ? '' : `UI       ${session.uiUrl}\n`}`);
            io.out(`serving  ${names.join(', ') || 'no configured database; gate ask --db serves its own'}\n`);
            io.err('Ctrl-C stops.\n');
          };
          await serveUntilInterrupted(
            config,
            session,
            { databases: [], debug: flags.debug ?? false, background: false, ready },
            io,
          );
        } finally {
          await session.close();
        }
      }),
    'gate dev',
    'gate dev --stop',
  );
