/**
 * `gate ops codec-server`: lets the Temporal UI and CLI show what is stored compressed or encrypted, to whoever has the keys.
 * `gate dev` starts one beside the UI; other commands say what to do.
 */
import type { CODEC_PORT, Config } from '../config';
import { UsageError } from '../app/errors';
import { aborted } from '../app/waiting';
import { untilInterrupted } from './interrupts';
import type { Io } from './io';
import { collect, port, commandOf, type CommandFactory } from './options';
import type { TemporalSession } from '../app/temporal-session';

const CODEC_TOKEN_VARIABLE = 'GATE_CODEC_TOKEN';
// Written out, because the configuration would load zod for every `--help`.
const USUAL_PORT: typeof CODEC_PORT = 8834;

interface CodecFlags {
  readonly port?: number;
  readonly host?: string;
  readonly origin?: readonly string[];
}

export const codecServerCommand: CommandFactory = (io) =>
  commandOf(
    'codec-server',
    'decode compressed and encrypted data for the Temporal UI and CLI, until stopped',
    'gate ops codec-server',
    'gate ops codec-server --port 9000 --origin http://localhost:8233',
  )
    .option('--port <n>', `port to listen on (default: ${String(USUAL_PORT)})`, port)
    .option('--host <address>', `address to listen on; an address beyond loopback needs ${CODEC_TOKEN_VARIABLE}`)
    .option('--origin <url>', 'origin of the UI (repeatable; default: the embedded UI)', collect)
    .action((flags: CodecFlags) => runCodecServer(flags, io));

async function runCodecServer(flags: CodecFlags, io: Io): Promise<void> {
  const { loadConfig } = await import('../config');
  const { embeddedPlace } = await import('../config/store');
  const { codecsOf } = await import('../workers/payloads');
  const { keyRingOf } = await import('../workers/open-store');
  const { isLoopback, startCodecServer } = await import('../workers/codec-server');
  const { embeddedServerInfo } = await import('../workers/embedded-server');
  const { PREFERRED_UI_PORT } = await import('../workers/temporal-process');
  const config = loadConfig(io);
  const token = io.env[CODEC_TOKEN_VARIABLE] || null;
  const { host = '127.0.0.1' } = flags;
  if (!isLoopback(host) && token === null)
    throw new UsageError(`--host ${host}: anybody who reaches it could read everything; set ${CODEC_TOKEN_VARIABLE}`);
  const ui = (await embeddedServerInfo(embeddedPlace(config)))?.uiPort ?? PREFERRED_UI_PORT;
  const origins = flags.origin?.map(checkedOrigin) ?? uiOrigins(ui);
  const codecs = codecsOf(config);
  const server = await startCodecServer({ codecs, host, origins, token, port: flags.port ?? USUAL_PORT });
  const ring = keyRingOf(config);
  const keys = ring === null ? 'no keys configured, so compressed values only' : `keys ${ring.keyIds.join(', ')}`;
  io.out(`${server.url}\n`);
  io.err(`decoding for ${origins.join(', ')}; ${keys}\n`);
  io.err(`In the UI: click the glasses at the top right and enter the codec endpoint ${server.url}\n`);
  io.err(`In a terminal: temporal workflow show --codec-endpoint ${server.url} …\nCtrl-C stops.\n`);
  await untilInterrupted(io, aborted);
  await server.close();
}

/** The UI is reached by either name. */
function uiOrigins(uiPort: number): string[] {
  return [`http://127.0.0.1:${String(uiPort)}`, `http://localhost:${String(uiPort)}`];
}

function checkedOrigin(text: string): string {
  if (/^https?:\/\/[^/]+\/?$/.test(text) && URL.canParse(text)) return new URL(text).origin;
  throw new UsageError(`--origin ${text}: give scheme, host and port, for example http://localhost:8233`);
}

/** For the UI of `gate dev`, whose address is known only once it has started. */
export async function startUiCodec(config: Config) {
  const { startCodecServer } = await import('../workers/codec-server');
  const { codecsOf } = await import('../workers/payloads');
  const options = { codecs: codecsOf(config), origins: [], token: null };
  const server = await startCodecServer({ ...options, port: USUAL_PORT }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return startCodecServer({ ...options, port: 0 });
  });
  return {
    url: server.url,
    /** Answers the UI of this session from now on. */
    serve: ({ uiUrl }: TemporalSession): void => {
      if (uiUrl !== null) for (const origin of uiOrigins(Number(new URL(uiUrl).port))) server.allow(origin);
    },
    /** What to do when the server ran already and its UI knows of no codec server; empty when nothing. */
    hint: ({ embedded }: TemporalSession): string =>
      embedded?.info.uiCodecEndpoint === server.url
        ? ''
        : 'this server was already running: enter the codec endpoint in its UI (the glasses)\n',
    close: () => server.close(),
  };
}
