/**
 * The frame of a model step: messages, the journalled call, the parsed and further checked reply. A later try repeats the
 * conversation of the try before with its reply and the exact error (paper, App. B.4). Every try is charged.
 */
import type { Role } from '../domain';
import type { ChatMessage, ModelRequest } from '../ports';
import { retryMessages, type Parsed } from '../prompts';
import type { MemoryRef, ModelOutcome } from '../search/steps';
import type { StepContext } from './context';
import { flightsOf } from './flights';
import { callOnce, journalled } from './journal';

export interface ModelStep {
  readonly searchId: string;
  readonly position: string;
  readonly tryNumber: number;
  readonly executionError?: string;
  readonly memory: MemoryRef;
}

export interface RoleTask<Reply, View> {
  readonly role: Role;
  readonly schema: ModelRequest['schema'];
  readonly messages: () => ChatMessage[];
  readonly parse: (text: string) => Parsed<Reply>;
  /** Checks that need the inspector; stores nothing, so that a repeated try can ask for the same error again. */
  readonly read: (reply: Reply) => Promise<Read<View>>;
  /** What a retry should know beyond the error, delimited; from the reply and the error. */
  readonly details?: (text: string) => Promise<string | null>;
}

export type Read<View> =
  | { readonly kind: 'ok'; readonly store: () => Promise<View> }
  | { readonly kind: 'invalid'; readonly error: string; readonly hint: string };

export async function runModelStep<Reply, View>(
  context: StepContext,
  step: ModelStep,
  task: RoleTask<Reply, View>,
): Promise<ModelOutcome<View>> {
  const { deps, run, signal, settings } = context;
  const request = modelRequest(context, task, await conversation(context, step, task));
  const called = await callOnce({
    run,
    position: step.position,
    tryNumber: step.tryNumber,
    request,
    model: deps.models(request.model),
    clock: deps.clock,
    hash: deps.hash,
    signal,
    flights: flightsOf(deps.store),
  });
  const read = await readReply(task, called.text);
  if (read.kind === 'invalid') {
    const left = settings.parseRetries - step.tryNumber;
    return { kind: 'invalid', error: `${read.error}${left > 0 ? '' : ' (no retry left)'}`, usage: called.usage };
  }
  return { kind: 'ok', value: await read.store(), usage: called.usage };
}

/** The id of what a try makes: the position, and the try when it is a later one. */
export function contentId(step: Pick<ModelStep, 'position' | 'tryNumber'>): string {
  return step.tryNumber === 0 ? step.position : `${step.position}.try${step.tryNumber}`;
}

function modelRequest<R, V>({ settings }: StepContext, task: RoleTask<R, V>, messages: ChatMessage[]): ModelRequest {
  return {
    role: task.role,
    model: settings.models[task.role] ?? settings.models.default,
    messages,
    temperature: settings.temperature,
    topP: settings.topP,
    maxOutputTokens: settings.maxOutputTokens,
    seed: settings.seed,
    schema: task.schema,
  };
}

async function conversation<R, V>(context: StepContext, step: ModelStep, task: RoleTask<R, V>): Promise<ChatMessage[]> {
  if (step.tryNumber === 0) return task.messages();
  const { run, settings } = context;
  const before = await journalled(run, step.position, step.tryNumber - 1, settings.seed);
  const { error, hint } = await failureOf(task, before.text, step.executionError);
  const details = (await task.details?.(`${before.text}\n${error}`)) ?? null;
  const maxTries = Math.max(settings.parseRetries, step.tryNumber);
  return [...before.intent.messages, ...retryMessages(before.text, error, hint, step.tryNumber, maxTries, details)];
}

async function failureOf<R, V>(
  task: RoleTask<R, V>,
  text: string,
  executionError: string | undefined,
): Promise<{ readonly error: string; readonly hint: string | null }> {
  if (executionError !== undefined)
    return { error: executionError, hint: 'the SQL did not run as written: mend its cause' };
  const read = await readReply(task, text);
  return read.kind === 'invalid' ? read : { error: 'the reply was not accepted', hint: null };
}

async function readReply<R, V>(task: RoleTask<R, V>, text: string): Promise<Read<V>> {
  const parsed = task.parse(text);
  return parsed.kind === 'invalid' ? parsed : task.read(parsed.reply);
}

/** Several problems as one error with its hint. */
export function invalid(problems: readonly string[], hint: string): Read<never> {
  const more = problems.length > 4 ? ` (and ${problems.length - 4} more)` : '';
  return { kind: 'invalid', error: problems.slice(0, 4).join('\n') + more, hint };
}
