/**
 * What a server is made of: routes. A handler gets a request that has passed all checks (`access.ts`, `server.ts`) and gives a
 * reply; what it throws becomes the one form of errors (`errors.ts`).
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type * as z from 'zod';
import type { Caller, Scope } from './caller';

export interface Route {
  /** `GET` also answers `HEAD`. */
  readonly method: 'GET' | 'POST';
  /** Segments; `:name` takes one, decoded: `/v1/questions/:id/events`. */
  readonly path: string;
  /** What the caller must be allowed. `local`: the person at this machine. `login`: any known one. `open`: nobody has to be known. */
  readonly scope: Scope | 'local' | 'login' | 'open';
  readonly handler: (request: HttpRequest) => Reply | Promise<Reply>;
}

export interface HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly caller: Caller;
  /** Where this server is, as the caller reached it: `http://127.0.0.1:8735`. */
  readonly origin: string;
  /** Of event streams: the id of the last event that the reader had; null: it begins. */
  readonly lastEventId: string | null;
  /** Aborts when the client goes away and when the server stops. */
  readonly leave: AbortSignal;
  /** A body of JSON. Throws in one line what is wrong with it. */
  json<Schema extends z.ZodType>(schema: Schema): Promise<z.output<Schema>>;
  /** A body of `application/x-www-form-urlencoded`. */
  form(): Promise<URLSearchParams>;
}

export interface ServerEvent {
  readonly id?: string;
  /** Left out: `message`. */
  readonly event?: string;
  /** A text as it is (a fragment of HTML); anything else as JSON. */
  readonly data: unknown;
}

type Headers = Readonly<Record<string, string>>;

export type Reply =
  | { readonly status?: number; readonly headers?: Headers; readonly json: unknown }
  | { readonly status?: number; readonly headers?: Headers; readonly type: string; readonly body: string }
  | { readonly status: 204 | 303; readonly headers?: Headers }
  /** Server-sent events, until they end or the reader leaves. */
  | { readonly headers?: Headers; readonly events: AsyncIterable<ServerEvent> }
  /** Answered by somebody else, such as a protocol's own handler. Who reads the body has to keep to `bodyBytes`. */
  | { readonly handledBy: (request: IncomingMessage, response: ServerResponse) => Promise<void> };

export interface Found {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/** `allowed`: there is such a path, for other methods. */
export function findRoute(
  routes: readonly Route[],
  method: string,
  path: string,
): Found | { readonly route: null; readonly allowed: readonly string[] } {
  const here = routes.flatMap((route) => {
    const params = matched(route.path, path);
    return params === null ? [] : [{ route, params }];
  });
  const asked = method === 'HEAD' ? 'GET' : method;
  const found = here.find(({ route }) => route.method === asked);
  return found ?? { route: null, allowed: [...new Set(here.map(({ route }) => route.method))] };
}

function matched(pattern: string, path: string): Readonly<Record<string, string>> | null {
  const shape = pattern.replaceAll('.', '\\.').replace(/:(\w+)/g, '(?<$1>[^/]+)');
  const found = new RegExp(`^${shape}$`).exec(path);
  if (found === null) return null;
  try {
    return Object.fromEntries(
      Object.entries(found.groups ?? {}).map(([name, text]) => [name, decodeURIComponent(text)]),
    );
  } catch {
    // No text in UTF-8: there is no such address.
    return null;
  }
}
