/**
 * A model call is paid once (design D2). The key is the structural position with the try and the seed. The hash and the
 * model of the request are checked; they are not part of the key.
 *
 * 1. A stored reply is returned, and nothing is paid.
 * 2. An intent is written before the call, and the reply before it is returned. So a crash repeats at most the call in
 *    flight, which then counts as possibly billed. No reply is lost if the store is unreachable or full: storing it is tried
 *    again, and then it is kept in memory, where the next try finds it.
 * 3. A request that differs from the answered one under the same key is an error, because the program cannot know which one
 *    is right. An intent without a reply is replaced: the call must be made again, after a deploy perhaps with other words.
 * 4. The first stored reply wins: a worker that was thought dead and returns later uses the stored one, not its own. If it
 *    returns before it has asked, it does not ask: an intent that it did not know, or a reply, tells that its step was given away.
 * 5. The reply is stored together with what its step makes of it (`settle`), in one write (`run-store.ts`).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ModelError,
  StoreError,
  type Clock,
  type LanguageModel,
  type ModelErrorCode,
  type ModelRequest,
  type ObjectStore,
} from '../domain/ports';
import { sha256 } from '../sha256';
import type { UsageDelta } from '../domain/ports/step-parts';
import type { CallIntent, CallReply } from './contents';
import { perStore } from './per-store';
import type { RunStore } from './run-store';
import { shareWork } from './shared-work';

export interface Call {
  readonly store: ObjectStore;
  readonly run: RunStore;
  readonly position: string;
  readonly tryNumber: number;
  readonly request: ModelRequest;
  readonly model: LanguageModel;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** What the step makes of the reply: it puts contents and gives the outcome. It asks nobody, so that it takes no time. */
  readonly settle?: (called: Called) => Promise<unknown>;
  /** Pauses before further attempts to store a reply. */
  readonly storeAgainAfterMs?: readonly number[];
  /** Told when the reply was in the journal. */
  readonly onHit?: (request: ModelRequest) => void;
}

export interface Called {
  /** Id of the journalled reply. */
  readonly id: string;
  readonly text: string;
  readonly finishReason: string;
  readonly usage: UsageDelta;
}

/** Errors that no provider bills. After a lost connection or a timeout the call may have been billed; not if none was made. */
const NOT_BILLED: ReadonlySet<ModelErrorCode> = new Set([
  'rate-limited',
  'authentication',
  'unknown-model',
  'bad-answer',
  'bad-request',
  'context-too-long',
  'not-configured',
  'recording-mismatch',
  'recording-ended',
]);

/** Eleven seconds in total: longer than most outages of a store, shorter than a step's time beyond its model call. */
const STORE_AGAIN_AFTER_MS = [100, 200, 400, 800, 1_600, 2_000, 2_000, 2_000, 2_000];

/** Paid replies that could not be stored yet. */
const unstoredIn = perStore(() => new Map<string, CallReply>());

/** `outcome`: what `settle` gives, or gave before. */
export async function callOnce(call: Call): Promise<{ readonly called: Called; readonly outcome: unknown }> {
  const id = callId(call.position, call.tryNumber, call.request.seed);
  const inputHash = sha256(JSON.stringify(fingerprint(call.request)));
  const known = await call.run.find('reply', id);
  const reply = known === null ? await askAndStore(call, id, inputHash) : checked(known, call, inputHash, id);
  if (known !== null) call.onHit?.(call.request);
  const called = answered(id, reply);
  if (reply.outcome !== undefined || call.settle === undefined) return { called, outcome: reply.outcome };
  // Its step ended before it could settle.
  const outcome = await call.settle(called);
  await call.run.put('reply', id, { ...reply, outcome });
  return { called, outcome };
}

async function askAndStore(call: Call, id: string, inputHash: string): Promise<CallReply> {
  const key = `${call.run.searchId}/${id} ${call.request.model} ${inputHash}`;
  const unstored = unstoredIn(call.store);
  const work = async (signal: AbortSignal): Promise<CallReply> => {
    const shared = { ...call, signal };
    const paid = unstored.get(key) ?? (await ask(shared, id, inputHash));
    unstored.set(key, paid);
    const stored = await storeReply(shared, id, await settled(call, id, paid));
    unstored.delete(key);
    return stored;
  };
  return shareWork(call.store, key, call.signal, work, 'stops');
}

/** A paid reply is stored also if it cannot be settled. Then the error comes again when the stored one is. */
async function settled(call: Call, id: string, reply: CallReply): Promise<CallReply> {
  const outcome = await call.settle?.(answered(id, reply)).catch(() => undefined);
  return outcome === undefined ? reply : { ...reply, outcome };
}

/** The reply and the whole conversation of an earlier try. */
export async function journalled(
  run: RunStore,
  position: string,
  tryNumber: number,
  seed: number,
): Promise<{ readonly intent: CallIntent; readonly text: string; readonly finishReason: string }> {
  const id = callId(position, tryNumber, seed);
  const [intent, reply] = await Promise.all([run.get('intent', id), run.get('reply', id)]);
  return { intent, text: reply.reply.text, finishReason: reply.reply.finishReason };
}

/** The intent of a try that was begun before; null for a new one. */
export function begun(run: RunStore, position: string, tryNumber: number, seed: number): Promise<CallIntent | null> {
  return run.find('intent', callId(position, tryNumber, seed));
}

function callId(position: string, tryNumber: number, seed: number): string {
  return `${position}.try${tryNumber}.seed${seed}`;
}

function fingerprint(request: ModelRequest): unknown {
  const { role, messages, temperature, topP, maxOutputTokens, seed, schema } = request;
  const conversation = messages.map((message) => [message.role, message.content]);
  return [role, conversation, temperature, topP, maxOutputTokens, seed, schema.name, schema.schema];
}

function checked(found: CallReply, call: Call, inputHash: string, id: string): CallReply {
  const { model } = call.request;
  if (found.model === model && found.inputHash === inputHash) return found;
  const differs = found.model === model ? 'the request' : `the model (${found.model}, now ${model})`;
  const message = `the journalled call ${call.run.searchId}/${id} differs in ${differs}: ask with --fresh to start anew`;
  throw new StoreError('conflict', message);
}

async function ask(call: Call, id: string, inputHash: string): Promise<CallReply> {
  const { request } = call;
  const { model, role, messages, maxOutputTokens } = request;
  const before = await call.run.find('intent', id);
  const unanswered = before?.unanswered ?? 0;
  const intent: CallIntent = {
    inputHash,
    model,
    role,
    messages: [...messages],
    maxOutputTokens,
    unanswered: unanswered + 1,
    startedAtMs: call.clock.now(),
  };
  await call.run.put('intent', id, intent, { overwrite: before !== null }).catch((error: unknown) => {
    throw error instanceof StoreError && error.code === 'conflict' ? givenAway(id) : error;
  });
  // Read anew: what this step knows is as old as its beginning.
  if (before !== null && (await call.run.of(call.run.searchId).find('reply', id)) !== null) throw givenAway(id);
  const reply = await call.model.complete(request, { signal: call.signal }).catch(async (error: unknown) => {
    if (error instanceof ModelError && (NOT_BILLED.has(error.code) || error.options.unsent))
      await call.run.put('intent', id, { ...intent, unanswered });
    throw error;
  });
  return { inputHash, model, reply, possiblyBilledCalls: unanswered, endedAtMs: call.clock.now() };
}

/** The next try finds the other's intent or reply. */
function givenAway(id: string): StoreError {
  return new StoreError('unavailable', `another worker makes the call ${id}`);
}

/** Stores a paid reply, with retries. Returns the reply that the store holds at the end. */
async function storeReply(call: Call, id: string, paid: CallReply): Promise<CallReply> {
  const pauses = [...(call.storeAgainAfterMs ?? STORE_AGAIN_AFTER_MS)];
  for (;;) {
    try {
      await call.run.put('reply', id, paid, { overwrite: false });
      return paid;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      if (error.code === 'conflict') return takeOver(call, id, paid);
      const pause = pauses.shift();
      if (pause === undefined || (error.code !== 'unavailable' && error.code !== 'full')) throw error;
      await sleep(pause, undefined, { signal: call.signal });
    }
  }
}

/** Another process stored its reply first. Both calls were billed: one counts as billed, the other as possibly billed. */
async function takeOver(call: Call, id: string, paid: CallReply): Promise<CallReply> {
  const first = checked(await call.run.get('reply', id), call, paid.inputHash, id);
  if (first.possiblyBilledCalls >= paid.possiblyBilledCalls) return first;
  const both = { ...first, possiblyBilledCalls: paid.possiblyBilledCalls };
  await call.run.put('reply', id, both);
  return both;
}

function answered(id: string, { reply, possiblyBilledCalls }: CallReply): Called {
  return {
    id,
    text: reply.text,
    finishReason: reply.finishReason,
    usage: {
      llmCalls: 1,
      possiblyBilledCalls,
      promptTokens: reply.promptTokens,
      // Nothing read from a cache is the usual case, and histories are kept short.
      ...((reply.cachedTokens ?? 0) === 0 ? {} : { cachedTokens: reply.cachedTokens }),
      completionTokens: reply.completionTokens,
      costUsd: reply.costUsd,
    },
  };
}
