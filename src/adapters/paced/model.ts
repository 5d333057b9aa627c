/**
 * A language model within its limits: each model name has its own pace (`pace.ts`). It never asks twice by itself: what
 * is refused is thrown as it came, with the time at which this process's pause is over.
 */
import { ModelError, type LanguageModel, type ModelReply, type ModelRequest } from '../../domain/ports';
import { NoPlaceError, Pace, type PacedCall, type PaceLimits } from './pace';

export interface PacedModelOptions {
  /** The share of this process; null: no limits are configured for this model, only refusals are heeded. */
  readonly limitsOf: (model: string) => PaceLimits | null;
  /** Of the call that is about to wait: lower ones go first; left out: all have the same. */
  readonly rankOf?: () => number;
  readonly now?: () => number;
  readonly random?: () => number;
}

/**
 * How long a call may wait inside its activity, which has the time for it where limits are configured
 * (`activities/proxied-steps.ts`); without, only for a moment.
 */
export const LONGEST_WAIT_MS = 120_000;
const SHORT_WAIT_MS = 10_000;
const NO_LIMITS: PaceLimits = { requestsPerMinute: null, tokensPerMinute: null, concurrency: null };
/** A rule of thumb for English and SQL; the first replies correct it. */
const CHARS_PER_TOKEN = 4;

export function createPacedModel(inner: LanguageModel, options: PacedModelOptions): LanguageModel {
  const { limitsOf, rankOf = () => 0, now = Date.now, random = Math.random } = options;
  const models = new Map<string, PacedModel>();
  const of = (model: string): PacedModel => {
    const known = models.get(model);
    if (known !== undefined) return known;
    const limits = limitsOf(model);
    const longestWaitMs = limits === null ? SHORT_WAIT_MS : LONGEST_WAIT_MS;
    const made = new PacedModel(inner, new Pace({ limits: limits ?? NO_LIMITS, longestWaitMs, now, random }), rankOf);
    models.set(model, made);
    return made;
  };
  return { endpoint: inner.endpoint, complete: (request, call) => of(request.model).complete(request, call) };
}

class PacedModel {
  /** Running mean of what replies were long; null before the first. */
  private meanReplyTokens: number | null = null;

  constructor(
    private readonly inner: LanguageModel,
    private readonly pace: Pace,
    private readonly rankOf: () => number,
  ) {}

  async complete(request: ModelRequest, options: { readonly signal: AbortSignal }): Promise<ModelReply> {
    const call = await this.begin(request, options.signal);
    try {
      const reply = await this.inner.complete(request, options);
      call.ended(reply.promptTokens + reply.completionTokens);
      this.learn(reply);
      return reply;
    } catch (error) {
      throw this.afterFailure(call, error);
    }
  }

  private async begin(request: ModelRequest, signal: AbortSignal): Promise<PacedCall> {
    try {
      return await this.pace.begin(this.estimate(request), signal, this.rankOf());
    } catch (error) {
      if (!(error instanceof NoPlaceError)) throw error;
      const message = `${request.model} is at its limit (models.limits, or the endpoint's own): waiting for a place`;
      throw new ModelError('rate-limited', message, { retryAfterMs: error.retryAfterMs });
    }
  }

  private afterFailure(call: PacedCall, error: unknown): unknown {
    const { code, retryAfterMs } = error instanceof ModelError ? { code: error.code, ...error.options } : none;
    const refused = code === 'rate-limited' || (code === 'server-error' && retryAfterMs !== undefined);
    if (!refused) {
      call.ended(null);
      return error;
    }
    const again = call.refused(retryAfterMs ?? null);
    return new ModelError(code, (error as Error).message, { cause: error, retryAfterMs: again });
  }

  private estimate({ messages, maxOutputTokens }: ModelRequest): number {
    const chars = messages.reduce((sum, { content }) => sum + content.length, 0);
    const reply = Math.min(maxOutputTokens, this.meanReplyTokens ?? maxOutputTokens);
    return Math.ceil(chars / CHARS_PER_TOKEN + reply);
  }

  private learn({ completionTokens }: ModelReply): void {
    const mean = this.meanReplyTokens ?? completionTokens;
    this.meanReplyTokens = mean + (completionTokens - mean) / 8;
  }
}

const none = { code: null, retryAfterMs: undefined };
