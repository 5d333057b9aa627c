/**
 * Requests to BigQuery's REST interface. The client library logs in and keeps tokens fresh; its own queries are not used: they
 * repeat failed requests, read whole results into memory, and cannot be cut off.
 *
 * 1. A request is repeated once, where the server asks for it or the connection broke, and never after its signal.
 * 2. A service account signs its own tokens, so that no other server is asked for one.
 */
import type * as BigQueryLibrary from '@google-cloud/bigquery';
import { anySignal } from '../../any-signal';
import { untilAborted } from '../../limiter';
import { optionalPackage } from '../kit/engine';
import { failureOf } from './errors';
import type { Target } from './target';

/** `path`: below `/bigquery/v2/`; with a body, it is posted. Throws `ApiFailure`, or the signal's reason. */
export type Call = <T>(path: string, asked: { readonly query?: Query; readonly body?: object }) => Promise<T>;
/** Requests until a signal. */
export type Api = (signal: AbortSignal) => Call;
type Query = Readonly<Record<string, string | number | boolean | undefined>>;

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
  return (given) =>
    async <T>(path: string, { query, body }: Parameters<Call>[1]): Promise<T> => {
      given.throwIfAborted();
      const signal = anySignal([given, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]);
      const method = body === undefined ? 'GET' : 'POST';
      const request = login.request<T>({
        url: `${endpoint}/bigquery/v2/${path}?${parameters(query)}`,
        ...{ method, data: body, signal, responseType: 'json', fetchImplementation },
        maxContentLength: MAX_ANSWER_BYTES,
        retryConfig: {
          retryDelay: REPEAT_AFTER_MS,
          shouldRetry: (error) => failureOf(error).isPassing && error.config.retryConfig?.currentRetryAttempt === 0,
        },
      });
      try {
        // The login waits for servers of its own, which do not hear of the signal.
        return (await untilAborted(request, signal)).data;
      } catch (error) {
        given.throwIfAborted();
        throw failureOf(error);
      }
    };
}

/** `projects/…`, its parts encoded. */
export function path(texts: TemplateStringsArray, ...parts: readonly string[]): string {
  return String.raw({ raw: texts }, ...parts.map(encodeURIComponent));
}

function parameters(query: Query = {}): string {
  const given = new URLSearchParams({ prettyPrint: 'false' });
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  return given.toString();
}
