/** GATE's server: the API, the page, and what other doors add to it. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { App } from '../app/app';
import { Askers } from '../app/asker';
import { UsageError } from '../app/errors';
import { holdServer, openRunning } from '../app/open-temporal';
import { SearchEvents } from '../app/search-events';
import type { Config } from '../config';
import { storeLocation } from '../config/store';
import { parsedJson } from '../json';
import { isLoopback } from '../workers/codec-server';
import { isAlive } from '../workers/process-identity';
import { apiRoutes, type Api } from './api/routes';
import type { Route } from './http/route';
import { pageRoutes } from './page';
import { startHttpServer, type HttpServer, type ServerOptions } from './http/server';

export interface StartOptions extends Pick<ServerOptions, 'host' | 'port' | 'log' | 'limits'> {
  /** Beside those of the API. */
  readonly routes?: (api: Api) => readonly Route[];
}

export async function startServer(app: App, { routes = () => [], ...options }: StartOptions): Promise<HttpServer> {
  const { config } = app;
  const { host } = options;
  if (!isLoopback(host) && Object.keys(config.server.tokens).length === 0)
    throw new UsageError(
      `--host ${host}: anybody who reaches it could ask; set "server.tokens" (gate serve --new-token)`,
    );
  let server: HttpServer | null = null;
  const closing = new AbortController();
  const events = new SearchEvents(app);
  const api: Api = {
    ...{ app, events, askers: new Askers(app) },
    loginUrl: (caller, path, origin) => server?.loginUrl(caller, path, origin) ?? '',
  };
  server = await startHttpServer({
    ...options,
    config,
    routes: [...apiRoutes(api), ...pageRoutes(app, events, closing.signal), ...routes(api)],
    now: () => app.now(),
    readiness: readinessOf(app),
  });
  const started = server;
  const forget = announce(config, started.url);
  // Answers do not wait for it: the first question does.
  const holding = holdServer(app).catch((error: unknown) => {
    options.log('Temporal did not start', error);
    return () => Promise.resolve();
  });
  return {
    ...started,
    close: async (graceMs) => {
      forget();
      closing.abort();
      await started.close(graceMs);
      await events.temporal.close();
      await (
        await holding
      )();
    },
  };
}

const READY_FOR_MS = 2_000;

/** Asked by anybody, so Temporal is not asked each time. */
function readinessOf(app: App): () => Promise<string | null> {
  let last: { readonly at: number; readonly answer: Promise<string | null> } | null = null;
  const look = async (): Promise<string | null> => {
    const session = await openRunning(app.config, app.env);
    await session?.close();
    return session === null ? 'no Temporal answers' : null;
  };
  return () => {
    const at = app.now();
    if (last === null || at - last.at > READY_FOR_MS) last = { at, answer: look() };
    return last.answer;
  };
}

interface Announced {
  readonly pid: number;
  readonly url: string;
  /** Of which configuration and store. */
  readonly of: readonly [file: string | null, store: string];
}

const placeOf = ({ folders }: Config): string => join(folders.state, 'server.json');
const ofConfig = ({ file, store }: Config): Announced['of'] => [file, storeLocation(store)];

function announce(config: Config, url: string): () => void {
  const place = placeOf(config);
  mkdirSync(dirname(place), { recursive: true, mode: 0o700 });
  const own: Announced = { pid: process.pid, url, of: ofConfig(config) };
  writeFileSync(place, JSON.stringify(own), { mode: 0o600 });
  return () => {
    if (announced(config)?.pid === process.pid) rmSync(place, { force: true });
  };
}

function announced(config: Config): Announced | null {
  try {
    return parsedJson(readFileSync(placeOf(config), 'utf8')) as Announced | null;
  } catch {
    return null;
  }
}

/** Where a server of this configuration and store runs already; null: nowhere. */
export function runningServer(config: Config): string | null {
  const found = announced(config);
  const isOurs = JSON.stringify(found?.of) === JSON.stringify(ofConfig(config));
  return found !== null && isOurs && isAlive(found.pid) ? found.url : null;
}
