/** From the flags of `ask` to the search's input: question, settings, id. Everything wrong is said before work begins. */
import type { Config } from '../config';
import { resolveDatabase, type ResolvedDatabase } from '../config/databases';
import type { MethodSpec } from '../config/method-specs';
import type { Budgets, MemoryMode, MethodName, Question, SearchInput } from '../domain';
import { contextProblem, questionProblem, textProblem } from '../input-limits';
import { LOOKUPS, MODEL_DEFAULTS, settingsFor } from '../config/presets';
import type { Composition } from '../workers/composition';
import { searchIdOf } from '../record/search-id';
import { readDocumentation, type Documentation } from './documentation';
import { UsageError } from './errors';
import type { Surroundings } from './surroundings';

/** How to search, where it is not as configured. */
export interface SearchChoices {
  readonly method?: MethodSpec;
  readonly memory?: MemoryMode;
  /** A model for all roles (`default`), or for one. */
  readonly model?: Readonly<Record<string, string | undefined>>;
  readonly seed?: number;
  /** Null: no limit. */
  readonly budgets?: Partial<Budgets>;
}

export interface QuestionParts {
  readonly context?: string;
  readonly instructions?: string;
  /** false: no documentation, not even that of the configuration. */
  readonly docs?: readonly string[] | false;
  readonly output: Question['outputMode'];
  readonly web?: boolean;
}

/** What `--db` names, else the only database that is configured. */
export function askedDatabase(
  config: Config,
  { db }: { readonly db?: string },
  { cwd }: Pick<Surroundings, 'cwd'>,
): ResolvedDatabase {
  return resolveDatabase(config, db ?? onlyDatabase(config), cwd);
}

function onlyDatabase(config: Pick<Config, 'databases'>): string {
  const names = Object.keys(config.databases);
  const [only] = names;
  if (names.length === 1 && only !== undefined) return only;
  const known = names.length === 0 ? 'none is configured' : `configured: ${names.join(', ')}`;
  throw new UsageError(`which database? add --db with a name (${known}), an SQLite file, or postgresql://…`);
}

/** Throws before anything is opened when `--web` cannot be used. */
export function checkWeb(config: Pick<Config, 'web'>, flags: Pick<QuestionParts, 'web'>) {
  if (!flags.web) return;
  if (config.web === null)
    throw new UsageError('--web: no provider is configured; set web.provider in gate.config.json (docs/web.md)');
  if (config.web.fix !== null) throw new UsageError(`--web: ${config.web.provider} needs a key; ${config.web.fix}`);
}

export function toolsOf({ web }: Pick<QuestionParts, 'web'>): Question['tools'] {
  return web ? ['execute_sql', 'web_search', 'fetch_url'] : ['execute_sql'];
}

/** Shown before the model may send search terms to the provider. */
export function webNotice(config: Pick<Config, 'web'>, flags: Pick<QuestionParts, 'web'>): string | null {
  if (!flags.web || config.web === null) return null;
  return `this search may query the web through ${config.web.provider}; the model chooses the search terms`;
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

/** `configured`: the documentation of the database, in place of which `--docs` can be given. */
export function questionOf(
  text: string,
  database: string,
  flags: QuestionParts,
  cwd: string,
  configured: readonly string[] = [],
): Question {
  const context = flags.context?.trim() || null;
  const instructions = flags.instructions?.trim() || null;
  refuse(contextProblem(context, instructions));
  const { documents, notes } = documentationOf(flags.docs, cwd, configured);
  return {
    text,
    database,
    outputMode: flags.output,
    tools: toolsOf(flags),
    ...{ context, instructions },
    documents: [...documents],
    ...(notes.length === 0 ? {} : { notes: [...notes] }),
  };
}

export function documentationOf(
  docs: QuestionParts['docs'],
  cwd: string,
  configured: readonly string[],
): Documentation {
  if (docs === false) return { documents: [], notes: [] };
  if (docs !== undefined) return readDocumentation(docs, cwd);
  return readDocumentation(configured, cwd, 'docs of the configuration:');
}

/** Names of a recording or of a local Ollama. */
export function offeredModels({ model, ollamaModels }: Composition): readonly string[] {
  const recorded = 'models' in model && Array.isArray(model.models) ? (model.models as string[]) : [];
  return ollamaModels ?? recorded;
}

/** The models to use when none is configured: those of a recording, or of a local Ollama. */
export function modelsFor(
  config: Config,
  flags: SearchChoices,
  offered: readonly string[],
): SearchInput['settings']['models'] {
  const given = Object.fromEntries(
    Object.entries(flags.model ?? {}).filter(([, name]) => name !== undefined),
  ) as Record<string, string>;
  const fallback = offered[0];
  const name = given['default'] ?? config.models.default ?? fallback;
  if (name === undefined) throw new UsageError('no model is named: set GATE_MODEL, or give --model NAME');
  // Who judges answers is no part of how they are searched, so it is no part of a search's id.
  const { judge: _, ...roles } = config.models.roles;
  return { ...roles, ...given, default: name };
}

export function searchInput(
  config: Config,
  flags: SearchChoices,
  question: Question,
  options: {
    readonly models: SearchInput['settings']['models'];
    readonly namespace: string;
    readonly nonce?: string;
    /** Which database it is (`config/databases.ts`). */
    readonly identity: string;
    /** Where no flag says it. */
    readonly memory: MemoryMode;
    /** Of a lesson; default: the usual iterations. */
    readonly turns?: number;
  },
): SearchInput {
  const { temperature, topP, maxOutputTokens, reasoning } = config.models;
  const { spec, method, overrides } = methodOf(config, flags);
  const usual = settingsFor({ method, models: options.models, overrides });
  const cap = reasoning === true ? MODEL_DEFAULTS.reasoningOutputTokens : MODEL_DEFAULTS.maxOutputTokens;
  const settings = settingsFor({
    method,
    spec,
    models: options.models,
    overrides: {
      ...overrides,
      temperature: temperature ?? usual.temperature,
      topP: topP ?? usual.topP,
      maxOutputTokens: maxOutputTokens ?? (reasoning === null ? usual.maxOutputTokens : cap),
      seed: flags.seed ?? 0,
      budgets: { ...config.budgets, ...flags.budgets },
      ...lookupsOf(config, method, question),
      ...layerOf(method, flags, options.memory),
      ...(options.turns === undefined ? {} : { iterations: options.turns }),
      ...(config.showsValues ? {} : { profileValues: false as const }),
    },
  });
  const { namespace, nonce, identity } = options;
  const searchId = searchIdOf({ question, identity, settings, namespace }, nonce);
  return { searchId, namespace, question, identity, settings };
}

export function methodOf({ method }: Pick<Config, 'method'>, flags: Pick<SearchChoices, 'method'>): MethodSpec {
  return flags.method ?? method;
}

export const hasNoWeb = (method: MethodName): boolean => method === 'reforce';

/** Left out where none are allowed. */
function lookupsOf(config: Config, method: MethodName, { tools }: Question): { readonly lookups?: number } {
  const asksWeb = tools.some((tool) => tool !== 'execute_sql');
  if (asksWeb && hasNoWeb(method))
    throw new UsageError(`--web: method ${method} has no web, as its source; leave it out`);
  return asksWeb && isOwn(method) ? { lookups: config.web?.lookups ?? LOOKUPS } : {};
}

/** Left out where the layer is off. The baselines and `paper` know nothing of it. */
function layerOf(
  method: MethodName,
  { memory }: SearchChoices,
  otherwise: MemoryMode,
): { readonly layer?: 'read' | 'on' } {
  const hasNone = method === 'paper' || !(isOwn(method) || method === 'learn');
  if (hasNone && memory !== undefined && memory !== 'off')
    throw new UsageError(`--memory ${memory}: method ${method} has no memory; leave it out`);
  const mode = hasNone ? 'off' : (memory ?? otherwise);
  return mode === 'off' ? {} : { layer: mode };
}

function isOwn(method: MethodName): boolean {
  return method === 'fast' || method === 'thorough' || method === 'paper';
}
