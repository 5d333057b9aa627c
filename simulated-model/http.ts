/** What the simulated model does with a request and a response: reads, waits, sends, fails, misbehaves. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { WireFault } from './faults';

/** Waits, or stops waiting when the client disconnects. */
export function pause(ms: number, closed: Promise<void>): Promise<void> {
  if (ms <= 0) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void closed.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

export function misbehave(
  response: ServerResponse,
  fault: Exclude<WireFault, 'hang'>,
  retryAfterSeconds: number,
): void {
  switch (fault) {
    case 'rate-limit': {
      fail(response, 429, 'Rate limit reached', 'rate_limit_exceeded', {
        'retry-after': String(retryAfterSeconds),
      });
      return;
    }
    case 'server-error': {
      fail(response, 500, 'The server had an error');
      return;
    }
    case 'drop':
      response.destroy();
      return;
    case 'stall':
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"choices": [');
      return;
    case 'malformed':
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"choices": [{"message": {"content": "{');
      return;
    default:
      fault satisfies never;
  }
}

/** False if the client disconnected before the last byte was sent. */
export function sendWhole(response: ServerResponse, body: object): Promise<boolean> {
  if (response.destroyed) return Promise.resolve(false);
  return new Promise((resolve) => {
    response.once('finish', () => resolve(true));
    response.once('close', () => resolve(false));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  });
}

export function send(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  if (response.destroyed || response.headersSent) return;
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

export function fail(
  response: ServerResponse,
  status: number,
  message: string,
  code: string | null = null,
  headers: Record<string, string> = {},
): void {
  send(response, status, { error: { message, type: 'simulated', code } }, headers);
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the schema that reads it says what was expected
  }
}

export async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
