/**
 * The settings that each method has, and how they, the configuration and the flags become one `Settings` value (part of the
 * search id, D4). `paper` repeats the paper's procedure; `fast` and `thorough` are ours. Iterations, attempts, cMin, cMax and
 * frontier are not given by the paper: they are ours in every method and marked so wherever they are shown.
 */
import type { Budgets, MethodName, PresetName, Redel, ReforceSettings, Settings } from '../domain';

type Search = Pick<
  Settings,
  | 'procedure'
  | 'iterations'
  | 'attempts'
  | 'rounds'
  | 'cMin'
  | 'cMax'
  | 'frontier'
  | 'maxPlans'
  | 'secondDerivation'
  | 'breadth'
  | 'proof'
  | 'exploration'
  | 'profiles'
  | 'materiality'
  | 'planCarriesTests'
  | 'followOn'
>;

/** The search of questions that have no conversation, such as those with the web, and what the baselines share with it. */
export const WITHOUT_LOOKING: Search = {
  iterations: 6,
  attempts: 2,
  rounds: 1,
  cMin: 2,
  cMax: 4,
  frontier: 8,
  maxPlans: 3,
  breadth: 4,
  proof: 'execution',
  exploration: 'code',
  profiles: true,
  materiality: true,
  planCarriesTests: true,
  followOn: true,
};

const thorough: Search = {
  ...WITHOUT_LOOKING,
  ...{ iterations: 12, attempts: 3, cMin: 3, cMax: 6, maxPlans: 6, breadth: 2 },
  secondDerivation: 'when-doubtful',
};

/** `fast` looks and proves first (`Settings.procedure`). Where doubt remains it is the search of `thorough`. */
export const PRESETS: Readonly<Record<PresetName, Search>> = {
  fast: { ...thorough, procedure: 'look-then-prove' },
  thorough,
  paper: {
    iterations: 6,
    attempts: 3,
    rounds: 6,
    cMin: 2,
    cMax: 4,
    frontier: 8,
    maxPlans: 4,
    breadth: 1,
    proof: 'model',
    exploration: 'model',
    profiles: false,
    materiality: false,
    planCarriesTests: false,
    followOn: false,
  },
};

/** `looks`: the question may begin with a conversation; a lookup on the web belongs to a plan, so one with the web may not. */
export function searchOf(method: MethodName, looks: boolean): Search {
  return method in PRESETS && (looks || method !== 'fast') ? PRESETS[method as PresetName] : WITHOUT_LOOKING;
}

/** The agents have no attempts; their rounds are their budget of tool calls. */
export const REACT_TOOL_CALLS = 20;

/** Queries that one action may run together: the most of `react`, and what one of ReDel's rounds has. */
export const MAX_QUERIES_PER_ACTION = 8;

/** Whose figures a baseline has: those of its authors' code, or those of the paper that compares with it. */
export type Figures = 'official' | 'seed';
export const DEFAULT_FIGURES: Figures = 'official';

/**
 * What the agents of ReDel may have. Levels are the paper's and upstream's, and so are upstream's calls of a helper; the other
 * numbers are ours.
 */
const REDEL: Readonly<Record<Figures, Redel>> = {
  official: { figures: 'official', depth: 8, children: 8, childCalls: 5 },
  seed: { figures: 'seed', depth: 1, children: 4, childCalls: 5, allCalls: 30 },
};

const REFORCE_OFFICIAL: ReforceSettings = {
  votes: 8,
  attempts: 5,
  explore: 'unresolved',
  format: false,
  consistency: false,
  choose: 'first',
  linkBytes: 200_000,
};

const REFORCE: Readonly<Record<Figures, ReforceSettings>> = {
  official: REFORCE_OFFICIAL,
  seed: { ...REFORCE_OFFICIAL, votes: 1, explore: 'always', format: true },
};

/** Of a question that may ask the web, by `fast`, `thorough` or `paper`, unless `web.lookups` says otherwise. Ours. */
export const LOOKUPS = 8;

/** On by default, so that no question can run up a bill unseen; `null` switches it off. */
export const DEFAULT_COST_CEILING_USD = 1;

export const DEFAULT_BUDGETS: Budgets = {
  llmCalls: null,
  tokens: null,
  costUsd: DEFAULT_COST_CEILING_USD,
  wallMs: null,
  sqlExecutions: null,
  sqlMs: null,
  sqlRows: null,
  sqlBytes: null,
};

/** The sampling and output settings of the paper; a reasoning model gets the larger cap. */
export const MODEL_DEFAULTS = { temperature: 0.2, topP: 0.95, maxOutputTokens: 4096, reasoningOutputTokens: 16_384 };

const REASONING = /^(o[1-9]|gpt-[5-9]|deepseek-r|qwq|magistral|grok-[34]-mini)|reason|thinking/i;

/** By the model's name (provider prefixes aside); `models.reasoning` of the configuration overrules it. */
export function looksLikeReasoning(model: string): boolean {
  return REASONING.test(model.split('/').at(-1) ?? model);
}

export interface SettingsInput {
  readonly method: MethodName;
  /** The method with its settings, as `--method` takes it; default: the method alone. */
  readonly spec?: string;
  readonly models: Settings['models'];
  readonly overrides?: Overrides;
}

export type Overrides = Partial<Omit<Settings, 'method' | 'spec' | 'models' | 'reforce' | 'redel'>> & {
  readonly figures?: Figures;
  readonly reforce?: Partial<ReforceSettings>;
  readonly redel?: Partial<Redel>;
};

export function settingsFor({ method, spec = method, models, overrides = {} }: SettingsInput): Settings {
  const { figures = DEFAULT_FIGURES, reforce, redel, ...others } = overrides;
  const search = searchOf(method, others.lookups === undefined);
  const reasons = Object.values(models).some(looksLikeReasoning);
  return {
    method,
    spec,
    models,
    // Votes at a low temperature would repeat each other; upstream's has 1.
    temperature: method === 'reforce' && figures === 'official' ? 1 : MODEL_DEFAULTS.temperature,
    topP: MODEL_DEFAULTS.topP,
    maxOutputTokens: reasons ? MODEL_DEFAULTS.reasoningOutputTokens : MODEL_DEFAULTS.maxOutputTokens,
    seed: 0,
    ...search,
    rounds: method === 'react' || method === 'redel' ? REACT_TOOL_CALLS : search.rounds,
    // ReFoRCE is shown the schema as it compresses it.
    ...(method === 'reforce' && { profiles: false, reforce: { ...REFORCE[figures], ...reforce } }),
    ...(method === 'redel' && { redel: { ...REDEL[figures], ...redel } }),
    // The calls of one round of ReDel run together.
    ...(method === 'redel' && figures === 'official' && { queriesPerAction: MAX_QUERIES_PER_ACTION }),
    parseRetries: 3,
    sqlTimeoutMs: 25_000,
    maxRows: 10_000,
    csvChars: 8_000,
    budgets: DEFAULT_BUDGETS,
    ...others,
  };
}
