/**
 * Requests to BigQuery's REST interface. The client library logs in and keeps tokens fresh; its own queries are not used: they
 * repeat failed requests, read whole results into memory, and cannot be cut off.
 *
 * 1. A request is repeated once, where the server asks for it or the connection broke, and never after its signal.
 * 2. A service account signs its own tokens, so that no other server is asked for one.
 */
import type * as BigQueryLibrary from '@google-cloud/bigquery';
import { setTimeout as sleep } from 'node:timers/promises';
import { optionalPackage } from '../kit/engine';
import { failureOf } from './errors';
import type { Target } from './target';

export interface Api {
  /** `path`: below `/bigquery/v2/`. Throws `ApiFailure`, or the signal's reason. */
  get<T>(path: string, query: Query, signal: AbortSignal): Promise<T>;
  post<T>(path: string, body: object, signal: AbortSignal, query?: Query): Promise<T>;
}
type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** `fetchImplementation`: what requests go through; left out: the library's own, which heeds the variables for proxies. */
export type LoadLibrary = () => Promise<
  Pick<typeof BigQueryLibrary, 'BigQuery'> & { readonly fetchImplementation?: typeof fetch }
>;
const importLibrary: LoadLibrary = () => import('@google-cloud/bigquery');

const REPEAT_AFTER_MS = 1_000;
/** No answer takes longer: results are polled for. */
const REQUEST_TIMEOUT_MS = 60_000;
/** BigQuery's pages are smaller, unless a single row is larger. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;

export async function openApi(target: Target, load: LoadLibrary = importLibrary): Promise<Api> {
  const { BigQuery, fetchImplementation } = await optionalPackage('@google-cloud/bigquery', load);
  const { key, billing: projectId, endpoint } = target;
  const { authClient: login } = new BigQuery({ projectId });
  // As an option it would make the library warn of keys from strangers.
  if (key !== null) login.jsonContent = key;
  login.useJWTAccessWithScope = true;

  async function call<T>(
    method: 'GET' | 'POST',
    url: string,
    data: object | undefined,
    signal: AbortSignal,
  ): Promise<T> {
    for (let again = false; ; again = true) {
      try {
        signal.throwIfAborted();
        const limit = AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]);
        const how = {
          retry: false,
          responseType: 'json',
          maxContentLength: MAX_ANSWER_BYTES,
          fetchImplementation,
        } as const;
        const request = { method, url, data, signal: limit, ...how };
        return (await abortable(login.request<T>(request), limit)).data;
      } catch (error) {
        signal.throwIfAborted();
        const failure = failureOf(error);
        if (again || !failure.isPassing) throw failure;
        await sleep(REPEAT_AFTER_MS, undefined, { signal });
      }
    }
  }

  const address = (path: string): string => `${endpoint}/bigquery/v2/${path}`;
  return {
    get: (path, query, signal) => call('GET', `${address(path)}?${parameters(query)}`, undefined, signal),
    post: (path, body, signal, query = {}) => call('POST', `${address(path)}?${parameters(query)}`, body, signal),
  };
}

/** `projects/…`, its parts encoded. */
export function path(texts: TemplateStringsArray, ...parts: readonly string[]): string {
  return String.raw({ raw: texts }, ...parts.map(encodeURIComponent));
}

function parameters(query: Query): string {
  const given = new URLSearchParams({ prettyPrint: 'false' });
  for (const [name, value] of Object.entries(query))
    if (value !== null && value !== undefined) given.set(name, String(value));
  return given.toString();
}

/** The login waits for servers of its own, which do not hear of the signal. */
function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
