/**
 * What a run would ask and cost, before anything is paid: a range from stated assumptions about the method, the size of each
 * database's schema as a model would read it, and the price of the models. Not a forecast of one question.
 */
import { DEFAULT_PRICES, priceOf } from '../../adapters/openai';
import { REACT_TOOL_CALLS } from '../../config/presets';
import { schemaContext, SCHEMA_CHARS } from '../../database/context';
import { isDecided, type Redel, type ReforceSettings, type Settings } from '../../domain';
import { groupBy } from '../../group-by';
import { each } from '../../limiter';
import { counted, dollars } from '../../report/printable';
import type { Composition } from '../../workers/composition';
import { GateError } from '../errors';
import { withComposition, scopeOf, type Arm, type Composing } from './arms';
import { storedRecords } from './ask-batch';
import type { BatchQuestion } from './batch-plan';

interface Range {
  readonly low: number;
  readonly high: number;
}

interface Work {
  readonly questions: number;
  /** Questions that are not answered yet; only these cost. */
  readonly toAsk: number;
  readonly calls: Range;
  readonly promptTokens: Range;
  readonly completionTokens: Range;
}

interface Priced extends Work {
  /** Null: a model has no known price. */
  readonly costUsd: Range | null;
  readonly unpricedModels: readonly string[];
}

interface DatabaseEstimate extends Work {
  readonly database: string;
  readonly engine: string;
  readonly tables: number;
  /** Null: it can be used. */
  readonly problem: string | null;
}

interface ArmEstimate extends Priced {
  readonly set: string;
  readonly method: string;
  readonly seed: number;
  readonly label: string;
  readonly databases: readonly DatabaseEstimate[];
  readonly assumption: string;
}

export interface RunEstimate {
  readonly batches: readonly ArmEstimate[];
  readonly sum: Priced;
}
/** Ours: easy questions need the first figure, doubtful ones the second. */
const CALLS: Readonly<Record<Exclude<Settings['method'], 'redel' | 'reforce'>, Range>> = {
  fast: { low: 1, high: 4 },
  thorough: { low: 1, high: 20 },
  paper: { low: 8, high: 60 },
  react: { low: 3, high: REACT_TOOL_CALLS + 1 },
  learn: { low: 1, high: 6 },
};
/** Method fast of a question that may ask the web, which begins with the search. */
const WITHOUT_LOOKING: Range = { low: 2, high: 6 };
/** Beside the schema: instructions, the plan, evidence. */
const PROMPT_TOKENS: Range = { low: 1_500, high: 6_000 };
const COMPLETION_TOKENS: Range = { low: 300, high: 1_500 };
const REASONING_COMPLETION_TOKENS: Range = { low: 1_500, high: 6_000 };
const CHARS_PER_TOKEN = 4;
const WAIT_MS = 20_000;

export async function estimateRun(at: Composing, arms: readonly Arm[]): Promise<RunEstimate> {
  const batches = await each(arms, (arm) => estimateArm(at, arm), 1);
  const costs = batches.map(({ costUsd }) => costUsd);
  return {
    batches,
    sum: {
      ...workOf(batches),
      costUsd: costs.every((cost) => cost !== null) ? sumOf(costs) : null,
      unpricedModels: [...new Set(batches.flatMap(({ unpricedModels }) => unpricedModels))],
    },
  };
}

/** Throws where a database cannot be used. */
export function requireUsable({ batches }: RunEstimate): void {
  const databases = new Map(batches.flatMap((one) => one.databases).map((one) => [one.database, one]));
  const unusable = [...databases.values()].filter(({ problem }) => problem !== null);
  if (unusable.length === 0) return;
  throw new GateError(
    `${unusable.length} of ${counted(databases.size, 'database')} cannot be used: ${unusable.map(({ database, problem }) => `${database} (${problem ?? ''})`).join('; ')}`,
  );
}

function estimateArm(at: Composing, arm: Arm): Promise<ArmEstimate> {
  const { set, spec, seed, label, batch } = arm;
  const { settings } = batch;
  return withComposition(at, set.databases, scopeOf(arm), async (composition) => {
    const records = await storedRecords(at, arm);
    const settled = new Set(records.flatMap((record) => (record !== null && isDecided(record) ? [record.id] : [])));
    const groups = [...groupBy(batch.questions, ({ database }) => database.name).values()];
    const databases = await Promise.all(
      groups.map((questions) => estimateDatabase(composition, settings, questions, settled)),
    );
    return {
      ...{ set: set.name, method: spec.spec, seed, label, databases },
      ...priced(at, settings, workOf(databases)),
      assumption: assumptionOf(settings),
    };
  });
}

function priced({ services }: Composing, settings: Settings, work: Work): Priced {
  const models = [...new Set(Object.values(settings.models))];
  const prices = models.map((model) => priceOf(model, { ...DEFAULT_PRICES, ...services.config.prices }));
  const known = prices.filter((price) => price !== null);
  const { promptTokens, completionTokens } = work;
  const costAt = (at: 'low' | 'high'): number[] =>
    known.map(
      (price) => (promptTokens[at] * price.inputPerMillion + completionTokens[at] * price.outputPerMillion) / 1e6,
    );
  const ceiling = settings.budgets.costUsd === null ? Infinity : settings.budgets.costUsd * work.toAsk;
  const range = { low: Math.min(ceiling, ...costAt('low')), high: Math.min(ceiling, Math.max(...costAt('high'))) };
  return {
    ...work,
    costUsd: known.length < prices.length ? null : range,
    unpricedModels: models.filter((_, at) => prices[at] === null),
  };
}

function workOf(parts: readonly Work[]): Work {
  return {
    questions: parts.reduce((sum, one) => sum + one.questions, 0),
    toAsk: parts.reduce((sum, one) => sum + one.toAsk, 0),
    calls: sumOf(parts.map(({ calls }) => calls)),
    promptTokens: sumOf(parts.map(({ promptTokens }) => promptTokens)),
    completionTokens: sumOf(parts.map(({ completionTokens }) => completionTokens)),
  };
}

const sumOf = (ranges: readonly Range[]): Range => ranges.reduce(both, { low: 0, high: 0 });

async function estimateDatabase(
  composition: Pick<Composition, 'engine'>,
  settings: Settings,
  questions: readonly BatchQuestion[],
  settled: ReadonlySet<string>,
): Promise<DatabaseEstimate> {
  const open = new Set(questions.map(({ input }) => input.searchId).filter((id) => !settled.has(id)));
  const first = questions[0];
  const { tables, schemaTokens, problem } = await lookAt(composition, first?.database.name ?? '');
  const calls = scaled(callsOf(settings), open.size);
  const { prompt, completion } = tokensOf(settings);
  return {
    database: first?.item.database ?? first?.database.name ?? '',
    engine: first?.database.dialect ?? '',
    ...{ questions: questions.length, toAsk: open.size, tables, problem, calls },
    promptTokens: { low: calls.low * (prompt.low + schemaTokens), high: calls.high * (prompt.high + schemaTokens) },
    completionTokens: { low: calls.low * completion.low, high: calls.high * completion.high },
  };
}

async function lookAt(composition: Pick<Composition, 'engine'>, name: string) {
  try {
    const { engine } = await composition.engine(name);
    const description = await engine.describe({ signal: AbortSignal.timeout(WAIT_MS) });
    const tables = description.tables.length;
    const schemaTokens = Math.ceil(
      schemaContext(description, { maxChars: SCHEMA_CHARS }).text.length / CHARS_PER_TOKEN,
    );
    return { tables, schemaTokens, problem: tables === 0 ? 'no tables that may be read' : null };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { tables: 0, schemaTokens: 0, problem: error.message };
  }
}

function callsOf(settings: Settings): Range {
  const { budgets } = settings;
  const { low, high } = unlimitedCalls(settings);
  const limit = budgets.llmCalls ?? Infinity;
  return { low: Math.min(low, limit), high: Math.min(high, limit) };
}

function unlimitedCalls({ method, procedure, rounds, repeated, reforce, redel }: Settings): Range {
  if (repeated !== undefined) return repeatedCalls(repeated.runs);
  if (reforce !== undefined) return reforceCalls(reforce);
  if (redel !== undefined) return redelCalls(redel, rounds);
  if (method === 'fast' && procedure === undefined) return WITHOUT_LOOKING;
  return CALLS[method as keyof typeof CALLS];
}

/** And one that chooses. */
function repeatedCalls(runs: number): Range {
  return { low: runs * CALLS.react.low + 1, high: runs * CALLS.react.high + 1 };
}

/** High: every call of the root and of one set of helpers, and an end of each. */
function redelCalls({ children, childCalls }: Redel, rounds: number): Range {
  return { low: CALLS.react.low, high: rounds + 1 + children * (childCalls + 1) };
}

/** Without linking. High: every vote explores, and half of its tries are needed. */
function reforceCalls({ votes, attempts, explore, format }: ReforceSettings): Range {
  const once = Number(format) + 1;
  const passes = explore === 'unresolved' ? 2 : 1;
  const explores = explore === 'never' ? 0 : 4;
  return {
    low: once + votes * (explore === 'always' ? 2 : 1),
    high: once + votes * (passes * Math.ceil(attempts / 2) + explores),
  };
}

function tokensOf({ maxOutputTokens }: Settings): { readonly prompt: Range; readonly completion: Range } {
  return {
    prompt: PROMPT_TOKENS,
    completion: maxOutputTokens > 4_096 ? REASONING_COMPLETION_TOKENS : COMPLETION_TOKENS,
  };
}

function assumptionOf(settings: Settings): string {
  const calls = callsOf(settings);
  const { prompt, completion } = tokensOf(settings);
  const ceiling = settings.budgets.costUsd;
  return (
    `Assumed: ${calls.low} to ${calls.high} calls a question (method ${settings.spec}); a call reads the schema and ${range(prompt)} tokens, and writes ${range(completion)}` +
    (ceiling === null ? '; no cost limit.' : `; no question costs more than ${dollars(ceiling)} (--max-cost).`)
  );
}

const scaled = ({ low, high }: Range, factor: number): Range => ({ low: low * factor, high: high * factor });
export const both = (a: Range, b: Range): Range => ({ low: a.low + b.low, high: a.high + b.high });
export const range = ({ low, high }: Range): string =>
  `${low.toLocaleString('en-US')} to ${high.toLocaleString('en-US')}`;
export const dollarRange = ({ low, high }: Range): string => `${dollars(low)} to ${dollars(high)}`;
