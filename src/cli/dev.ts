/** `gate dev`: the embedded Temporal with its UI and a worker, kept running; `--stop` ends what was left running. */
import { Option } from 'commander';
import { counted } from '../report/printable';
import { port, commandOf, type CommandFactory } from './options';
import type { Io } from './io';
import { startUiCodec } from './codec-server';

interface DevFlags {
  readonly port?: number;
  readonly uiPort?: number;
  readonly serverless?: boolean;
  readonly stop?: boolean;
  readonly debug?: boolean;
}

export const devCommand: CommandFactory = (io) =>
  commandOf(
    'dev',
    'run the embedded Temporal server with its UI and a worker until stopped',
    'gate dev',
    'gate dev --serverless',
    'gate dev --stop',
  )
    .option('--port <n>', 'port of the server (default: a free one)', port)
    .option('--ui-port <n>', 'port of the UI (default: 8833 or a free one)', port)
    .addOption(
      new Option(
        '--serverless',
        'leave a server running that starts a worker when a question on a configured database arrives; no worker waits',
      ).conflicts('stop'),
    )
    .option('--stop', 'stop the embedded server and the workers that ask --detach left running')
    .action(async (flags: DevFlags) => {
      if (flags.stop === true) await stop(io);
      else if (flags.serverless === true) await runServerless(flags, io);
      else await run(flags, io);
    });

function portsOf({ port, uiPort }: DevFlags) {
  return { port, uiPort };
}

async function runServerless(flags: DevFlags, io: Io): Promise<void> {
  const { devServerless } = await import('../app/dev-serverless');
  const { address, uiUrl, databases, idleSeconds } = await devServerless(portsOf(flags), io);
  io.out(`Temporal ${address}\n${uiUrl === null ? '' : `UI       ${uiUrl}\n`}`);
  io.out(
    `serving  ${databases.join(', ')}: a worker starts when a question arrives and ends ${idleSeconds} s after the last\n`,
  );
  io.err('The server keeps running; gate dev --stop stops it.\n');
}

async function stop(io: Io): Promise<void> {
  const { loadConfig } = await import('../config');
  const { stopBackground } = await import('../app/background');
  const { embeddedPlace } = await import('../config/store');
  const { stopEmbeddedServer } = await import('../workers/embedded-server');
  const config = loadConfig(io);
  const workers = await stopBackground(config);
  const server = await stopEmbeddedServer(embeddedPlace(config));
  io.out(
    `${server ? 'stopped the embedded server' : 'no embedded server was running'}; ${counted(workers, 'background worker')} stopped\n`,
  );
}

async function run(flags: DevFlags, io: Io): Promise<void> {
  const { loadConfig } = await import('../config');
  const config = loadConfig(io);
  const { openTemporal } = await import('../app/open-temporal');
  const { serve } = await import('../app/serve');
  const { untilStopped } = await import('./interrupts');
  const codec = config.encryption === null ? null : await startUiCodec(config);
  const session = await openTemporal(config, io.env, {
    ...portsOf(flags),
    uiCodecEndpoint: codec?.url,
    onProgress: (line) => io.err(`${line}\n`),
  }).catch(async (error: unknown) => {
    await codec?.close();
    throw error;
  });
  try {
    codec?.serve(session);
    const ready = (names: readonly string[], endpoint: string): void => {
      io.out(`Temporal ${session.address}\n${session.uiUrl === null ? '' : `UI       ${session.uiUrl}\n`}`);
      io.out(`serving  ${names.join(', ') || 'no configured database; gate ask --db serves its own'}\n`);
      io.out(`model    ${endpoint}; a question that names another endpoint is answered by its own process\n`);
      if (codec !== null) io.out(`codec    ${codec.url}\n${codec.hint(session)}`);
      io.err('Ctrl-C stops.\n');
    };
    const serving = { databases: [], debug: flags.debug ?? false, background: false, ready };
    await untilStopped(io, (stop) => serve(config, session, serving, io, stop));
  } finally {
    await session.close();
    await codec?.close();
  }
}
