/**
 * Runs a model step: builds the messages, makes the journalled call, parses and checks the reply. A later try repeats the
 * conversation of the try before, with its reply and the exact error (paper, App. B.4). Every try is charged. A reply that was
 * cut at the limit of output tokens is requested once more with the same messages and a larger limit, as the next try (D2);
 * later tries keep the larger limit.
 */
import type { Role } from '../../domain';
import { ModelError, type ChatMessage, type ModelRequest } from '../../domain/ports';
import { retryMessages, type Prompt } from './reply';
import type { ModelCall, ModelOutcome, ModelStepInput } from '../../domain/ports/step-parts';
import type { StepContext } from './context';
import { begun, callOnce, journalled, type Called } from '../../record/journal';
import { clip, oneLine } from '../../clip';
import { grouped } from '../../counted';

interface Options {
  /** Default: that of the settings. */
  readonly temperature?: number;
  /** More information for a retry, delimited. `text` is the reply with the error. */
  readonly details?: (text: string) => Promise<string | null>;
}

interface Task<View> extends Options {
  readonly role: Role;
  readonly schema: ModelRequest['schema'];
  readonly messages: () => ChatMessage[];
  readonly read: (text: string) => Read<View>;
}

/** A usable reply as what puts its contents, without asking anybody; else what is wrong with it. */
export type Read<View> = (() => Promise<View>) | Unusable;

interface Unusable {
  readonly kind: 'invalid';
  readonly error: string;
  readonly hint: string;
  readonly badSql?: true;
}

/** `read`: checks that need the inspector. It puts nothing itself, so that a repeated try gives the same error. */
export async function runModelStep<Input, Reply, View>(
  context: StepContext,
  step: ModelCall,
  { schema, render, parse }: Prompt<Input, Reply>,
  input: Input,
  read: (reply: Reply) => Read<View>,
  options: Options = {},
): Promise<ModelOutcome<View>> {
  const task: Task<View> = {
    ...{ ...options, role: step.role, schema: schema(input), messages: () => render(input) },
    read: (text) => {
      const parsed = parse(text, input);
      return parsed.kind === 'invalid' ? parsed : read(parsed.reply);
    },
  };
  const { called, outcome } = await ask(context, step, task, await conversation(context, step, task));
  return { ...outcome, usage: called.usage };
}

/** What is stored with the reply. */
type Settled<View> =
  { readonly kind: 'ok'; readonly value: View } | Omit<Extract<ModelOutcome<View>, { kind: 'invalid' }>, 'usage'>;

async function settle<View>(
  context: StepContext,
  step: ModelStepInput,
  task: Task<View>,
  called: Called,
  limit: number,
): Promise<Settled<View>> {
  const read = task.read(called.text);
  if (typeof read === 'function') return { kind: 'ok', value: await read() };
  const left = context.settings.parseRetries - step.tryNumber;
  return {
    kind: 'invalid',
    error: `${read.error}${left > 0 ? '' : ' (no retry left)'}`,
    cause: causeOf(called, limit, read.error),
    reply: called.id,
    ...(read.badSql && { badSql: true }),
  };
}

/** What a try sends. */
interface Conversation {
  readonly messages: ChatMessage[];
  /** The limit of output tokens. */
  readonly limit: number;
  /** The conversation to use if the endpoint refuses the larger limit; it bills nothing for a refusal. */
  readonly instead?: () => Promise<Conversation>;
}

async function ask<View>(
  context: StepContext,
  step: ModelStepInput,
  task: Task<View>,
  { messages, limit, instead }: Conversation,
): Promise<{ readonly called: Called; readonly outcome: Settled<View> }> {
  const { deps, run, settings, signal } = context;
  const request: ModelRequest = {
    role: task.role,
    model: settings.models[task.role] ?? settings.models.default,
    messages,
    temperature: task.temperature ?? settings.temperature,
    topP: settings.topP,
    maxOutputTokens: limit,
    seed: seedOf(context, step),
    schema: task.schema,
  };
  try {
    const { called, outcome } = await callOnce({
      ...{ store: deps.store, run, position: step.position, tryNumber: step.tryNumber, request, signal },
      ...{ model: deps.models(request.model), clock: deps.clock, onHit: deps.onJournalHit },
      settle: (reply) => settle(context, step, task, reply, limit),
    });
    return { called, outcome: outcome as Settled<View> };
  } catch (error) {
    if (instead === undefined || !(error instanceof ModelError) || error.code !== 'bad-request') throw error;
    return ask(context, step, task, await instead());
  }
}

/** The id of contents that a try makes: the position, and for later tries their number. */
export function contentId(step: Pick<ModelStepInput, 'position' | 'tryNumber'>): string {
  return step.tryNumber === 0 ? step.position : `${step.position}.try${step.tryNumber}`;
}

function seedOf({ settings }: StepContext, { seedShift = 0 }: ModelStepInput): number {
  return settings.seed + seedShift;
}

async function conversation(context: StepContext, step: ModelStepInput, task: Task<unknown>): Promise<Conversation> {
  const { deps, run, settings } = context;
  if (step.tryNumber === 0) return { messages: task.messages(), limit: settings.maxOutputTokens };
  const seed = seedOf(context, step);
  const before = await journalled(run, step.position, step.tryNumber - 1, seed);
  const limit = before.intent.maxOutputTokens;
  const failure = failureOf(task, before.text, step.executionError);
  const wasCut = isCut(before) && !failure.ran;
  const started = await begun(run, step.position, step.tryNumber, seed);
  const { text, error, hint } = wasCut ? cutFailure(before.text, limit) : { ...failure, text: before.text };
  const repeated = async (): Promise<Conversation> => {
    const details = (await task.details?.(`${before.text}\n${error}`)) ?? null;
    const maxTries = Math.max(settings.parseRetries, step.tryNumber);
    const more = retryMessages(text, error, hint, step.tryNumber, maxTries, details);
    return { messages: [...before.intent.messages, ...more], limit };
  };
  const room = wasCut && limit === settings.maxOutputTokens ? moreRoom(limit, deps.outputCeiling) : limit;
  if (room === limit || (started !== null && started.maxOutputTokens !== room)) return repeated();
  return { messages: before.intent.messages, limit: room, instead: repeated };
}

function failureOf(
  task: Task<unknown>,
  text: string,
  executionError: string | undefined,
): { readonly error: string; readonly hint: string | null; readonly ran: boolean } {
  if (executionError !== undefined)
    return { error: executionError, hint: 'the SQL did not run as written: mend its cause', ran: true };
  const read = task.read(text);
  return typeof read === 'function'
    ? { error: 'the reply was not accepted', hint: null, ran: true }
    : { ...read, ran: false };
}

/** Several problems as one error with its hint. */
export function invalid(problems: readonly string[], hint: string): Unusable {
  const more = problems.length > 4 ? ` (and ${problems.length - 4} more)` : '';
  return { kind: 'invalid', error: problems.slice(0, 4).join('\n') + more, hint };
}

/** The factor by which the limit is raised after a cut reply. */
const MORE = 4;
/** The most room that a cut reply gets, unless the configuration says otherwise. */
const LARGEST_OUTPUT_TOKENS = 32_768;
const CAUSE_CHARS = 300;
/** How many characters of a cut reply a later try shows. */
const SEEN_CHARS = 2_000;

/** The limit after a cut reply; unchanged if it may not be raised. `ceiling` null: up to the largest. */
export function moreRoom(limit: number, ceiling: number | null | undefined): number {
  return Math.max(limit, Math.min(limit * MORE, ceiling ?? LARGEST_OUTPUT_TOKENS));
}

export function isCut({ finishReason }: Pick<Called, 'finishReason'>): boolean {
  return finishReason === 'length';
}

/** The failure of a cut reply, for the model: error, hint, and the part of the reply that the next try shows. */
export function cutFailure(text: string, limit: number) {
  return {
    text: text.length > SEEN_CHARS ? `${clip(text, SEEN_CHARS)}…` : text,
    error: `the reply was cut at the limit of ${limit} tokens`,
    hint: 'say the same in fewer words: short texts, no repetition, only what the reply needs',
  };
}

/** The cause in one line, with what to change. `error` is the parser's. */
export function causeOf(called: Called, limit: number, error: string): string {
  const { finishReason, text, usage } = called;
  if (isCut(called)) {
    const tokens = usage.completionTokens ?? 0;
    // The endpoint may cut earlier, if its context is full.
    return tokens < limit / 2 && text.trim() !== ''
      ? `the reply was cut at ${grouped(tokens)} tokens, below the limit of ${grouped(limit)}: the endpoint has a limit of its own, such as its context length`
      : `the reply was cut at ${grouped(limit)} tokens: raise models.maxOutputTokens`;
  }
  if (finishReason === 'content_filter') return 'the endpoint withheld the reply (content filter)';
  if (finishReason === 'refusal') return oneLine(`the model refused: ${text}`, CAUSE_CHARS);
  if (text.trim() === '') return `the reply was empty (finish reason ${oneLine(finishReason, CAUSE_CHARS)})`;
  return oneLine(error, CAUSE_CHARS);
}
