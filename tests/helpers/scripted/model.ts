/**
 * A language model that follows a script, for tests and benches. It keeps a
 * ledger of what it was asked, so that "paid once" is a count. A script that has run out is an error and never an
 * invented reply.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Role } from '../../../src/domain';
import { ModelError, type LanguageModel, type ModelReply, type ModelRequest } from '../../../src/domain/ports';

/** A text, a text with its own figures, or the error to throw. */
export type ScriptedReply = string | (Partial<ModelReply> & { readonly text: string }) | ModelError;
export type ScriptedReplies =
  | ((request: ModelRequest, call: number) => ScriptedReply | Promise<ScriptedReply>)
  /** One queue per role. */
  | Partial<Record<Role, readonly ScriptedReply[]>>;

export interface ScriptedModelOptions {
  readonly replies: ScriptedReplies;
  readonly latencyMs?: number | ((request: ModelRequest) => number);
  readonly endpoint?: string;
}

export interface ScriptedModel extends LanguageModel {
  /** Every request, in order of arrival, the failed ones included. */
  readonly requests: readonly ModelRequest[];
  /** Replies that were returned whole: what a provider would charge for. */
  readonly replied: number;
  callsTo(role: Role): number;
  /** Replies not asked for yet, by role; empty when the script is a function or used up. */
  remaining(): Partial<Record<Role, number>>;
}

export function scriptedModel(options: ScriptedModelOptions): ScriptedModel {
  const requests: ModelRequest[] = [];
  const { replies } = options;
  const used = new Map<Role, number>();
  let replied = 0;

  const next = (request: ModelRequest, call: number): ScriptedReply | Promise<ScriptedReply> => {
    if (typeof replies === 'function') return replies(request, call);
    const queue = replies[request.role] ?? [];
    const position = used.get(request.role) ?? 0;
    used.set(request.role, position + 1);
    const reply = queue[position];
    if (reply === undefined) {
      const held = queue.length === 0 ? 'no reply at all' : `only ${queue.length}`;
      throw new ModelError(
        'recording-ended',
        `The script has ${held} for role "${request.role}"; call ${position + 1} asked for another`,
      );
    }
    return reply;
  };

  return {
    endpoint: options.endpoint ?? 'scripted',
    requests,
    get replied() {
      return replied;
    },
    callsTo: (role) => requests.filter((request) => request.role === role).length,
    remaining: () => {
      if (typeof replies === 'function') return {};
      const left = Object.entries(replies).map(
        ([role, queue]) => [role, queue.length - (used.get(role as Role) ?? 0)] as const,
      );
      return Object.fromEntries(left.filter(([, count]) => count > 0));
    },
    async complete(request, { signal }) {
      signal.throwIfAborted();
      const call = requests.push(request) - 1;
      const { latencyMs = 0 } = options;
      const waitMs = typeof latencyMs === 'function' ? latencyMs(request) : latencyMs;
      if (waitMs > 0) await sleep(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted());
      const reply = await next(request, call);
      signal.throwIfAborted();
      if (reply instanceof ModelError) throw reply;
      replied += 1;
      return asModelReply(reply, request);
    },
  };
}

function asModelReply(reply: Exclude<ScriptedReply, ModelError>, request: ModelRequest): ModelReply {
  const given = typeof reply === 'string' ? { text: reply } : reply;
  const asked = request.messages.map((message) => message.content).join('');
  return {
    model: request.model,
    promptTokens: Math.ceil(asked.length / 4),
    completionTokens: Math.ceil(given.text.length / 4),
    costUsd: 0,
    finishReason: 'stop',
    ...given,
  };
}
