/**
 * The HTTP server of the simulated model: chat completions like an OpenAI-compatible server, with faults and latency on
 * demand, and a ledger.
 *
 *   POST /v1/chat/completions   GET /v1/models
 *   POST /v1/embeddings         vectors by words (`embeddings.ts`)
 *   GET /ledger                 requests and billed completions (`ledger.ts`)
 *   POST /reset                 empties the ledger
 *   POST /faults {"next": ["hang", …]}   the next requests get these faults, in order
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { drawer, hashOf } from './draw';
import { embeddings, EmbeddingsBody, textsOf } from './embeddings';
import { latencyOf, wireFault, WIRE_FAULTS, type FaultRates, type Latency, type WireFault } from './faults';
import { Ledger, type LedgerReport, type LedgerRole } from './ledger';
import { contentHashOf, simulateReply, type ReplyOptions } from './reply';
import { RateLimiter, type RateLimit } from './rate-limit';
import { ChatBody, readRequest } from './request';

export interface ServerOptions extends ReplyOptions {
  readonly host: string;
  readonly port: number;
  /** Model names that it serves; others are refused as unknown. */
  readonly models: readonly string[];
  /** Names for `/v1/embeddings`. */
  readonly embeddingModels: readonly string[];
  /** Any other key is refused; null accepts all. */
  readonly apiKey: string | null;
  readonly latency: Latency;
  readonly faults: FaultRates;
  /** Seconds that a 429 asks to wait. */
  readonly retryAfterSeconds: number;
  /** Further requests get a 429 that says when the next one is allowed; null: no limit. */
  readonly rateLimit: RateLimit | null;
}

export interface SimulatedModel {
  /** For `OPENAI_BASE_URL`. */
  readonly baseUrl: string;
  ledger(): LedgerReport;
  reset(): void;
  /** The next requests get these faults, in order, instead of random ones. */
  failNext(...faults: readonly WireFault[]): void;
  /** Resolves once the ledger holds this many billed completions. */
  billed(count: number): Promise<void>;
  close(): Promise<void>;
}

const Faults = z.object({ next: z.array(z.enum(WIRE_FAULTS)) });

export async function serve(options: ServerOptions): Promise<SimulatedModel> {
  const ledger = new Ledger();
  const next: WireFault[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  const draw = drawer(options.seed);
  const limiter = options.rateLimit === null ? null : new RateLimiter(options.rateLimit);

  async function complete(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parsed = ChatBody.safeParse(parseJson(await textOf(request)));
    if (!parsed.success) {
      fail(response, 400, `not a chat request: ${parsed.error.issues[0]?.message ?? ''}`);
      return;
    }
    const body = parsed.data;
    if (!options.models.includes(body.model)) {
      fail(response, 404, `The model \`${body.model}\` does not exist`, 'model_not_found');
      return;
    }
    const hash = contentHashOf(body);
    const read = readRequest(body);
    await serveOne(response, { hash, role: read.kind === 'asked' ? read.asked.role : 'unclear' }, async () => {
      const reply = await simulateReply(body, hash, options);
      if (reply.kind === 'refused') return reply;
      const usage = usageOf(body, reply.text);
      return { kind: 'whole', body: completion(body, hash, reply.text, usage), usage };
    });
  }

  async function embed(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parsed = EmbeddingsBody.safeParse(parseJson(await textOf(request)));
    if (!parsed.success) {
      fail(response, 400, `not an embeddings request: ${parsed.error.issues[0]?.message ?? ''}`);
      return;
    }
    const body = parsed.data;
    if (!options.embeddingModels.includes(body.model)) {
      fail(response, 404, `The model \`${body.model}\` does not exist`, 'model_not_found');
      return;
    }
    const texts = textsOf(body);
    const tokens = Math.ceil(texts.reduce((sum, { length }) => sum + length, 0) / 4);
    const usage = { prompt_tokens: tokens, completion_tokens: 0 };
    const hash = hashOf([body.model, body.dimensions ?? null, texts]).slice(0, 32);
    await serveOne(response, { hash, role: 'embedding' }, () =>
      Promise.resolve({ kind: 'whole', body: embeddings(body, options.seed, tokens), usage }),
    );
  }

  /** Serves a request that can be billed: with ledger, limits, faults and latency. */
  async function serveOne(
    response: ServerResponse,
    { hash, role }: { readonly hash: string; readonly role: LedgerRole },
    make: () => Promise<Made>,
  ): Promise<void> {
    const before = ledger.asked(hash, role);
    let end: Parameters<Ledger['ended']>[1] = 'abandoned';
    const closed = new Promise<void>((resolve) => response.once('close', resolve));
    try {
      const refusedForMs = limiter?.refusedForMs(Date.now()) ?? null;
      if (refusedForMs !== null) {
        end = { fault: 'over-limit' };
        misbehave(response, 'rate-limit', Math.max(1, Math.ceil(refusedForMs / 1000)));
        return;
      }
      const fault = next.shift() ?? wireFault(draw, options.faults, hash, before);
      if (fault === 'hang') {
        end = { fault };
        await closed;
        return;
      }
      await pause(latencyOf(draw, options.latency, hash, before), closed);
      if (response.destroyed) return;
      if (fault !== null) {
        end = { fault };
        misbehave(response, fault, options.retryAfterSeconds);
        if (fault === 'stall') await closed;
        return;
      }
      const made = await make();
      if (made.kind === 'refused') {
        end = { fault: 'refused' };
        fail(response, 400, made.error);
        return;
      }
      if (!(await sendWhole(response, made.body))) return;
      end = 'billed';
      ledger.tokens(made.usage.prompt_tokens, made.usage.completion_tokens);
    } finally {
      ledger.ended(hash, end);
      const { billed } = ledger.report().totals;
      for (const one of waiting) if (billed >= one.count) one.resolve();
    }
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const route = `${request.method ?? ''} ${(request.url ?? '').split('?')[0] ?? ''}`;
    const wrongKey = options.apiKey !== null && request.headers.authorization !== `Bearer ${options.apiKey}`;
    if (wrongKey && route.includes(' /v1/')) {
      fail(response, 401, 'Incorrect API key provided', 'invalid_api_key');
      return;
    }
    switch (route) {
      case 'POST /v1/chat/completions':
        return complete(request, response);
      case 'POST /v1/embeddings':
        return embed(request, response);
      case 'GET /v1/models': {
        const names = [...options.models, ...options.embeddingModels];
        send(response, 200, { object: 'list', data: names.map((id) => ({ id, object: 'model' })) });
        return;
      }
      case 'GET /ledger': {
        send(response, 200, ledger.report());
        return;
      }
      case 'POST /reset':
        ledger.reset();
        {
          send(response, 200, {});
          return;
        }
      case 'POST /faults': {
        const asked = Faults.safeParse(parseJson(await textOf(request)));
        if (!asked.success) {
          fail(response, 400, `next: a list of ${WIRE_FAULTS.join(', ')}`);
          return;
        }
        next.push(...asked.data.next);
        send(response, 200, { next });
        return;
      }
      default: {
        fail(response, 404, `no such path: ${route}`);
        return;
      }
    }
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) =>
      fail(response, 500, `the simulated model failed: ${String(error)}`),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://${options.host}:${port}/v1`,
    ledger: () => ledger.report(),
    reset: () => ledger.reset(),
    failNext: (...faults) => void next.push(...faults),
    billed: (count) =>
      ledger.report().totals.billed >= count
        ? Promise.resolve()
        : new Promise((resolve) => waiting.push({ count, resolve })),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Waits, or stops waiting when the client disconnects. */
function pause(ms: number, closed: Promise<void>): Promise<void> {
  if (ms <= 0) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void closed.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function misbehave(response: ServerResponse, fault: Exclude<WireFault, 'hang'>, retryAfterSeconds: number): void {
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

type Made =
  | {
      readonly kind: 'whole';
      readonly body: object;
      readonly usage: Pick<Usage, 'prompt_tokens' | 'completion_tokens'>;
    }
  | { readonly kind: 'refused'; readonly error: string };

interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}

/** Estimates about four characters per token. */
function usageOf(body: ChatBody, text: string): Usage {
  const prompt_tokens = Math.ceil(body.messages.reduce((sum, { content }) => sum + content.length, 0) / 4);
  const completion_tokens = Math.ceil(text.length / 4);
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

function completion(body: ChatBody, hash: string, content: string, usage: Usage): object {
  return {
    id: `chatcmpl-${hash}`,
    object: 'chat.completion',
    created: 0,
    model: body.model,
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage,
  };
}

/** False if the client disconnected before the last byte was sent. */
function sendWhole(response: ServerResponse, body: object): Promise<boolean> {
  if (response.destroyed) return Promise.resolve(false);
  return new Promise((resolve) => {
    response.once('finish', () => resolve(true));
    response.once('close', () => resolve(false));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  });
}

function send(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  if (response.destroyed || response.headersSent) return;
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

function fail(
  response: ServerResponse,
  status: number,
  message: string,
  code: string | null = null,
  headers: Record<string, string> = {},
): void {
  send(response, status, { error: { message, type: 'simulated', code } }, headers);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the schema that reads it says what was expected
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
