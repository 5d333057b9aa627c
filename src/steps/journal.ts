/**
 * A model call is paid once (design D2). The key is the structural position with the try and the seed; hash and model of
 * the request are a check, not part of it.
 *
 * 1. A stored reply is returned and nothing is paid.
 * 2. An intent is written before the call and the reply before anything is returned, so a crash repeats at most the
 *    call in flight, and that one is counted as possibly billed.
 * 3. A request that differs from the one that was answered under its key is an error: nothing may guess which one is
 *    right. An intent without a reply is replaced: it is asked anew in any case, after a deploy perhaps in other words.
 */
import { ModelError, StoreError, type LanguageModel, type ModelErrorCode, type ModelRequest } from '../ports';
import type { Clock } from '../ports';
import type { Hash } from '../search/body';
import type { UsageDelta } from '../search/steps';
import type { CallIntent, CallReply } from './contents';
import type { RunStore } from './run-store';

export interface Call {
  readonly run: RunStore;
  readonly position: string;
  readonly tryNumber: number;
  readonly request: ModelRequest;
  readonly model: LanguageModel;
  readonly clock: Clock;
  readonly hash: Hash;
  readonly signal: AbortSignal;
}

export interface Called {
  readonly text: string;
  readonly usage: UsageDelta;
}

/** Replies of the server that no provider bills; a lost connection or a timeout may have been billed. */
const NOT_BILLED: ReadonlySet<ModelErrorCode> = new Set([
  'rate-limited',
  'authentication',
  'unknown-model',
  'bad-request',
  'not-configured',
  'recording-mismatch',
  'recording-ended',
]);

export async function callOnce(call: Call): Promise<Called> {
  const id = callId(call.position, call.tryNumber, call.request.seed);
  const inputHash = call.hash(JSON.stringify(fingerprint(call.request)));
  const known = await call.run.find('reply', id);
  if (known !== null) return answered(checked(known, call, inputHash, id));
  const earlier = await call.run.find('intent', id);
  const reply = await askAndStore(call, id, inputHash, earlier?.unanswered ?? 0);
  return answered(reply);
}

/** The reply and the whole conversation of an earlier try. */
export async function journalled(
  run: RunStore,
  position: string,
  tryNumber: number,
  seed: number,
): Promise<{ readonly intent: CallIntent; readonly text: string }> {
  const id = callId(position, tryNumber, seed);
  const [intent, reply] = await Promise.all([run.get('intent', id), run.get('reply', id)]);
  return { intent, text: reply.reply.text };
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
  const differs = [
    ...(found.model === call.request.model ? [] : [`the model (${found.model}, now ${call.request.model})`]),
    ...(found.inputHash === inputHash ? [] : ['the request']),
  ];
  if (differs.length === 0) return found;
  throw new StoreError(
    'conflict',
    `the journalled call ${call.run.searchId}/${id} differs in ${differs.join(' and ')}: ask with --fresh to start anew`,
  );
}

async function askAndStore(call: Call, id: string, inputHash: string, unanswered: number): Promise<CallReply> {
  const { request } = call;
  const intent: CallIntent = {
    schemaVersion: 1,
    inputHash,
    model: request.model,
    role: request.role,
    messages: request.messages.map((message) => ({ ...message })),
    unanswered: unanswered + 1,
    startedAtMs: call.clock.now(),
  };
  await call.run.put('intent', id, intent);
  const reply = await call.model.complete(request, { signal: call.signal }).catch(async (error: unknown) => {
    if (error instanceof ModelError && NOT_BILLED.has(error.code))
      await call.run.put('intent', id, { ...intent, unanswered });
    throw error;
  });
  const stored: CallReply = {
    schemaVersion: 1,
    inputHash,
    model: request.model,
    reply,
    possiblyBilledCalls: unanswered,
    endedAtMs: call.clock.now(),
  };
  await call.run.put('reply', id, stored);
  return stored;
}

function answered({ reply, possiblyBilledCalls }: CallReply): Called {
  return {
    text: reply.text,
    usage: {
      llmCalls: 1,
      possiblyBilledCalls,
      promptTokens: reply.promptTokens,
      completionTokens: reply.completionTokens,
      costUsd: reply.costUsd,
    },
  };
}
