/**
 * A fork reads a checkpoint of another search, names the new one by its parent and by what is different, and asks it like any
 * question, from that state on (design D4). The parent's workflow is not needed.
 */
import { randomBytes } from 'node:crypto';
import type { Config } from '../config';
import type { MethodSpec } from '../config/method-specs';
import type { SearchInput, SearchState, Settings } from '../domain';
import { presetOf } from '../domain/question';
import { looksLikeReasoning, MODEL_DEFAULTS, REACT_TOOL_CALLS, searchOf } from '../config/presets';
import { forkIdOf } from '../record/search-id';
import { clockAt } from '../sql/clock';
import { budgetsOf } from '../search/steering';
import { note, type App, type Asked, type ServedBy } from './app';
import { serve, withOpened } from './ask';
import { askAgain } from './ask-again';
import { GateError, UsageError } from './errors';
import { sameDatabase, words, type SearchChoices } from './question-input';
import { told } from './rows';
import { findSearch } from './searches';
import { checkpointsOf, inputOf } from './services';

export interface ForkRequest extends Omit<SearchChoices, 'memory'> {
  /** The state after this iteration of its parent. */
  readonly at: number;
  readonly hint?: { readonly author: string; readonly text: string };
  /** Where the parent's database is, if it is not configured. */
  readonly db?: string;
  /** At most this many further iterations. */
  readonly iterations?: number;
  readonly fresh?: boolean;
}

/** `wanted`: the parent, by its id, the beginning of it, or `last`. */
export async function fork(wanted: string, request: ForkRequest, app: App, servedBy: ServedBy): Promise<Asked> {
  const { store } = app;
  const hint = request.hint === undefined ? null : { ...request.hint, text: words(request.hint.text, 'hint') };
  const parentId = await findSearch(store, wanted);
  const parent = await inputOf(store, parentId);
  if (parent === null) throw new GateError(`${parentId} cannot be forked: the store no longer has its question`);
  if (parent.question.after !== undefined && request.method?.method === 'paper')
    throw new UsageError(`--method paper: ${parentId} follows another question, and paper knows no earlier ones`);
  const state = await checkpointAfter(app, parentId, request.at);
  const database = sameDatabase(parent, request, app, 'a fork');
  const asked = { ...parent, question: { ...parent.question, database: database.name } };
  const from = { searchId: parentId, iteration: request.at };
  const settings = forkedSettings(parent.settings, state, app.config, request);
  const nonce = request.fresh ? randomBytes(8).toString('hex') : undefined;
  const input: SearchInput = {
    ...asked,
    searchId: forkIdOf({ ...from, settings, hint }, nonce),
    settings,
    ...(parent.clock !== undefined && { clock: clockAt(app.now()) }),
    parent: { ...from, usage: { ...state.usage } },
  };
  return withOpened(app, database, {}, async (opened) => {
    const asking = { app, ...opened, database, input, files: {}, fork: { state, input, hint, nowMs: app.now() } };
    // It begins at a checkpoint of its parent: what no longer holds there, no other fork mends.
    const again = await askAgain({ app, engines: opened.engines, inputFor: () => null }, input);
    if (again.kind === 'answer') return told(asking, { record: again.record, ui: null });
    note(app, `${input.searchId}: fork of ${parentId} after iteration ${request.at}`);
    return serve(asking, servedBy);
  });
}

async function checkpointAfter({ store }: App, parentId: string, at: number): Promise<SearchState> {
  const checkpoints = await checkpointsOf(store, parentId);
  const found = checkpoints.find(({ iteration }) => iteration === at + 1);
  if (found !== undefined) return found;
  const last = (checkpoints.at(-1)?.iteration ?? 1) - 1;
  throw new GateError(
    last < 1
      ? `${parentId} has no checkpoint: it ended within its first iteration; ask the question again instead`
      : `${parentId} has no checkpoint after iteration ${at}; the last is after iteration ${last} (--at ${last})`,
  );
}

export function forkedSettings(
  before: Settings,
  state: SearchState,
  config: Pick<Config, 'models'>,
  request: ForkRequest,
): Settings {
  const { method } = request;
  if (method !== undefined && (presetOf(before.method) === null || presetOf(method.method) === null))
    throw new UsageError(
      `--method ${method.spec}: a search by ${before.method} goes on as it began; only one by fast, thorough or paper can go on by another of these`,
    );
  const { looking } = state;
  const models = { ...before.models, ...request.model };
  const made = method === undefined ? before : byMethod(before, method, looking !== undefined);
  const further = request.iterations ?? searchOf(made.method, made.procedure !== undefined).iterations;
  const isAgent = before.method === 'react' || before.method === 'redel';
  return {
    ...made,
    models,
    ...(request.model !== undefined && { maxOutputTokens: outputTokens(models, config) }),
    seed: request.seed ?? before.seed,
    // After a conversation its turns are no iterations of the search (`src/search/look.ts`).
    iterations: request.at + further - (made.procedure === undefined ? 0 : (looking?.turns.length ?? 0)),
    // The iterations of an agent are its tool calls.
    ...(isAgent && { rounds: request.at + (request.iterations ?? REACT_TOOL_CALLS) }),
    budgets: { ...budgetsOf(state, before), ...request.budgets },
  };
}

/** `looks`: it began with a conversation; one that did not gets none. `paper` knows nothing of the layer (docs/layer.md). */
function byMethod(before: Settings, { spec, method, overrides }: MethodSpec, looks: boolean): Settings {
  const { procedure: _, secondDerivation: __, without: ___, layer, ...others } = before;
  return {
    ...others,
    ...(layer !== undefined && method !== 'paper' && { layer }),
    ...searchOf(method, looks),
    ...(overrides.without && { without: overrides.without }),
    method,
    spec,
  };
}

function outputTokens(models: Settings['models'], { models: configured }: Pick<Config, 'models'>): number {
  const reasons = configured.reasoning ?? Object.values(models).some(looksLikeReasoning);
  const usual = reasons ? MODEL_DEFAULTS.reasoningOutputTokens : MODEL_DEFAULTS.maxOutputTokens;
  return configured.maxOutputTokens ?? usual;
}
