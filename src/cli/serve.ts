/** `gate serve`: the HTTP API, until it is stopped. */
import type { App } from '../app/app';
import { errorText } from '../app/errors';
import { aborted } from '../app/waiting';
import type { HttpServer } from '../server/http/server';
import type { StartOptions } from '../server/start';
import { printJson, type Io } from './io';
import { port, commandOf, type CommandFactory } from './options';

/** Of the API and of the page. */
export const SERVER_PORT = 8735;

interface ServeFlags {
  readonly port: number;
  readonly host: string;
  readonly newToken?: boolean;
  readonly json?: boolean;
  readonly debug?: boolean;
}

export const serveCommand: CommandFactory = (io) =>
  commandOf(
    'serve',
    'answer questions over HTTP, and agents at /mcp, until stopped (docs/http.md); they go on when it stops',
    'gate serve',
    'gate serve --new-token',
    'gate serve --host 0.0.0.0 --port 8080',
  )
    .option('--port <n>', 'port to listen on; 0: a free one', (text) => (text === '0' ? 0 : port(text)), SERVER_PORT)
    .option('--host <address>', 'address to listen on; beyond loopback it needs "server.tokens"', '127.0.0.1')
    .option('--new-token', 'make a token, print it with the hash for the configuration, and end')
    .option('--json', 'print JSON')
    .action(async (flags: ServeFlags) => {
      if (flags.newToken) await printToken(flags, io);
      else await serve(flags, io);
    });

async function printToken({ json }: ServeFlags, io: Io): Promise<void> {
  const { randomBytes } = await import('node:crypto');
  const { sha256 } = await import('../sha256');
  const token = `gate_${randomBytes(32).toString('base64url')}`;
  const entry = { sha256: sha256(token), scopes: ['ask'] };
  if (json) printJson(io, { token, entry });
  else io.out(`${token}\n`);
  if (!json) io.err(`in gate.config.json: "server": { "tokens": { "NAME": ${JSON.stringify(entry)} } }\n`);
}

async function serve(flags: ServeFlags, io: Io): Promise<void> {
  const [{ openApp }, { mcpRoutes }] = await Promise.all([import('../app/app'), import('../server/mcp/http')]);
  const app = openApp(io);
  await serveUntilStopped(app, { ...flags, routes: mcpRoutes }, io, ({ url, access: { localToken: token } }) => {
    const tokens = Object.keys(app.config.server.tokens);
    if (flags.json) printJson(io, { url, token, tokens });
    else {
      io.out(`${url}\n`);
      io.err(`you, on this machine: Authorization: Bearer ${token}\n`);
      if (tokens.length > 0) io.err(`others: the tokens of ${tokens.join(', ')}\n`);
    }
    io.err('Ctrl-C stops; questions go on in the background (gate dev --stop ends them)\n');
  });
}

/** `orFree`: on a free port where this one is taken. */
export async function serveUntilStopped(
  app: App,
  {
    debug = false,
    orFree = false,
    ...at
  }: Omit<StartOptions, 'log'> & Pick<ServeFlags, 'debug'> & { orFree?: boolean },
  io: Io,
  started: (server: HttpServer) => void,
): Promise<void> {
  const [{ startServer }, { untilStopped }] = await Promise.all([import('../server/start'), import('./interrupts')]);
  const log = (line: string, error: unknown): void => io.err(`${line}: ${errorText(error, debug)}\n`);
  await untilStopped(io, async (stop) => {
    const server = await startServer(app, { ...at, log }).catch((error: unknown) => {
      if (!orFree || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      return startServer(app, { ...at, log, port: 0 });
    });
    started(server);
    await aborted(stop);
    await server.close();
  });
}
