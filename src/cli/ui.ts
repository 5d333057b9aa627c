/** `gate ui`: the local page. Its address holds a token for one opening, which the browser exchanges for a cookie. */
import type { App } from '../app/app';
import { GateError } from '../app/errors';
import { port, commandOf, type CommandFactory } from './options';
import { printJson, type Io } from './io';
import { SERVER_PORT, serveUntilStopped } from './serve';

interface UiFlags {
  readonly port?: number;
  readonly open: boolean;
  readonly json?: boolean;
  readonly debug?: boolean;
}

export const uiCommand: CommandFactory = (io) =>
  commandOf(
    'ui',
    'open the local page: ask, watch searches, read answers, layers, databases and batches (docs/page.md)',
    'gate ui',
    'gate ui --no-open --port 9000',
  )
    .option('--port <n>', `port on 127.0.0.1 (default: ${SERVER_PORT}, or a free one)`, port)
    .option('--no-open', 'print the address, and open no browser')
    .option('--json', 'print JSON')
    .action((flags: UiFlags) => runUi(flags, io));

async function runUi({ port: wanted, open, json, debug }: UiFlags, io: Io): Promise<void> {
  const { openApp } = await import('../app/app');
  const app = openApp(io);
  const show = (address: string): void => {
    if (json) printJson(io, { url: address });
    else io.out(`${address}\n`);
    io.err('The address opens once, within ten minutes.\n');
    if (open) openBrowser(address, io);
  };
  const running = wanted === undefined ? await addressOfRunning(app) : null;
  if (running !== null) {
    show(running);
    return;
  }
  const { LOCAL } = await import('../server/http/caller');
  const at = { host: '127.0.0.1', port: wanted ?? SERVER_PORT, orFree: wanted === undefined, debug };
  await serveUntilStopped(app, at, io, (server) => {
    show(server.loginUrl(LOCAL));
    io.err('Ctrl-C stops the page; searches go on in the background (gate dev --stop ends them).\n');
  });
}

/** Of a server of this configuration and store that runs already; null: none does. */
async function addressOfRunning({ config }: App): Promise<string | null> {
  const [{ runningServer }, { localTokenOf }] = await Promise.all([
    import('../server/start'),
    import('../server/http/access'),
  ]);
  const url = runningServer(config);
  if (url === null) return null;
  const headers = { authorization: `Bearer ${localTokenOf(config.folders.state)}`, 'content-type': 'application/json' };
  const response = await fetch(`${url}/v1/logins`, { method: 'POST', headers, body: '{}' });
  if (!response.ok)
    throw new GateError(`the server at ${url} gives no address (status ${response.status}): stop it, or give --port`);
  return ((await response.json()) as { readonly url: string }).url;
}

function openBrowser(address: string, { platform, env }: Io): void {
  // Nobody sits before a machine without a display.
  if (platform === 'linux' && !env['DISPLAY'] && !env['WAYLAND_DISPLAY']) return;
  const windows = ['rundll32', 'url.dll,FileProtocolHandler'];
  const by = platform === 'darwin' ? ['open'] : platform === 'win32' ? windows : ['xdg-open'];
  void import('node:child_process').then(({ spawn }) => {
    const [command = '', ...args] = by;
    const child = spawn(command, [...args, address], { stdio: 'ignore', detached: true });
    // Who sees no browser opens the address by hand.
    child.once('error', () => undefined);
    child.unref();
  });
}
