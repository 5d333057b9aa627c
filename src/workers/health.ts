/**
 * Health of a worker over HTTP, for whoever starts and stops containers. `GET /livez`: 200 as long as the process answers at
 * all, which takes an event loop that turns. `GET /readyz`: 200 while it is connected to Temporal and polls its queues, else
 * 503; the body is one line that says why.
 */
import { createServer, type ServerResponse } from 'node:http';
import { listenOn } from './http-server';

/** Null: ready; else why not, in a line. */
export type Readiness = () => Promise<string | null>;

export interface HealthServer {
  readonly url: string;
  /** From now on this answers; before that the process is not ready. */
  readyWhen(readiness: Readiness): void;
  close(): Promise<void>;
}

export async function startHealthServer(host: string, port: number): Promise<HealthServer> {
  let readiness: Readiness = () => Promise.resolve('starting');
  const server = createServer((request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') answer(response, 405, 'only GET');
    else if (request.url === '/livez') answer(response, 200, 'ok');
    else if (request.url === '/readyz')
      void readiness()
        .catch((error: unknown) => (error instanceof Error ? error.name : 'unknown error'))
        .then((problem) => answer(response, problem === null ? 200 : 503, problem ?? 'ok'));
    else answer(response, 404, 'there are /livez and /readyz');
  });
  return { ...(await listenOn(server, host, port)), readyWhen: (next) => (readiness = next) };
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' });
  response.end(`${text}\n`);
}
