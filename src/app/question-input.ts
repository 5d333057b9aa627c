/** From the flags of `ask` to the search's input: question, settings, id. Everything wrong is said before work begins. */
import type { Config } from '../config';
import { resolveDatabase, type ResolvedDatabase } from '../config/databases';
import type { MethodSpec } from '../config/method-specs';
import { presetOf, type Budgets, type MemoryMode, type MethodName, type Question, type SearchInput } from '../domain';
import { contextProblem, questionProblem, textProblem } from '../input-limits';
import { LOOKUPS, MODEL_DEFAULTS, settingsFor, type Overrides } from '../config/presets';
import type { Composition } from '../workers/composition';
import { searchIdOf } from '../record/search-id';
import { visible } from '../report/printable';
import { UsageError } from './errors';
import type { Surroundings } from './surroundings';

/** How to search, where it is not as configured. */
export interface SearchChoices {
  readonly method?: MethodSpec;
  readonly memory?: MemoryMode;
  /** A model for all roles (`default`), or for one. */
  readonly model?: Readonly<Record<string, string>>;
  readonly seed?: number;
  /** Null: no limit. */
  readonly budgets?: Partial<Budgets>;
}

export interface QuestionParts {
  readonly context?: string | null;
  readonly instructions?: string | null;
  /** false: no documentation, not even that of the configuration. */
  readonly docs?: readonly string[] | false;
  readonly output: Question['outputMode'];
  readonly web?: boolean;
  /** The search that it follows. */
  readonly after?: string;
}

/** What `--db` names, else the only database that is configured. */
export function askedDatabase(
  config: Config,
  { db }: { readonly db?: string },
  { cwd }: Pick<Surroundings, 'cwd'>,
): ResolvedDatabase {
  const names = Object.keys(config.databases);
  const asked = db ?? (names.length === 1 ? names[0] : undefined);
  if (asked !== undefined) return resolveDatabase(config, asked, cwd);
  const known = names.length === 0 ? 'none is configured' : `configured: ${names.join(', ')}`;
  throw new UsageError(
    `which database? add --db with a name (${known}), a file (SQLite, DuckDB, CSV, Parquet, JSON), a folder of data files, or a URL`,
  );
}

/** The database of an earlier search, whose address is not kept: a file or a URL has to be given again. `what` goes on from it. */
export function sameDatabase(
  { question: { database }, identity, searchId }: SearchInput,
  { db }: { readonly db?: string },
  { config, cwd }: { readonly config: Config; readonly cwd: string },
  what: string,
): ResolvedDatabase {
  if (db === undefined && config.databases[database] === undefined)
    throw new UsageError(
      `its database ${database} is not configured here: add --db with the file or URL that was asked`,
    );
  const resolved = resolveDatabase(config, db ?? database, cwd);
  if (resolved.identity === identity) return resolved;
  throw new UsageError(
    `${searchId} asked ${database}, and ${resolved.name} at ${visible(resolved.addressLabel)} is another database: ${what} needs the same one (give it with --db; one that moved keeps its searches only under an "id" in the configuration)`,
  );
}

/** Throws before anything is opened when `--web` cannot be used. */
export function checkWeb({ web }: Pick<Config, 'web'>, flags: Pick<QuestionParts, 'web'>): void {
  if (!flags.web) return;
  if (web === null)
    throw new UsageError('--web: no provider is configured; set web.provider in gate.config.json (docs/web.md)');
  if (web.fix !== null) throw new UsageError(`--web: ${web.provider} needs a key; ${web.fix}`);
}

export function toolsOf({ web }: Pick<QuestionParts, 'web'>): Question['tools'] {
  return web ? ['execute_sql', 'web_search', 'fetch_url'] : ['execute_sql'];
}

/** Shown before the model may send search terms to the provider. */
export function webNotice({ web }: Pick<Config, 'web'>, flags: Pick<QuestionParts, 'web'>): string | null {
  return flags.web && web !== null
    ? `this search may query the web through ${web.provider}; the model chooses the search terms`
    : null;
}

export function questionText(given: string, what: 'question' | 'query' = 'question'): string {
  const text = given.trim();
  if (text === '')
    throw new UsageError(`the ${what} is empty; write it in quotes, or give - to read it from standard input`);
  refuse(what === 'question' ? questionProblem(text) : textProblem(what, text));
  return text;
}

const SAID_CHARS = 2_000;

/** The words of a person to a search or to the layer, trimmed. */
export function words(text: string, what: string): string {
  const trimmed = text.trim();
  if (trimmed === '') throw new UsageError(`the ${what} is empty; write it in quotes`);
  if (trimmed.length > SAID_CHARS)
    throw new UsageError(`the ${what} has ${trimmed.length} characters; say it in ${SAID_CHARS}`);
  refuse(textProblem(what, trimmed));
  return trimmed;
}

function refuse(problem: string | null): void {
  if (problem !== null) throw new UsageError(problem);
}

export async function questionOf(
  text: string,
  { name, docs }: Pick<ResolvedDatabase, 'name' | 'docs'>,
  flags: QuestionParts,
  cwd: string,
): Promise<Question> {
  const context = flags.context?.trim() || null;
  const instructions = flags.instructions?.trim() || null;
  refuse(contextProblem(context, instructions));
  // Its readers are loaded where there is something to read.
  const isNone = flags.docs === false || (flags.docs ?? docs).length === 0;
  const { documents, notes } = isNone
    ? { documents: [], notes: [] }
    : (await import('./documentation')).documentationOf(flags.docs, cwd, docs);
  return {
    text,
    database: name,
    outputMode: flags.output,
    tools: toolsOf(flags),
    context,
    instructions,
    documents: [...documents],
    ...(notes.length > 0 && { notes: [...notes] }),
    ...(flags.after !== undefined && { after: flags.after }),
  };
}

/** What binds the earlier question binds the one that follows it, unless other words are given. */
export function following(
  { searchId, question }: SearchInput,
  { context, instructions }: Pick<QuestionParts, 'context' | 'instructions'>,
) {
  return {
    context: context ?? question.context,
    instructions: instructions ?? question.instructions,
    after: searchId,
  };
}

/** Names of a recording or of a local Ollama. */
export function offeredModels({ model, ollamaModels }: Composition): readonly string[] {
  return ollamaModels ?? model.models ?? [];
}

/** `offered`: the models to use when none is configured. */
export function modelsFor(
  { models: { default: configured, roles } }: Pick<Config, 'models'>,
  { model = {} }: SearchChoices,
  offered: readonly string[],
): SearchInput['settings']['models'] {
  const name = model['default'] ?? configured ?? offered[0];
  if (name === undefined) throw new UsageError('no model is named: set GATE_MODEL, or give --model NAME');
  // Who judges answers is no part of how they are searched, so it is no part of a search's id.
  const { judge: _, ...searching } = roles;
  return { ...searching, ...model, default: name };
}

export interface NamedSearch {
  readonly models: SearchInput['settings']['models'];
  readonly namespace: string;
  readonly nonce?: string;
  /** Which database it is (`config/databases.ts`). */
  readonly identity: string;
  /** Where no flag says it. */
  readonly memory: MemoryMode;
}

export function searchInput(
  config: Config,
  flags: SearchChoices,
  question: Question,
  { models, namespace, nonce, identity, memory }: NamedSearch,
): SearchInput {
  const { temperature, topP, reasoning } = config.models;
  const { spec, method, overrides } = flags.method ?? config.method;
  const cap = reasoning === true ? MODEL_DEFAULTS.reasoningOutputTokens : MODEL_DEFAULTS.maxOutputTokens;
  const maxOutputTokens = config.models.maxOutputTokens ?? (reasoning === null ? null : cap);
  const settings = settingsFor({
    method,
    spec,
    models,
    overrides: {
      ...overrides,
      ...(temperature !== null && { temperature }),
      ...(topP !== null && { topP }),
      ...(maxOutputTokens !== null && { maxOutputTokens }),
      seed: flags.seed ?? 0,
      budgets: { ...config.budgets, ...flags.budgets },
      ...lookupsOf(config, method, question),
      ...layerOf(method, flags, memory),
      ...(!config.showsValues && { profileValues: false as const }),
    },
  });
  if (question.after !== undefined && settings.procedure === undefined)
    throw new UsageError(
      `only the method fast, without --web, answers a question that follows another (--after); ${spec} knows no earlier ones`,
    );
  const searchId = searchIdOf({ question, identity, settings, namespace }, nonce);
  return { searchId, namespace, question, identity, settings };
}

export const hasNoWeb = (method: MethodName): boolean => method === 'reforce';

/** Left out where none are allowed. */
function lookupsOf({ web }: Config, method: MethodName, { tools }: Question): Pick<Overrides, 'lookups'> {
  if (!tools.includes('web_search')) return {};
  if (hasNoWeb(method)) throw new UsageError(`--web: method ${method} has no web, as its source; leave it out`);
  return presetOf(method) === null ? {} : { lookups: web?.lookups ?? LOOKUPS };
}

/** Left out where the layer is off. The baselines and `paper` know nothing of it. */
function layerOf(method: MethodName, { memory }: SearchChoices, otherwise: MemoryMode): Pick<Overrides, 'layer'> {
  const hasNone = method === 'paper' || (presetOf(method) === null && method !== 'learn');
  if (hasNone && memory !== undefined && memory !== 'off')
    throw new UsageError(`--memory ${memory}: method ${method} has no memory; leave it out`);
  const mode = hasNone ? 'off' : (memory ?? otherwise);
  return mode === 'off' ? {} : { layer: mode };
}
