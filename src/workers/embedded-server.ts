/**
 * The embedded Temporal of a store (design D9). The first process that needs it starts it, others join, and the last one stops
 * it. Files in its home, which lies with the store (`embeddedPlace`): `server.json` (the running server), `join.lock` (held
 * while a process joins, starts or leaves), `users-PID.lock` (shared by those that use the server PID), its log and its database
 * file.
 *
 * 1. Joining, starting and leaving happen under the lock, so two at once never start two, and nobody joins a server
 *    that is about to stop.
 * 2. A process that died without leaving is no user, and neither is one whose server died. A server that outlived its users is
 *    joined by the next one. It is recorded as soon as it is spawned: if its starter dies meanwhile, no second one is started.
 * 3. Each store has its own server: histories refer to objects of a store, and a worker would write answers to its own.
 * 4. `keep` (`--detach`, `dev`) is remembered in `server.json`: then only `stopEmbeddedServer` ends it.
 */
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { toStoreError } from '../adapters/local/keys';
import { makeFolders } from '../adapters/local/store';
import type { Environment } from '../config/folders';
import type { EmbeddedPlace } from '../config/store';
import { parsedJson } from '../json';
import { replaceFile } from '../replace-file';
import { isUnshared, shareOf, withFileLock } from '../file-lock';
import { binaryVersion, findTemporalBinary, SERVERLESS_SERVER } from './temporal-binary';
import * as temporal from './temporal-process';

const ServerInfo = z.object({
  pid: z.number().int(),
  port: z.number().int(),
  uiPort: z.number().int().nullable(),
  /** Version of the Temporal server. */
  version: z.string(),
  databaseFile: z.string(),
  /** Where its UI has payloads decoded. */
  uiCodecEndpoint: z.string().nullable(),
  keep: z.boolean(),
  /** It starts workers when work arrives (`gate dev --serverless`). */
  serverless: z.boolean(),
});
type ServerInfo = z.infer<typeof ServerInfo>;
/** In place of a version, until it can be used. */
const STARTING = 'starting';

export interface EmbeddedOptions {
  readonly place: EmbeddedPlace;
  readonly env: Environment;
  readonly onProgress?: (line: string) => void;
  /** Fixed ports; one in use is an error. They apply when this call starts the server, as the codec endpoint of its UI does. */
  readonly port?: number;
  readonly uiPort?: number | null;
  readonly uiCodecEndpoint?: string;
  /** One that starts workers when work arrives, with the environment given here. */
  readonly serverless?: boolean;
}

export interface EmbeddedServer {
  readonly info: ServerInfo;
  readonly address: string;
  readonly uiUrl: string | null;
  /** This call started it. */
  readonly started: boolean;
  /** `stopped`: this was the last user; `running`: others need it, or it was asked to stay. */
  leave(options?: { readonly keep?: boolean }): Promise<'stopped' | 'running'>;
}

export async function joinEmbeddedServer(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const files = filesIn(options.place);
  const folder = dirname(options.place.home);
  try {
    makeFolders(folder);
    // Histories hold answers: the folder is its owner's alone.
    mkdirSync(options.place.home, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw toStoreError(error, folder);
  }
  // A download must not hold the lock; whether a server that lives also serves is asked once, under it.
  const binary = livingServer(files) === null ? await findBinary(options) : null;
  return withFileLock(files.lock, async () => {
    const running = await runningServer(files);
    if (options.serverless === true && running?.serverless === false)
      throw new Error('the embedded server that runs starts no workers; stop it first: gate dev --stop');
    const info = running ?? (await start(options, files, binary ?? (await findBinary(options))));
    const release = await shareOf(files.users(info.pid));
    return {
      info,
      address: `127.0.0.1:${info.port}`,
      uiUrl: info.uiPort === null ? null : `http://127.0.0.1:${info.uiPort}`,
      started: running === null,
      leave: ({ keep = false } = {}) =>
        withFileLock(files.lock, async () => {
          release();
          const now = await runningServer(files);
          if (now === null) return 'stopped';
          if (keep && !now.keep) save(files, { ...now, keep });
          if (keep || now.keep || !(await isUnshared(files.users(now.pid)))) return 'running';
          await temporal.stopServerProcess(now.pid);
          for (const file of [files.info, files.users(now.pid)]) rmSync(file, { force: true });
          return 'stopped';
        }),
    };
  });
}

/** What runs now; null when nothing does. */
export async function embeddedServerInfo(place: EmbeddedPlace): Promise<ServerInfo | null> {
  return runningServer(filesIn(place));
}

/** Stops it whoever uses it; false when nothing ran. */
export async function stopEmbeddedServer(place: EmbeddedPlace): Promise<boolean> {
  const files = filesIn(place);
  if (livingServer(files) === null) return false;
  return withFileLock(files.lock, async () => {
    const info = await runningServer(files);
    if (info === null) return false;
    await temporal.stopServerProcess(info.pid);
    rmSync(files.info, { force: true });
    return true;
  });
}

type Files = ReturnType<typeof filesIn>;

function filesIn({ home }: EmbeddedPlace) {
  return {
    info: join(home, 'server.json'),
    lock: join(home, 'join.lock'),
    users: (server: number) => join(home, `users-${server}.lock`),
    log: join(home, 'server.log'),
    /**
     * One for each version, because a server makes the tables and columns that it adds only in a new file; and one for the
     * server that starts workers: it remembers which queues are theirs, and another server would keep tasks for them.
     */
    database: (version: string | null, serverless: boolean) =>
      join(home, `temporal-${version ?? 'unknown'}${serverless ? '-serverless' : ''}.sqlite`),
  };
}

function findBinary({ env, place, onProgress, serverless }: EmbeddedOptions): Promise<string> {
  const server = serverless === true ? SERVERLESS_SERVER : undefined;
  return findTemporalBinary({ env, cacheFolder: place.cache, onProgress, server });
}

async function start(options: EmbeddedOptions, files: Files, binary: string): Promise<ServerInfo> {
  const { env, place, serverless = false, port, uiPort, uiCodecEndpoint } = options;
  const databaseFile = files.database(binaryVersion(binary, place.cache), serverless);
  const saved = (server: temporal.ServerProcess): ServerInfo =>
    save(files, { ...server, databaseFile, keep: false, serverless, uiCodecEndpoint: uiCodecEndpoint ?? null });
  const more = serverless ? { flags: [...temporal.TUNED_FLAGS, ...temporal.SERVERLESS_FLAGS], env: { ...env } } : {};
  try {
    return saved(
      await temporal.startServerProcess({
        ...{ binary, databaseFile, logFile: files.log, port, uiPort, uiCodecEndpoint, ...more },
        onSpawn: (spawned) => saved({ ...spawned, version: STARTING }),
      }),
    );
  } catch (error) {
    rmSync(files.info, { force: true });
    throw error;
  }
}

async function runningServer(files: Files): Promise<ServerInfo | null> {
  const info = livingServer(files);
  if (info === null) return null;
  if (info.version !== STARTING) return (await temporal.accepts(info.port)) ? info : null;
  const { serverVersionAt } = await import('./server-version');
  const version = await serverVersionAt(`${temporal.HOST}:${info.port}`, 5_000);
  return version === null ? null : { ...info, version };
}

/** A copied store has the record of a server that is another store's. One folder may have several paths. */
function livingServer({ info: file }: Files): ServerInfo | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    // Another process may remove it at any time.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  const { data: info } = ServerInfo.safeParse(parsedJson(text));
  if (info === undefined || !temporal.isServerProcess(info.pid)) return null;
  const folder = dirname(info.databaseFile);
  return existsSync(folder) && realpathSync(folder) === realpathSync(dirname(file)) ? info : null;
}

function save(files: Files, info: ServerInfo): ServerInfo {
  replaceFile(files.info, JSON.stringify(info));
  return info;
}
