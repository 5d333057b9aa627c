/**
 * What a run would ask and cost, before anything is paid: a range from stated assumptions about the method, the size of each
 * database's schema as a model would read it, and the price of the models. Not a forecast of one question.
 */
import { DEFAULT_PRICES, priceOf } from '../../adapters/openai';
import { REACT_TOOL_CALLS } from '../../config/presets';
import { schemaContext, SCHEMA_CHARS } from '../../database/context';
import { isWide } from '../../database/wide/overview';
import { WIDE_CHARS } from '../../database/wide/schema-text';
import { isDecided, type Settings } from '../../domain';
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

/** Easy questions need the first figure, doubtful ones the second: ours. */
const CALLS: Readonly<Record<Exclude<Settings['method'], 'redel' | 'reforce'>, Range>> = {
  fast: { low: 1, high: 4 },
  thorough: { low: 1, high: 20 },
  paper: { low: 8, high: 60 },
  react: { low: 3, high: REACT_TOOL_CALLS + 1 },
  learn: { low: 1, high: 6 },
};
/** Beside the schema: instructions, the plan, evidence. */
const PROMPT_TOKENS: Range = { low: 1_500, high: 6_000 };
const COMPLETION_TOKENS: Range = { low: 300, high: 1_500 };
const REASONING_COMPLETION_TOKENS: Range = { low: 1_500, high: 6_000 };
const CHARS_PER_TOKEN = 4;
const WAIT_MS = 20_000;

export async function estimateRun(at: Composing, arms: readonly Arm[]): Promise<RunEstimate> {
  const batches = await each(arms, (arm) => estimateArm(at, arm), 1);
  const costs = batches.flatMap(({ costUsd }) => costUsd ?? []);
  const costUsd = costs.length < batches.length ? null : sumOf(costs);
  const unpricedModels = [...new Set(batches.flatMap((one) => one.unpricedModels))];
  return { batches, sum: { ...workOf(batches), costUsd, unpricedModels } };
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
    const databases = await Promise.all(groups.map((some) => estimateDatabase(composition, settings, some, settled)));
    const work = workOf(databases);
    return {
      ...{ set: set.name, method: spec.spec, seed, label, databases, ...work, ...costOf(at, settings, work) },
      assumption: assumptionOf(settings),
    };
  });
}

function costOf(
  { services }: Composing,
  { models, budgets }: Settings,
  { toAsk, promptTokens, completionTokens }: Work,
) {
  const names = [...new Set(Object.values(models))];
  const priceIn = { ...DEFAULT_PRICES, ...services.config.prices };
  const prices = names.flatMap((model) => priceOf(model, priceIn) ?? []);
  const unpricedModels = names.filter((model) => priceOf(model, priceIn) === null);
  const ceiling = budgets.costUsd === null ? Infinity : budgets.costUsd * toAsk;
  const costsAt = (end: keyof Range): number[] =>
    prices.map(
      (price) => (promptTokens[end] * price.inputPerMillion + completionTokens[end] * price.outputPerMillion) / 1e6,
    );
  const costUsd = {
    low: Math.min(ceiling, ...costsAt('low')),
    high: Math.min(ceiling, Math.max(...costsAt('high'))),
  };
  return { costUsd: unpricedModels.length > 0 ? null : costUsd, unpricedModels };
}

function workOf(parts: readonly Work[]): Work {
  const total = (key: 'questions' | 'toAsk'): number => parts.reduce((sum, one) => sum + one[key], 0);
  const ranges = (key: 'calls' | 'promptTokens' | 'completionTokens'): Range => sumOf(parts.map((one) => one[key]));
  return {
    ...{ questions: total('questions'), toAsk: total('toAsk'), calls: ranges('calls') },
    ...{ promptTokens: ranges('promptTokens'), completionTokens: ranges('completionTokens') },
  };
}

async function estimateDatabase(
  composition: Pick<Composition, 'engine'>,
  settings: Settings,
  questions: readonly BatchQuestion[],
  settled: ReadonlySet<string>,
): Promise<DatabaseEstimate> {
  const toAsk = new Set(questions.map(({ input }) => input.searchId).filter((id) => !settled.has(id))).size;
  const [{ item, database }] = questions as [BatchQuestion];
  const { tables, schemaTokens, problem } = await lookAt(composition, database.name);
  const { low, high } = callsOf(settings);
  const calls = { low: low * toAsk, high: high * toAsk };
  const completion = completionOf(settings);
  const tokens = (of: Range, more: number): Range => ({
    low: calls.low * (of.low + more),
    high: calls.high * (of.high + more),
  });
  return {
    ...{ database: item.database ?? database.name, engine: database.dialect, tables, problem },
    ...{ questions: questions.length, toAsk, calls },
    ...{ promptTokens: tokens(PROMPT_TOKENS, schemaTokens), completionTokens: tokens(completion, 0) },
  };
}

async function lookAt(composition: Pick<Composition, 'engine'>, name: string) {
  try {
    const { engine } = await composition.engine(name);
    const description = await engine.describe({ signal: AbortSignal.timeout(WAIT_MS) });
    const tables = description.tables.length;
    const { text } = schemaContext(description, { maxChars: SCHEMA_CHARS });
    const chars = isWide(description) ? WIDE_CHARS : text.length;
    const problem = tables === 0 ? 'no tables that may be read' : null;
    return { tables, schemaTokens: Math.ceil(chars / CHARS_PER_TOKEN), problem };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { tables: 0, schemaTokens: 0, problem: error.message };
  }
}

/** Of a question. */
function callsOf({ budgets, method, procedure, rounds, repeated, reforce, redel }: Settings): Range {
  const limit = budgets.llmCalls ?? Infinity;
  const range = (low: number, high: number): Range => ({ low: Math.min(low, limit), high: Math.min(high, limit) });
  // The runs, and a call that chooses.
  if (repeated !== undefined) return range(repeated.runs * CALLS.react.low + 1, repeated.runs * CALLS.react.high + 1);
  // High: every call of the root and of one set of helpers, and an end of each.
  if (redel !== undefined) return range(CALLS.react.low, rounds + 1 + redel.children * (redel.childCalls + 1));
  if (reforce !== undefined) {
    // Without linking. High: every vote explores, and half of its tries are needed.
    const { votes, attempts, explore, format } = reforce;
    const [passes, explores] = [explore === 'unresolved' ? 2 : 1, explore === 'never' ? 0 : 4];
    const once = Number(format) + 1;
    const high = once + votes * (passes * Math.ceil(attempts / 2) + explores);
    return range(once + votes * (explore === 'always' ? 2 : 1), high);
  }
  // A question that may ask the web begins with the search.
  if (method === 'fast' && procedure === undefined) return range(2, 6);
  const { low, high } = CALLS[method as keyof typeof CALLS];
  return range(low, high);
}

const completionOf = ({ maxOutputTokens }: Settings): Range =>
  maxOutputTokens > 4_096 ? REASONING_COMPLETION_TOKENS : COMPLETION_TOKENS;

function assumptionOf(settings: Settings): string {
  const { low, high } = callsOf(settings);
  const ceiling = settings.budgets.costUsd;
  return (
    `Assumed: ${low} to ${high} calls a question (method ${settings.spec}); a call reads the schema and ${range(PROMPT_TOKENS)} tokens, and writes ${range(completionOf(settings))}` +
    (ceiling === null ? '; no cost limit.' : `; no question costs more than ${dollars(ceiling)} (--max-cost).`)
  );
}

export const both = (a: Range, b: Range): Range => ({ low: a.low + b.low, high: a.high + b.high });
const sumOf = (ranges: readonly Range[]): Range => ranges.reduce(both, { low: 0, high: 0 });
export const range = ({ low, high }: Range): string =>
  `${low.toLocaleString('en-US')} to ${high.toLocaleString('en-US')}`;
export const dollarRange = ({ low, high }: Range): string => `${dollars(low)} to ${dollars(high)}`;
