/**
 * Which Temporal a command talks to (design §6, D9): `TEMPORAL_ADDRESS` or the configuration, a `temporal.toml` profile,
 * else the store's embedded server. Commands that only look never start one.
 */
import { codecEndpoint, type Config } from '../config';
import type { Environment } from '../config/folders';
import { embeddedPlace } from '../config/store';
import { configuredTemporal, type Target } from '../workers/configured-temporal';
import { noAnswer, TemporalUnreachableError, type TemporalProblem } from '../workers/connection-problem';
import { dataConverterOf } from '../workers/payloads';
import { note, type App } from './app';
import type { Living, TemporalSession, Waiting } from './temporal-session';

/** Joins or starts what is needed. */
export async function openTemporal(
  config: Config,
  env: Environment,
  options: {
    readonly onProgress: (line: string) => void;
    /** Told before this session is connected, so that a worker can be made meanwhile. */
    readonly onTarget?: (target: Target) => void;
    readonly port?: number;
    readonly uiPort?: number;
    readonly uiCodecEndpoint?: string;
    readonly serverless?: boolean;
  },
): Promise<TemporalSession> {
  const { startTracing } = await import('../workers/telemetry/tracing');
  await startTracing(env, options.onProgress);
  const configured = configuredTemporal(config, env);
  const dataConverter = dataConverterOf(config);
  if (configured !== null) {
    options.onTarget?.({ ...configured, dataConverter });
    return connect({ ...configured, dataConverter });
  }
  const { joinEmbeddedServer } = await import('../workers/embedded-server');
  const codec = config.encryption === null ? {} : { uiCodecEndpoint: codecEndpoint(config.encryption) };
  const embedded = await joinEmbeddedServer({ place: embeddedPlace(config), env, ...codec, ...options });
  const target = { address: embedded.address, namespace: 'default', dataConverter };
  options.onTarget?.(target);
  try {
    return await connect(target, embedded.uiUrl, embedded);
  } catch (error) {
    await embedded.leave();
    throw error;
  }
}

/** Keeps an embedded server up beyond the sessions on it, until the function that it gives is called. */
export async function holdServer({ config, env }: Pick<App, 'config' | 'env'>): Promise<() => Promise<void>> {
  if (configuredTemporal(config, env) !== null) return () => Promise.resolve();
  const { joinEmbeddedServer } = await import('../workers/embedded-server');
  const server = await joinEmbeddedServer({ place: embeddedPlace(config), env });
  return async () => {
    await server.leave();
  };
}

/** What is up already; null when nothing is. A configured Temporal that cannot be used counts as nothing: `tell` is told why. */
export async function openRunning(
  config: Config,
  env: Environment,
  tell: (problem: TemporalProblem) => void = () => undefined,
): Promise<TemporalSession | null> {
  const configured = configuredTemporal(config, env);
  const dataConverter = dataConverterOf(config);
  if (configured !== null) {
    const connectionOptions = { ...configured.connectionOptions, connectTimeout: ANSWER_WITHIN_MS };
    return connect({ ...configured, connectionOptions, dataConverter }).catch((error: unknown) => {
      if (!(error instanceof TemporalUnreachableError)) throw error;
      tell(error.problem);
      return null;
    });
  }
  const { embeddedServerInfo } = await import('../workers/embedded-server');
  const info = await embeddedServerInfo(embeddedPlace(config));
  if (info === null) return null;
  const target = { address: `127.0.0.1:${info.port}`, namespace: 'default', dataConverter };
  return connect(target, info.uiPort === null ? null : `http://127.0.0.1:${info.uiPort}`);
}

/** Work with what is up already, left at its end. */
export async function withRunning<T>(
  { config, env }: Pick<App, 'config' | 'env'>,
  work: (session: TemporalSession | null) => Promise<T>,
  tell?: (problem: TemporalProblem) => void,
): Promise<T> {
  const session = await openRunning(config, env, tell);
  return work(session).finally(() => session?.close());
}

/** What to call a search without a record that Temporal does not report as running: only an answer tells. */
export function statusWithoutRecord(config: Config, env: Environment, answered: boolean): 'interrupted' | 'unknown' {
  return answered || configuredTemporal(config, env) === null ? 'interrupted' : 'unknown';
}

/** Null: no Temporal answers. */
export async function livingSearches(app: App, waitingIn: Waiting): Promise<Living | null> {
  const tell = storeOnly(app);
  const look = async (open: TemporalSession | null): Promise<Living | null> => {
    const living = open && (await open.living(waitingIn));
    if (open !== null && living === null) tell(noAnswer(open.address));
    return living;
  };
  return withRunning(app, look, tell);
}

/** For what goes on without Temporal. */
export function storeOnly(app: Pick<App, 'onEvent'>): (problem: TemporalProblem) => void {
  return ({ what, fix }) => note(app, `${what}: showing what the store holds; ${fix}`);
}

const ANSWER_WITHIN_MS = 3_000;

/** Temporal's client is loaded where there is something to connect to. */
async function connect(...to: Parameters<typeof TemporalSession.connect>): Promise<TemporalSession> {
  const session = await import('./temporal-session');
  return session.TemporalSession.connect(...to);
}
