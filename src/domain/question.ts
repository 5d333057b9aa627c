/**
 * What is asked, and the settings under which it is answered. Both are part of the search id (design D4), so nothing
 * here may hold a secret or an address: databases and models are named, and resolved on the worker (D7).
 */
import * as z from 'zod';
import { ROLES } from './role-names';

export const Dialect = z.enum(['postgresql', 'sqlite', 'snowflake', 'duckdb', 'mysql', 'bigquery']);
export type Dialect = z.infer<typeof Dialect>;

export const Document = z.object({ name: z.string(), text: z.string() });

/** What documentation says of a table or a column: stated, not proved. */
export const DocumentNote = z.object({
  table: z.string().min(1),
  /** null: about the table. */
  column: z.string().min(1).nullable(),
  text: z.string().min(1),
  /** The file that says so, without its folder. */
  source: z.string(),
});
export type DocumentNote = z.infer<typeof DocumentNote>;

export const Question = z.object({
  text: z.string().min(1),
  /** The configured (or generated) name of the database; never its address. */
  database: z.string().min(1),
  outputMode: z.enum(['sql', 'answer']),
  tools: z.array(z.enum(['execute_sql', 'web_search', 'fetch_url'])),
  /** What must be told, such as the clock of a benchmark. */
  context: z.string().nullable(),
  instructions: z.string().nullable(),
  documents: z.array(Document),
  notes: z.array(DocumentNote).optional(),
  /** The search that it follows: what that one and those before it asked, found and proved is known to it. Left out: none. */
  after: z.string().optional(),
});
export type Question = z.infer<typeof Question>;

/** `judge` takes no part in a search: it reads what searches answered (`benchmarks/judge-step.ts`). */
export const Role = z.enum(ROLES);
export type Role = z.infer<typeof Role>;

export const BudgetName = z.enum([
  'llmCalls',
  'tokens',
  'costUsd',
  'wallMs',
  'sqlExecutions',
  'sqlMs',
  'sqlRows',
  'sqlBytes',
]);
export type BudgetName = z.infer<typeof BudgetName>;

/** Upper limits of one search; null means none. Tokens are prompt plus completion. */
export const Budgets = z.object({
  llmCalls: z.number().int().positive().nullable(),
  tokens: z.number().int().positive().nullable(),
  costUsd: z.number().positive().nullable(),
  wallMs: z.number().int().positive().nullable(),
  sqlExecutions: z.number().int().positive().nullable(),
  sqlMs: z.number().int().positive().nullable(),
  /** Rows fetched from the database, all statements together. */
  sqlRows: z.number().int().positive().nullable().default(null),
  /** Bytes that the database bills. */
  sqlBytes: z.number().int().positive().nullable().default(null),
});
export type Budgets = z.infer<typeof Budgets>;

/** Some of them, as somebody gives them: those that are not given stay as they are. */
export const BudgetLimits = z
  .strictObject({
    ...Budgets.shape,
    sqlRows: Budgets.shape.sqlRows.unwrap(),
    sqlBytes: Budgets.shape.sqlBytes.unwrap(),
  })
  .partial();

/** The methods that are GATE's own; the others are baselines. */
export const PresetName = z.enum(['fast', 'thorough', 'paper']);
export type PresetName = z.infer<typeof PresetName>;

/** How a search uses the semantic layer of its database (docs/layer.md). */
export const MemoryMode = z.enum(['off', 'read', 'on']);
export type MemoryMode = z.infer<typeof MemoryMode>;

/** `learn`: a database without a question (`gate learn`). */
export const MethodName = z.enum([...PresetName.options, 'react', 'redel', 'reforce', 'learn']);
export type MethodName = z.infer<typeof MethodName>;

/** null: a baseline, or a lesson. */
export function presetOf(method: MethodName): PresetName | null {
  return PresetName.options.find((preset) => preset === method) ?? null;
}

/** A part of the search that is left out, as in the paper's ablation (docs/methods). */
export const Ablation = z.enum(['plan-evaluation', 'plan-selection', 'evidence-summary', 'update-reuse']);
export type Ablation = z.infer<typeof Ablation>;

export const Redel = z.object({
  /** Whose figures, and with them whose agents (docs/methods). */
  figures: z.enum(['official', 'seed']),
  /** `seed`: levels below the root. `official`: the deepest level that may still delegate. */
  depth: z.number().int().nonnegative(),
  /** Helpers: of the root in all (`seed`), or of one action (`official`). */
  children: z.number().int().positive(),
  /** Tool calls of a helper. */
  childCalls: z.number().int().positive(),
  /** Tool calls of all agents together; left out: no limit. */
  allCalls: z.number().int().positive().optional(),
  /** Of a helper: its level, from 1. Left out: the root. */
  level: z.number().int().positive().optional(),
  /** Of a helper: tool calls of all agents before it began. */
  callsBefore: z.number().int().nonnegative().optional(),
});
export type Redel = z.infer<typeof Redel>;

/** Of the method `reforce` (docs/methods). */
export const ReforceSettings = z.object({
  /** Independent candidates, made concurrently. */
  votes: z.number().int().positive(),
  /** Tries of one vote at SQL that runs and returns rows; without one the vote has no candidate. */
  attempts: z.number().int().positive(),
  /** Column exploration before SQL is written: by every vote, by those of a second pass after an undecided one, or by none. */
  explore: z.enum(['always', 'unresolved', 'never']),
  /** One call that fixes the header of the answer. */
  format: z.boolean(),
  /** A vote's result counts once a second result of the same conversation repeats it. */
  consistency: z.boolean(),
  /** How a vote that is still undecided at the end is decided: by the first candidate, or by the model. */
  choose: z.enum(['first', 'model']),
  /** A schema text with more bytes is linked: each table is asked about by itself. */
  linkBytes: z.number().int().positive(),
});
export type ReforceSettings = z.infer<typeof ReforceSettings>;

export const Settings = z.object({
  method: MethodName,
  /** The method with its settings, as `--method` takes it. */
  spec: z.string().min(1),
  /**
   * How the search begins. `look-then-prove`: a conversation of looks and commits, and the search only where doubt remains.
   * Left out: with the search.
   */
  procedure: z.enum(['look-then-prove']).optional(),
  /** Model name per role; `default` serves the roles not listed. */
  models: z.object({ default: z.string().min(1) }).catchall(z.string().min(1)),
  temperature: z.number().min(0).max(2),
  topP: z.number().gt(0).max(1),
  maxOutputTokens: z.number().int().positive(),
  seed: z.number().int(),
  iterations: z.number().int().positive(),
  /** J: attempts on one bottleneck within an iteration. */
  attempts: z.number().int().positive(),
  /** K: probes of one attempt before it is judged; 1 outside the method `paper`. Also the budget of `react`: actions that call a tool. */
  rounds: z.number().int().positive(),
  cMin: z.number().int().positive(),
  cMax: z.number().int().positive(),
  frontier: z.number().int().positive(),
  /** How many plans of the root a search may make. */
  maxPlans: z.number().int().positive(),
  /** `when-doubtful`: a candidate that leaves no doubt ends the search. `always`, or left out: `cMin` derivations must agree. */
  secondDerivation: z.enum(['always', 'when-doubtful']).optional(),
  breadth: z.number().int().positive(),
  /** `execution`: rule S1. `model`: the judge's verdict alone, as in the paper. */
  proof: z.enum(['execution', 'model']),
  /** Who applies the exploration term: rule S6 in code, or the model, as in the paper. */
  exploration: z.enum(['code', 'model']),
  profiles: z.boolean(),
  /** Profiles and schema show shapes and counts, but no value of a row. Left out: they show values. */
  profileValues: z.literal(false).optional(),
  materiality: z.boolean(),
  /** Left out: the search is whole. */
  without: Ablation.optional(),
  /** The plan reply already carries the first proposals. */
  planCarriesTests: z.boolean(),
  /** A follow-on operator is attempted in the same iteration, and a ground reply may carry the next proposals. */
  followOn: z.boolean(),
  /** Lookups on the web that a search may make; left out: none. The method `react` counts them among its `rounds`. */
  lookups: z.number().int().positive().optional(),
  /** Queries that one action of `react` may run together; left out: 1, the paper's agent. */
  queriesPerAction: z.number().int().positive().optional(),
  /** Of the method `redel`: the agents that the root may have under it. */
  redel: Redel.optional(),
  /** Of the method `reforce` alone. */
  reforce: ReforceSettings.optional(),
  /**
   * The semantic layer of the database (docs/layer.md). `read`: the search is shown what was proved before. `on`: what it
   * proves is kept, too. Left out: neither.
   */
  layer: z.enum(['read', 'on']).optional(),
  /** Of `react` with several runs. */
  repeated: z.object({ runs: z.number().int().positive() }).optional(),
  parseRetries: z.number().int().min(0),
  sqlTimeoutMs: z.number().int().positive(),
  maxRows: z.number().int().positive(),
  /** How many characters of a result's CSV a model sees. */
  csvChars: z.number().int().positive(),
  budgets: Budgets,
});
export type Settings = z.infer<typeof Settings>;

/** The id of a search, whole. */
export const SEARCH_ID = /^q-[0-9a-f]{16}$/;

/** What a search starts from; stored whole under the search id. */
export const SearchInput = z.object({
  searchId: z.string(),
  /** Whose submission this is (user or batch); part of the search id. */
  namespace: z.string(),
  question: Question,
  /** Which database is asked, whatever its name (docs/databases.md); part of the search id. */
  identity: z.string().min(1),
  settings: Settings,
  /** What "now" is to this search (`sql/clock.ts`); no part of the id. Left out: the question's context, or the database, says. */
  clock: z.string().optional(),
  /** When it was last asked, where a person or a batch did; no part of the id. */
  askedAt: z.string().optional(),
  /** The search that started it and that it is a part of. */
  childOf: z.string().optional(),
  /** A fork: which search it goes on from, after which iteration, and what that one had used until then. */
  parent: z
    .object({
      searchId: z.string(),
      iteration: z.number().int().positive(),
      usage: z.record(z.string(), z.number()),
    })
    .optional(),
});
export type SearchInput = z.infer<typeof SearchInput>;
