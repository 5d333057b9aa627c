/** The server of `gate ui`: the pages alone, on loopback. */
import { openApp } from '../app/app';
import type { Told } from '../app/surroundings';
import { LOCAL } from './http/caller';
import { startHttpServer } from './http/server';
import { openPage } from './page';

export interface Ui {
  /** For one opening in a browser. */
  readonly address: string;
  readonly url: string;
  close(): Promise<void>;
}

/** `isWanted`: this port and no other; else a free one takes its place. */
export async function startUi(
  { port, isWanted }: { readonly port: number; readonly isWanted: boolean },
  io: Told,
): Promise<Ui> {
  const app = openApp(io);
  const closing = new AbortController();
  const page = openPage(app, closing.signal);
  const at = (wanted: number) =>
    startHttpServer({
      ...{ config: app.config, host: '127.0.0.1', port: wanted, routes: page.routes, now: () => app.now() },
      log: (line, error) =>
        io.err(`${line}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`),
    });
  const server = await at(port).catch((error: unknown) => {
    if (isWanted || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return at(0);
  });
  return {
    ...{ url: server.url, address: server.loginUrl(LOCAL) },
    close: async () => {
      closing.abort();
      await server.close();
      await page.close();
    },
  };
}
