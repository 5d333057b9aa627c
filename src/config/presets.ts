/**
 * The presets and how they, the configuration and the flags become one `Settings` value (part of the search id, D4).
 * `paper` repeats the paper's procedure; `fast` and `thorough` are ours. Iterations, attempts, cMin, cMax and frontier
 * are not given by the paper: they are ours in every preset and marked so wherever they are shown.
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

/** Preset `fast` before it began with a conversation. Still that of questions that have none: `react`, and with the web. */
const withoutLooking: Search = {
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
  ...withoutLooking,
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

export const DEFAULT_PRESET: PresetName = 'fast';

/** The agents have no attempts; their rounds are their budget of tool calls. */
export const REACT_TOOL_CALLS = 20;

/** Of `react-repeated`: the paper's. */
export const REACT_RUNS = 6;

/** Whether the agent of `react` does the work. */
export function isReact(method: MethodName): boolean {
  return method === 'react' || method === 'react-repeated';
}

const REFORCE: ReforceSettings = {
  ...{ votes: 8, attempts: 5, explore: 'unresolved', format: false, consistency: false },
  ...{ choose: 'first', linkBytes: 200_000 },
};

/** What the names `reforce-…` mean, where nothing else is said (docs/methods/reforce-official-v5.md says whose each value is). */
export const REFORCE_SETTINGS = {
  'reforce-seed': { ...REFORCE, votes: 1, explore: 'always', format: true },
  'reforce-official-v5': REFORCE,
} as const satisfies Readonly<Partial<Record<MethodName, ReforceSettings>>>;

/** Votes at a low temperature would repeat each other; upstream's has 1. */
const TEMPERATURES: Readonly<Partial<Record<MethodName, number>>> = { 'reforce-official-v5': 1 };

export function temperatureOf(method: MethodName): number {
  return TEMPERATURES[method] ?? MODEL_DEFAULTS.temperature;
}

/** Of `react`; the paper's agent runs one. */
export const MAX_QUERIES_PER_ACTION = 8;

/**
 * What the agents of the methods redel-… may have. Levels are the paper's and upstream's, and so are upstream's calls of a
 * helper; the other numbers are ours.
 */
export const REDEL = {
  'redel-seed': { depth: 1, children: 4, childCalls: 5, allCalls: 30 },
  'redel-upstream': { depth: 8, children: 8, childCalls: 5 },
} satisfies Partial<Record<MethodName, Redel>>;

/** Of a question that may ask the web, by any method but `react`, unless `web.lookups` says otherwise. Ours. */
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
  readonly preset: PresetName;
  readonly models: Settings['models'];
  readonly overrides?: Partial<Omit<Settings, 'schemaVersion' | 'method' | 'preset' | 'models' | 'reforce'>> & {
    readonly reforce?: Partial<ReforceSettings>;
  };
}

export function settingsFor(input: SettingsInput): Settings {
  const search = startsLooking(input) || input.preset !== 'fast' ? PRESETS[input.preset] : withoutLooking;
  const models = Object.values(input.models);
  const reforce = (REFORCE_SETTINGS as Readonly<Partial<Record<MethodName, ReforceSettings>>>)[input.method];
  const { reforce: reforceOverrides, ...overrides } = input.overrides ?? {};
  return {
    schemaVersion: 1,
    method: input.method,
    preset: input.preset,
    models: input.models,
    temperature: temperatureOf(input.method),
    topP: MODEL_DEFAULTS.topP,
    maxOutputTokens: models.some(looksLikeReasoning)
      ? MODEL_DEFAULTS.reasoningOutputTokens
      : MODEL_DEFAULTS.maxOutputTokens,
    seed: 0,
    ...search,
    rounds: isReact(input.method) || input.method in REDEL ? REACT_TOOL_CALLS : search.rounds,
    ...(input.method === 'react-repeated' ? { repeated: { runs: REACT_RUNS } } : {}),
    // ReFoRCE is shown the schema as it compresses it.
    ...(reforce === undefined ? {} : { profiles: false }),
    memoryScope: 'question',
    parseRetries: 3,
    sqlTimeoutMs: 25_000,
    maxRows: 10_000,
    csvChars: 8_000,
    budgets: DEFAULT_BUDGETS,
    ...overrides,
    ...redelOf(input),
    ...(reforce === undefined ? {} : { reforce: { ...reforce, ...reforceOverrides } }),
  };
}

function redelOf({ method, overrides }: SettingsInput): Pick<Settings, 'redel' | 'queriesPerAction'> {
  if (method === 'redel-seed') return { redel: { ...REDEL[method], ...overrides?.redel } };
  if (method !== 'redel-upstream') return {};
  // The calls of one round of ReDel run together.
  return { redel: { ...REDEL[method], ...overrides?.redel }, queriesPerAction: MAX_QUERIES_PER_ACTION };
}

/** A lookup on the web belongs to a plan, so a question that allows the web begins with the search. */
function startsLooking({ method, preset, overrides }: SettingsInput): boolean {
  return method === 'gate' && PRESETS[preset].procedure !== undefined && overrides?.lookups === undefined;
}

/** What its preset means for settings that exist; those of `fast` that do not look are from before, or may ask the web. */
export function presetOf({ preset, procedure }: Pick<Settings, 'preset' | 'procedure'>): Search {
  return preset === 'fast' && procedure === undefined ? withoutLooking : PRESETS[preset];
}

/** Those of `fast` that look, as they were before there was `procedure`; null: they do not look. */
export function settingsBeforeLooking(settings: Settings): Settings | null {
  const { procedure, secondDerivation: _, ...rest } = settings;
  return procedure === undefined || settings.preset !== 'fast' ? null : { ...rest, ...withoutLooking };
}
