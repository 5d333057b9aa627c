/** Replies as bytes: JSON, texts, files, server-sent events. */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { anySignal } from '../../any-signal';
import type { HttpError } from './errors';
import type { Reply, ServerEvent } from './route';

/** `same-origin`, and not `no-referrer`, under which browsers post with `Origin: null`. */
const SAFE = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** Shorter than what proxies usually wait. */
const BEAT_MS = 15_000;
/** A reader that takes nothing for so long is given up. */
const STUCK_MS = 60_000;
const AGAIN_MS = 1_000;

export async function sendReply(
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
  leave: AbortSignal = new AbortController().signal,
): Promise<void> {
  if ('handledBy' in reply) return reply.handledBy(request, response);
  const isHead = request.method === 'HEAD';
  const begin = (status: number, more: Readonly<Record<string, string | number>>): void => {
    response.writeHead(status, { ...SAFE, ...closing(request), ...more, ...reply.headers });
  };
  const whole = (status: number, type: string, body: string): void => {
    begin(status, { 'content-type': typeOf(type), 'content-length': Buffer.byteLength(body) });
    response.end(isHead ? undefined : body);
  };
  if ('events' in reply) {
    begin(200, { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' });
    if (isHead) response.end();
    else await sendEvents(response, reply.events, leave);
    return;
  }
  const { status = 200 } = reply;
  if ('json' in reply) whole(status, 'application/json', `${JSON.stringify(reply.json)}\n`);
  else if (!('body' in reply)) whole(status, 'text/plain', '');
  else whole(status, reply.type, reply.body);
}

function typeOf(type: string): string {
  return type.startsWith('text/') && !type.includes('charset') ? `${type}; charset=utf-8` : type;
}

/** A body that was not read would be taken for the next request. */
function closing(request: IncomingMessage): { readonly connection?: 'close' } {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers;
  const hasBody = length !== '0' || coding !== undefined;
  return hasBody && !request.complete ? { connection: 'close' } : {};
}

export function sendError(
  request: IncomingMessage,
  response: ServerResponse,
  { status, code, message, headers }: HttpError,
): void {
  // Half a reply cannot be taken back: that it is cut tells that it is not whole.
  if (response.headersSent) {
    response.destroy();
    return;
  }
  void sendReply(request, response, { status, headers, json: { error: { code, message } } });
}

async function sendEvents(
  response: ServerResponse,
  events: AsyncIterable<ServerEvent>,
  leave: AbortSignal,
): Promise<void> {
  response.write(`retry: ${AGAIN_MS}\n\n`);
  const beat = setInterval(() => {
    if (!response.writableNeedDrain) response.write(':\n\n');
  }, BEAT_MS);
  const reading = events[Symbol.asyncIterator]();
  const left = new Promise<null>((resolve) => leave.addEventListener('abort', () => resolve(null), { once: true }));
  try {
    while (!leave.aborted) {
      const next = await Promise.race([reading.next(), left]);
      if (next === null || next.done === true || !(await written(response, eventText(next.value), leave))) return;
    }
  } finally {
    clearInterval(beat);
    void Promise.resolve(reading.return?.()).catch(() => undefined);
    response.end();
  }
}

/** False: nobody reads any more. */
async function written(response: ServerResponse, piece: string, leave: AbortSignal): Promise<boolean> {
  if (leave.aborted || response.destroyed) return false;
  if (response.write(piece)) return true;
  try {
    await once(response, 'drain', { signal: anySignal([leave, AbortSignal.timeout(STUCK_MS)]) });
    return true;
  } catch {
    response.destroy();
    return false;
  }
}

function eventText({ id, event, data }: ServerEvent): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  const lines = text.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  return `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}${lines.join('')}\n`;
}
