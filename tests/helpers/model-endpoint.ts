/**
 * A local HTTP endpoint that speaks chat completions, around any function from request body to reply: the real wire for
 * tests and benchmarks of everything above it. Its ledger says what was asked and what was billed, so that a claim
 * about paying once can be counted.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ChatBody {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly temperature?: number;
  readonly top_p?: number;
  readonly seed?: number;
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly response_format?: {
    readonly type: string;
    readonly json_schema?: { readonly name: string; readonly schema: object };
  };
}

/** What goes wrong instead of a reply. */
export type Fault =
  | {
      readonly fault: 'status';
      readonly status: number;
      readonly headers?: Record<string, string>;
      readonly error?: object;
    }
  /** Accepts the request and never answers. */
  | { readonly fault: 'hang' }
  /** Sends the headers and half of the body, then nothing. */
  | { readonly fault: 'stall' }
  /** Drops the connection without an answer. */
  | { readonly fault: 'close' }
  /** A 200 with this very text. */
  | { readonly fault: 'body'; readonly text: string; readonly contentType?: string };

export interface EndpointReply {
  readonly text: string | null;
  readonly finishReason?: string;
  readonly model?: string;
  /** null: the endpoint reports none. */
  readonly usage?: ({ readonly prompt_tokens: number; readonly completion_tokens: number } & object) | null;
}

export interface LedgerEntry {
  readonly body: ChatBody;
  readonly headers: IncomingHttpHeaders;
  readonly receivedAtMs: number;
  /** A completion was sent whole: what a provider charges for. */
  billed: boolean;
}

export interface ModelEndpoint {
  /** For `OPENAI_BASE_URL`. */
  readonly baseUrl: string;
  readonly host: string;
  readonly requests: readonly LedgerEntry[];
  readonly billed: () => number;
  /** The next requests meet these faults, in order, before the reply function is asked. */
  failNext(...faults: readonly Fault[]): void;
  /** Resolves once this many requests have arrived. */
  arrived(count: number): Promise<void>;
  close(): Promise<void>;
}

export interface EndpointOptions {
  readonly reply: (
    body: ChatBody,
    index: number,
  ) => string | EndpointReply | Fault | Promise<string | EndpointReply | Fault>;
  readonly latencyMs?: number;
  readonly models?: readonly string[];
  readonly port?: number;
}

export async function startModelEndpoint(options: EndpointOptions): Promise<ModelEndpoint> {
  const requests: LedgerEntry[] = [];
  const faults: Fault[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').split('?')[0] ?? '';
    const models = options.models ?? ['test-model'];
    if (request.method === 'GET' && path === '/v1/models') {
      sendJson(response, 200, { object: 'list', data: models.map((id) => ({ id, object: 'model' })) });
      return;
    }
    if (request.method === 'GET' && path === '/api/tags') {
      sendJson(response, 200, { models: models.map((name) => ({ name })) });
      return;
    }
    if (request.method !== 'POST' || path !== '/v1/chat/completions') {
      sendJson(response, 404, { error: { message: `no such path: ${path}` } });
      return;
    }
    const body = JSON.parse(await textOf(request)) as ChatBody;
    const entry: LedgerEntry = { body, headers: request.headers, receivedAtMs: Date.now(), billed: false };
    const index = requests.push(entry) - 1;
    for (const one of waiting) if (requests.length >= one.count) one.resolve();
    const injected = faults.shift();
    if (options.latencyMs !== undefined) await new Promise((resolve) => setTimeout(resolve, options.latencyMs));
    const reply = injected ?? (await options.reply(body, index));
    if (typeof reply === 'object' && 'fault' in reply) {
      misbehave(response, reply);
      return;
    }
    entry.billed = true;
    sendJson(response, 200, completion(body, typeof reply === 'string' ? { text: reply } : reply, index));
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      sendJson(response, 500, { error: { message: `the test's reply function failed: ${String(error)}` } });
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;

  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    host: `127.0.0.1:${port}`,
    requests,
    billed: () => requests.filter((entry) => entry.billed).length,
    failNext: (...next) => void faults.push(...next),
    arrived: (count) =>
      requests.length >= count
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiting.push({ count, resolve });
          }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function completion(body: ChatBody, reply: EndpointReply, index: number): object {
  const asked = body.messages.map((message) => message.content).join('').length;
  const usage = reply.usage ?? {
    prompt_tokens: Math.ceil(asked / 4),
    completion_tokens: Math.ceil((reply.text ?? '').length / 4),
  };
  return {
    id: `chatcmpl-${index}`,
    object: 'chat.completion',
    created: 0,
    model: reply.model ?? body.model,
    choices: [
      { index: 0, message: { role: 'assistant', content: reply.text }, finish_reason: reply.finishReason ?? 'stop' },
    ],
    ...(reply.usage !== null && { usage }),
  };
}

function misbehave(response: ServerResponse, fault: Fault): void {
  switch (fault.fault) {
    case 'status': {
      const error = fault.error ?? { message: `injected ${fault.status}` };
      sendJson(response, fault.status, { error }, fault.headers);
      return;
    }
    case 'hang':
      return;
    case 'stall':
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"choices": [');
      return;
    case 'close':
      response.destroy();
      return;
    case 'body':
      response.writeHead(200, { 'content-type': fault.contentType ?? 'application/json' });
      response.end(fault.text);
      return;
    default:
      fault satisfies never;
  }
}

function sendJson(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  if (response.destroyed || response.headersSent) return;
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
