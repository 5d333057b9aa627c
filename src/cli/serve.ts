/** `gate serve`: the HTTP API, until it is stopped. */
import { Command } from 'commander';
import { errorText } from '../app/errors';
import { aborted } from '../app/waiting';
import { printJson, type Io } from './io';
import { port, withExamples, type CommandFactory } from './options';

interface ServeFlags {
  readonly port: number;
  readonly host: string;
  readonly newToken?: boolean;
  readonly json?: boolean;
  readonly debug?: boolean;
}

export const serveCommand: CommandFactory = (io) =>
  withExamples(
    new Command('serve')
      .description(
        'answer questions over HTTP, and agents at /mcp, until stopped (docs/http.md); they go on when it stops',
      )
      .option('--port <n>', 'port to listen on; 0: a free one', (text) => (text === '0' ? 0 : port(text)), 8735)
      .option('--host <address>', 'address to listen on; beyond loopback it needs "server.tokens"', '127.0.0.1')
      .option('--new-token', 'make a token, print it with the hash for the configuration, and end')
      .option('--json', 'print JSON')
      .action(async (flags: ServeFlags) => {
        if (flags.newToken) await printToken(flags, io);
        else await serve(flags, io);
      }),
    'gate serve',
    'gate serve --new-token',
    'gate serve --host 0.0.0.0 --port 8080',
  );

async function printToken({ json }: ServeFlags, io: Io): Promise<void> {
  const { randomBytes } = await import('node:crypto');
  const { sha256 } = await import('../sha256');
  const token = `gate_${randomBytes(32).toString('base64url')}`;
  const entry = { sha256: sha256(token), scopes: ['ask'] };
  if (json) printJson(io, { token, entry });
  else io.out(`${token}\n`);
  if (!json) io.err(`in gate.config.json: "server": { "tokens": { "NAME": ${JSON.stringify(entry)} } }\n`);
}

async function serve({ host, port: at, json, debug = false }: ServeFlags, io: Io): Promise<void> {
  const [{ openApp }, { startServer }, { mcpRoutes }, { untilStopped }] = await Promise.all([
    import('../app/app'),
    import('../server/start'),
    import('../server/mcp/http'),
    import('./interrupts'),
  ]);
  const app = openApp(io);
  await untilStopped(io, async (stop) => {
    const log = (line: string, error: unknown): void => io.err(`${line}: ${errorText(error, debug)}\n`);
    const server = await startServer(app, { host, port: at, log, routes: mcpRoutes });
    const { url, access } = server;
    const tokens = Object.keys(app.config.server.tokens);
    if (json) printJson(io, { url, token: access.localToken, tokens });
    else io.out(`${url}\n`);
    if (!json) io.err(`you, on this machine: Authorization: Bearer ${access.localToken}\n`);
    if (!json && tokens.length > 0) io.err(`others: the tokens of ${tokens.join(', ')}\n`);
    io.err('Ctrl-C stops; questions go on in the background (gate dev --stop ends them)\n');
    await aborted(stop);
    await server.close();
  });
}
