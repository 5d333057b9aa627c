/** `gate ui`: the local page. Its address holds a token for one opening, which the browser exchanges for a cookie. */
import { Command } from 'commander';
import { port, withExamples, type CommandFactory } from './options';
import type { Io } from './io';

interface UiFlags {
  readonly port?: number;
  readonly open: boolean;
}

const PORT = 8735;

export const uiCommand: CommandFactory = (io) =>
  withExamples(
    new Command('ui')
      .description('open the local page: ask, watch a search, read answers, layers, databases and batches')
      .option('--port <n>', `port on 127.0.0.1 (default: ${PORT} or a free one)`, port)
      .option('--no-open', 'print the address, and open no browser')
      .action((flags: UiFlags) => runUi(flags, io)),
    'gate ui',
    'gate ui --no-open --port 9000',
  );

async function runUi({ port: wanted, open }: UiFlags, io: Io): Promise<void> {
  const [{ startUi }, { untilStopped }] = await Promise.all([import('../server/ui'), import('./interrupts')]);
  await untilStopped(io, async (stop) => {
    const ui = await startUi({ port: wanted ?? PORT, isWanted: wanted !== undefined }, io);
    io.out(`${ui.address}\n`);
    io.err('The address opens once, within ten minutes. Ctrl-C stops the page; searches go on.\n');
    if (open) openBrowser(ui.address, io);
    await new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve(), { once: true }));
    await ui.close();
  });
}

function openBrowser(address: string, { platform, env }: Io): void {
  // Nobody sits before a machine without a display.
  if (platform === 'linux' && !env['DISPLAY'] && !env['WAYLAND_DISPLAY']) return;
  const by =
    platform === 'darwin'
      ? ['open']
      : platform === 'win32'
        ? ['rundll32', 'url.dll,FileProtocolHandler']
        : ['xdg-open'];
  void import('node:child_process').then(({ spawn }) => {
    const [command = '', ...args] = by;
    const child = spawn(command, [...args, address], { stdio: 'ignore', detached: true });
    // Who sees no browser opens the address by hand.
    child.once('error', () => undefined);
    child.unref();
  });
}
