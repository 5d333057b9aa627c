/**
 * What `gate fork` does: reads the checkpoint, names the new search by its parent and by what is different, and asks it like
 * any question, from that state on (design D4). The parent's workflow is not needed.
 */
import { randomBytes } from 'node:crypto';
import type { Config } from '../config';
import { resolveDatabase, type ResolvedDatabase } from '../config/databases';
import type { MethodSpec } from '../config/method-specs';
import type { SearchInput, SearchState, Settings } from '../domain';
import { presetOf } from '../domain/question';
import { looksLikeReasoning, MODEL_DEFAULTS, REACT_TOOL_CALLS, searchOf } from '../config/presets';
import { forkIdOf } from '../record/search-id';
import { clockAt } from '../sql/clock';
import { budgetsOf } from '../search/steering';
import type { Fork } from '../record/fork';
import { visible } from '../report/printable';
import { askAgain } from '../app/ask-again';
import { follow, withOpened } from './ask-run';
import { GateError, UsageError } from '../app/errors';
import type { ExitCode } from './exit';
import type { Io } from './io';
import { limitsOf, type LimitFlags, type ModelFlags } from './options';
import { checkpointsOf, findSearch, inputOf, openServices, type Services } from '../app/services';
import { authorOf, words } from './steer';

export interface ForkFlags extends LimitFlags {
  readonly at: number;
  readonly hint?: string;
  readonly author?: string;
  readonly db?: string;
  readonly model?: ModelFlags;
  /** One of GATE's own. */
  readonly method?: MethodSpec;
  readonly seed?: number;
  readonly iterations?: number;
  readonly detach?: boolean;
  readonly fresh?: boolean;
  readonly json?: boolean;
  readonly debug?: boolean;
}

export async function runFork(wanted: string, flags: ForkFlags, io: Io): Promise<ExitCode> {
  const hint = flags.hint === undefined ? null : { author: authorOf(flags, io), text: words(flags.hint, 'hint') };
  const services = openServices(io);
  const parentId = await findSearch(services.store, wanted);
  const parent = await inputOf(services.store, parentId);
  if (parent === null) throw new GateError(`${parentId} cannot be forked: the store no longer has its question`);
  const state = await checkpointAfter(services, parentId, flags.at);
  const database = databaseOf(services, parent, flags, io);
  const asked = { ...parent, question: { ...parent.question, database: database.name } };
  const input = forkedInput(asked, state, services.config, flags, hint, io.now());
  return ask(services, database, { fork: { state, input, hint, nowMs: io.now() }, parent }, flags, io);
}

async function ask(
  services: Services,
  database: ResolvedDatabase,
  { fork, parent }: { readonly fork: Fork; readonly parent: SearchInput },
  flags: ForkFlags,
  io: Io,
): Promise<ExitCode> {
  const { config, store } = services;
  const { input } = fork;
  return withOpened(config, database, {}, async ({ engines, composition }) => {
    // It begins at a checkpoint of its parent: what no longer holds there, no other fork mends.
    const again = await askAgain({ store, engines, inputFor: () => null, io }, input);
    if (again.kind === 'answer') {
      const { printAnswer } = await import('./print-answer');
      return printAnswer(services, again.record, io, { json: flags.json ?? false, ui: null });
    }
    if (!flags.detach || !flags.json)
      io.err(`${input.searchId}: fork of ${input.parent?.searchId ?? ''} after iteration ${flags.at}\n`);
    return follow({ services, engines, composition, database, input, files: {}, io, fork }, flags);
  });
}

async function checkpointAfter({ store }: Services, parentId: string, at: number): Promise<SearchState> {
  const checkpoints = await checkpointsOf(store, parentId);
  const found = checkpoints.find(({ next }) => next === at + 1);
  if (found !== undefined) return found.read();
  const after = checkpoints.map(({ next }) => next - 1).filter((iteration) => iteration > 0);
  const last = after.at(-1);
  throw new GateError(
    last === undefined
      ? `${parentId} has no checkpoint: it ended within its first iteration; ask the question again instead`
      : `${parentId} has no checkpoint after iteration ${at}; the last is after iteration ${last} (--at ${last})`,
  );
}

/** Its address is not kept: an SQLite file or a URL has to be given again. A fork goes on with the same database only. */
function databaseOf(
  { config }: Services,
  { question, identity, searchId }: SearchInput,
  flags: ForkFlags,
  io: Io,
): ResolvedDatabase {
  const { database } = question;
  if (flags.db === undefined && config.databases[database] === undefined)
    throw new UsageError(
      `its database ${database} is not configured here: add --db with the file or URL that was asked`,
    );
  const resolved = resolveDatabase(config, flags.db ?? database, io.cwd);
  if (resolved.identity === identity) return resolved;
  throw new UsageError(
    `${searchId} asked ${database}, and ${resolved.name} at ${visible(resolved.addressLabel)} is another database: a fork needs the same one (give it with --db; one that moved keeps its searches only under an "id" in the configuration)`,
  );
}

function forkedInput(
  parent: SearchInput,
  state: SearchState,
  config: Config,
  flags: ForkFlags,
  hint: Fork['hint'],
  nowMs: number,
): SearchInput {
  const settings = forkedSettings(parent.settings, state, config, flags);
  const from = { searchId: parent.searchId, iteration: flags.at };
  const nonce = flags.fresh ? randomBytes(8).toString('hex') : undefined;
  return {
    ...parent,
    searchId: forkIdOf({ ...from, settings, hint }, nonce),
    settings,
    ...(parent.clock === undefined ? {} : { clock: clockAt(nowMs) }),
    parent: { ...from, usage: { ...state.usage } },
  };
}

export function forkedSettings(
  before: Settings,
  state: SearchState,
  config: Pick<Config, 'models'>,
  flags: Omit<ForkFlags, 'at'> & { readonly at: number },
): Settings {
  const { method } = flags;
  if (method !== undefined && (presetOf(before.method) === null || presetOf(method.method) === null))
    throw new UsageError(
      `--method ${method.spec}: a search by ${before.method} goes on as it began; only one by fast, thorough or paper can go on by another of these`,
    );
  const { looking } = state;
  const given = Object.entries(flags.model ?? {}).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const models = { ...before.models, ...Object.fromEntries(given) };
  const made = method === undefined ? before : byMethod(before, method, looking !== undefined);
  const further = flags.iterations ?? searchOf(made.method, made.procedure !== undefined).iterations;
  const isAgent = before.method === 'react' || before.method === 'redel';
  return {
    ...made,
    models,
    ...(given.length === 0 ? {} : { maxOutputTokens: outputTokens(models, config) }),
    seed: flags.seed ?? before.seed,
    // After a conversation its turns are no iterations of the search (`src/search/look.ts`).
    iterations: flags.at + further - (made.procedure === undefined ? 0 : (looking?.turns.length ?? 0)),
    // The iterations of an agent are its tool calls.
    ...(isAgent ? { rounds: flags.at + (flags.iterations ?? REACT_TOOL_CALLS) } : {}),
    budgets: { ...budgetsOf(state, before), ...limitsOf(flags) },
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
