/**
 * The HTTP server of the simulated model: chat completions like an OpenAI-compatible server, with faults and latency on
 * demand, and a ledger.
 *
 *   POST /v1/chat/completions   GET /v1/models
 *   GET /ledger                 requests and billed completions (`ledger.ts`)
 *   POST /reset                 empties the ledger, and takes back what was asked of the next requests
 *   POST /faults {"next": ["hang", …]}   the next requests get these faults, in order
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as z from 'zod';
import { drawer } from './draw';
import { fail, misbehave, parseJson, pause, send, sendWhole, textOf } from './http';
import { latencyOf, RateLimiter, wireFault, WIRE_FAULTS } from './faults';
import type { FaultRates, Latency, RateLimit, WireFault } from './faults';
import { Ledger, type LedgerReport, type LedgerRole } from './ledger';
import { contentHashOf, simulateReply, type ReplyOptions } from './reply';
import { ChatBody, readRequest } from './request';

export interface ServerOptions extends ReplyOptions {
  readonly host: string;
  readonly port: number;
  /** Model names that it serves; others are refused as unknown. */
  readonly models: readonly string[];
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
  /** As it began: nothing was asked, no fault is due, nothing is held. */
  reset(): void;
  /** The next requests get these faults, in order, instead of random ones. */
  failNext(...faults: readonly WireFault[]): void;
  /** Resolves once the ledger holds this many billed completions. */
  billed(count: number): Promise<void>;
  /** Once the ledger holds this many billed completions, further ones wait until the returned function is called. */
  holdAfter(count: number): () => void;
  close(): Promise<void>;
}

const Faults = z.object({ next: z.array(z.enum(WIRE_FAULTS)) });

export async function serve(options: ServerOptions): Promise<SimulatedModel> {
  const service = new Service(options);
  const server = createServer((request, response) => {
    service
      .answer(request, response)
      .catch((error: unknown) => fail(response, 500, `the simulated model failed: ${String(error)}`));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://${options.host}:${port}/v1`,
    ledger: () => service.ledger.report(),
    reset: () => service.reset(),
    failNext: (...faults) => void service.next.push(...faults),
    billed: (count) => service.billed(count),
    holdAfter: (count) => service.holdAfter(count),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** What all requests share: the ledger, the faults asked for, the limit. */
class Service {
  readonly ledger = new Ledger();
  readonly next: WireFault[] = [];
  private release = (): void => undefined;
  private hold: { readonly count: number; readonly released: Promise<void> } | null = null;
  private readonly waiting: { count: number; resolve: () => void }[] = [];
  /** Requests that no hold keeps any more, and that have not ended. */
  private passed = 0;
  private readonly held: (() => void)[] = [];
  private readonly draw: ReturnType<typeof drawer>;
  private readonly limiter: RateLimiter | null;

  constructor(private readonly options: ServerOptions) {
    this.draw = drawer(options.seed);
    this.limiter = options.rateLimit === null ? null : new RateLimiter(options.rateLimit);
  }

  private async complete(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parsed = ChatBody.safeParse(parseJson(await textOf(request)));
    if (!parsed.success) {
      fail(response, 400, `not a chat request: ${parsed.error.issues[0]?.message ?? ''}`);
      return;
    }
    const body = parsed.data;
    if (!this.options.models.includes(body.model)) {
      fail(response, 404, `The model \`${body.model}\` does not exist`, 'model_not_found');
      return;
    }
    const hash = contentHashOf(body);
    const read = readRequest(body);
    await this.serveOne(response, { hash, role: read.kind === 'asked' ? read.asked.role : 'unclear' }, async () => {
      const reply = await simulateReply(body, hash, this.options);
      if (reply.kind === 'refused') return reply;
      const usage = usageOf(body, reply.text);
      return { kind: 'whole', body: completion(body, hash, reply.text, usage), usage };
    });
  }

  /** Serves a request that can be billed: with ledger, limits, faults and latency. */
  private async serveOne(
    response: ServerResponse,
    { hash, role }: { readonly hash: string; readonly role: LedgerRole },
    make: () => Promise<Made>,
  ): Promise<void> {
    const before = this.ledger.asked(hash, role);
    let end: Parameters<Ledger['ended']>[1] = 'abandoned';
    const closed = new Promise<void>((resolve) => response.once('close', resolve));
    let hasPassed = false;
    try {
      const refusedForMs = this.limiter?.refusedForMs(Date.now()) ?? null;
      if (refusedForMs !== null) {
        end = { fault: 'over-limit' };
        misbehave(response, 'rate-limit', Math.max(1, Math.ceil(refusedForMs / 1000)));
        return;
      }
      const fault = this.next.shift() ?? wireFault(this.draw, this.options.faults, hash, before);
      if (fault === 'hang') {
        end = { fault };
        await closed;
        return;
      }
      await pause(latencyOf(this.draw, this.options.latency, hash, before), closed);
      if (!(await this.passes(response, closed))) return;
      hasPassed = true;
      if (fault !== null) {
        end = { fault };
        misbehave(response, fault, this.options.retryAfterSeconds);
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
      this.ledger.tokens(made.usage.prompt_tokens, made.usage.completion_tokens);
    } finally {
      this.ledger.ended(hash, end);
      if (hasPassed) this.passed -= 1;
      for (const lookAgain of this.held.splice(0)) lookAgain();
      const { billed } = this.ledger.report().totals;
      for (const one of this.waiting) if (billed >= one.count) one.resolve();
    }
  }

  /** Waits for the end of a hold; false: the client is gone. Whoever has passed may be billed, so it counts. */
  private async passes(response: ServerResponse, closed: Promise<void>): Promise<boolean> {
    while (this.hold !== null && this.ledger.report().totals.billed + this.passed >= this.hold.count) {
      const another = new Promise<void>((resolve) => this.held.push(resolve));
      await Promise.race([this.hold.released, another, closed]);
      if (response.destroyed) break;
    }
    if (response.destroyed) return false;
    this.passed += 1;
    return true;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const route = `${request.method ?? ''} ${(request.url ?? '').split('?')[0] ?? ''}`;
    const wrongKey = this.options.apiKey !== null && request.headers.authorization !== `Bearer ${this.options.apiKey}`;
    if (wrongKey && route.includes(' /v1/')) {
      fail(response, 401, 'Incorrect API key provided', 'invalid_api_key');
      return;
    }
    switch (route) {
      case 'POST /v1/chat/completions':
        return this.complete(request, response);
      case 'GET /v1/models': {
        send(response, 200, { object: 'list', data: this.options.models.map((id) => ({ id, object: 'model' })) });
        return;
      }
      case 'GET /ledger': {
        send(response, 200, this.ledger.report());
        return;
      }
      case 'POST /reset': {
        this.reset();
        send(response, 200, {});
        return;
      }
      case 'POST /faults': {
        const asked = Faults.safeParse(parseJson(await textOf(request)));
        if (!asked.success) {
          fail(response, 400, `next: a list of ${WIRE_FAULTS.join(', ')}`);
          return;
        }
        this.next.push(...asked.data.next);
        send(response, 200, { next: this.next });
        return;
      }
      default: {
        fail(response, 404, `no such path: ${route}`);
        return;
      }
    }
  }

  reset(): void {
    this.ledger.reset();
    this.next.length = 0;
    this.release();
  }

  holdAfter(count: number): () => void {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    this.hold = { count, released };
    this.release = () => {
      this.hold = null;
      release();
    };
    return this.release;
  }

  billed(count: number): Promise<void> {
    return this.ledger.report().totals.billed >= count
      ? Promise.resolve()
      : new Promise((resolve) => this.waiting.push({ count, resolve }));
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
