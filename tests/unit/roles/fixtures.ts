/** A small real database, a scripted model and an in-memory store for the steps. */
import Database from 'libsql';
import { createHash } from 'node:crypto';
import type {
  AnswerRecord,
  DatabaseDescription,
  Question,
  ResultColumn,
  SearchInput,
  Settings,
  SqlResult,
  SqlValue,
} from '../../../src/domain';
import { createMemoryStore, scriptedModel, type ScriptedReplies } from '../../helpers/scripted';
import { createSqliteInspector } from '../../../src/adapters/sqlite';
import type { ModelRequest, SqlEngine, Web } from '../../../src/domain/ports';
import { settingsFor } from '../../../src/config/presets';
import { withoutLooking } from '../../helpers/without-looking';
import { withCheckpoints } from '../../../src/methods/checkpoints';
import { createSteps } from '../../../src/methods/steps';
import { createRunStore, storeInput } from '../../../src/record/run-store';
import type { StepDeps } from '../../../src/roles/shared/context';

export const hash = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Two events; winners carry an absolute time, the others a gap in seconds. */
export const SETUP = `
CREATE TABLE entry (event INTEGER, car INTEGER, place INTEGER, mark TEXT);
INSERT INTO entry VALUES (1, 10, 1, '28:10.0'), (1, 11, 2, '+1.5'), (1, 12, 3, '+2.5'),
                         (2, 10, 1, '27:59.0'), (2, 12, 2, '+0.5'), (2, 11, 3, '+9.0'),
                         (1, 13, 4, '+12.0'), (2, 13, 4, '+14.0');
CREATE TABLE event (id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO event VALUES (1, 'North'), (2, 'South');
`;

export interface TestEngine extends SqlEngine {
  readonly runs: string[][];
  /** As somebody else who writes into the database. */
  readonly write: (sql: string) => void;
}

export function sqliteEngine(setup = SETUP): TestEngine {
  const database = new Database(':memory:');
  database.exec(setup);
  const runs: string[][] = [];
  return {
    dialect: 'sqlite',
    runs,
    write: (sql) => database.exec(sql),
    run: async (statements, { maxRows }) => {
      runs.push([...statements]);
      return { takenAt: '2026-01-01T00:00:00.000Z', results: statements.map((sql) => runOne(database, sql, maxRows)) };
    },
    describe: async () => describe(database),
    digest: async (sql) => {
      const result = runOne(database, sql, 1e9);
      if (result.kind !== 'rows') return result;
      return {
        count: result.rows.length,
        hash: hash(
          result.rows
            .map((row) => JSON.stringify(row))
            .sort()
            .join(),
        ),
      };
    },
    close: async () => void database.close(),
  };
}

function runOne(database: Database.Database, sql: string, maxRows: number): SqlResult {
  try {
    const statement = database.prepare(sql).raw(true);
    const names = (statement.columns() as { name: string }[]).map(({ name }) => name);
    const rows = statement.all() as SqlValue[][];
    const columns = names.map((name, index): ResultColumn => ({
      name,
      kind: rows.some((row) => typeof row[index] === 'string') ? 'text' : 'number',
    }));
    return { kind: 'rows', columns, rows: rows.slice(0, maxRows), truncated: rows.length > maxRows, elapsedMs: 1 };
  } catch (error) {
    return { kind: 'sql-error', message: (error as Error).message, code: null, elapsedMs: 1 };
  }
}

function describe(database: Database.Database): DatabaseDescription {
  const names = database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    .raw(true)
    .all() as [string][];
  const tables = names.map(([name]) => ({
    name,
    kind: 'table' as const,
    comment: null,
    rowEstimate: 6,
    columns: (
      database.prepare(`SELECT name, type FROM pragma_table_info('${name}')`).raw(true).all() as [string, string][]
    ).map(([column, type]) => ({
      name: column,
      type,
      nullable: true,
      comment: null,
      samples: [],
    })),
    primaryKey: [],
    uniqueKeys: [],
    foreignKeys: [],
  }));
  return { dialect: 'sqlite', version: 'SQLite', tables, fingerprint: hash(JSON.stringify(tables)).slice(0, 12) };
}

const inspector = createSqliteInspector();

export const SEARCH = 's1';

/** Of the search proper: without the conversation with which `fast` begins, and without profiles. */
export function searchInput(overrides: Partial<Settings> = {}, searchId = SEARCH): SearchInput {
  const fast = settingsFor({ method: 'fast', models: { default: 'test-model' } });
  const settings = { ...withoutLooking(fast), profiles: false, ...overrides };
  return {
    searchId,
    namespace: 'test',
    identity: 'races',
    question: {
      text: 'In how many events was the runner-up within two seconds?',
      database: 'races',
      outputMode: 'answer',
      tools: ['execute_sql'],
      context: null,
      instructions: null,
      documents: [],
    },
    settings,
  };
}

export async function bench(
  replies: ScriptedReplies,
  options: {
    settings?: Partial<Settings>;
    store?: ReturnType<typeof createMemoryStore>;
    searchId?: string;
    engine?: TestEngine;
    question?: Partial<Question>;
    web?: Web;
  } = {},
) {
  const store = options.store ?? createMemoryStore();
  const engine = options.engine ?? sqliteEngine();
  const model = scriptedModel({ replies });
  const deps: StepDeps = {
    store,
    models: () => model,
    engine: async () => ({ engine, inspector }),
    clock: { now: () => 1_000 },
    ...(options.web && { web: async () => options.web! }),
  };
  const asked = searchInput(options.settings, options.searchId);
  const input = { ...asked, question: { ...asked.question, ...options.question } };
  await storeInput(deps.store, input);
  const { searchId, settings } = input;
  const run = createRunStore(store, searchId);
  return {
    ...{ deps, store, engine, model, input, searchId, run, steps: withCheckpoints(createSteps(deps), null) },
    start: { searchId, settings, state: null },
    record: (): Promise<AnswerRecord> => run.get('result', searchId),
  };
}

export const hooks = { now: () => 2_000, stopRequested: () => null, onProgress: () => undefined };
export const promptOf = ({ messages }: ModelRequest): string => messages.map(({ content }) => content).join('\n');

export const PREPARE = { purpose: 'prepare' as const, searchId: SEARCH, position: 'prepare' };
/** The first try of a plan. */
export const PLAN = {
  ...{ role: 'plan' as const, searchId: SEARCH, position: 'i1.t0.plan', tryNumber: 0 },
  ...{ memory: { updates: [], facts: [] }, otherPlans: [], revise: null },
};

export async function prepared(...args: Parameters<typeof bench>) {
  const made = await bench(...args);
  await made.steps.prepare(PREPARE);
  return made;
}

type Column = { name: string; type: string; meaning: string };
const column = (name: string, type = 'number'): Column => ({ name, type, meaning: '' });

export const GAP_SQL = 'SELECT event, place, CAST(substr(mark, 2) AS REAL) AS gap FROM op_runners';
export const TEST = {
  operator: 'op_gap',
  probe: "SELECT count(*) AS n, sum(mark LIKE '+%') AS plus FROM op_runners WHERE place > 1",
  hypotheses: [
    {
      id: 'h1',
      mapping: 'marks of runners-up are gaps to the winner in seconds',
      expectation: 'all start with a plus',
      predicates: ['(SELECT n > 0 AND plus = n FROM observation)'],
      agreement: { matching: '(SELECT plus FROM observation)', examined: '(SELECT n FROM observation)' },
      sql: GAP_SQL,
    },
    {
      id: 'h2',
      mapping: 'marks of runners-up are absolute times',
      expectation: 'none starts with a plus',
      predicates: ['(SELECT plus = 0 FROM observation)'],
      agreement: { matching: '(SELECT n - plus FROM observation)', examined: '(SELECT n FROM observation)' },
      sql: 'SELECT event, place, CAST(mark AS REAL) - 1680 AS gap FROM op_runners',
    },
  ],
};

export function planReply(change: Record<string, unknown> = {}, operators: Record<string, unknown>[] = []) {
  return {
    outline: 'entries, gaps, count',
    kind: 'plan',
    reason: null,
    operators: [
      {
        name: 'op_runners',
        purpose: 'entries',
        intent: 'one row per entry',
        relations: ['entry'],
        inputs: [],
        columns: [column('event', 'integer'), column('place', 'integer'), column('mark', 'text')],
        grain: ['event', 'place'],
        mapping: null,
        sql: 'SELECT event, place, mark FROM entry',
        assumptions: [],
      },
      {
        name: 'op_gap',
        purpose: 'gap of each entry',
        intent: 'gap to the winner in seconds',
        relations: [],
        inputs: ['op_runners'],
        columns: [column('event', 'integer'), column('place', 'integer'), column('gap')],
        grain: ['event', 'place'],
        mapping: 'is mark a gap or a time?',
        sql: null,
        assumptions: [],
      },
      {
        name: 'op_answer',
        purpose: 'the count',
        intent: 'number of close events',
        relations: [],
        inputs: ['op_gap'],
        columns: [column('n', 'integer')],
        grain: [],
        mapping: null,
        sql: 'SELECT count(*) AS n FROM op_gap WHERE place = 2 AND gap < 2',
        assumptions: [{ kind: 'other', statement: 'close means below two seconds', risk: 0.1 }],
      },
    ].map((operator) => ({ ...operator, ...operators.find(({ name }) => name === operator.name) })),
    ordered: false,
    control: 'SELECT count(*) FROM op_runners WHERE place = 2',
    wording: [],
    bottleneck: 'op_gap',
    potential: 2,
    tests: [TEST],
    ...change,
  };
}

export function groundReply(change: Record<string, unknown> = {}, judgement: Record<string, unknown> = {}) {
  return {
    judgements: [
      {
        operator: 'op_gap',
        observation: '6 of 6 start with a plus',
        verdicts: [
          { hypothesis: 'h1', reason: '6 of 6 carry a plus', verdict: 'supported' },
          { hypothesis: 'h2', reason: 'none looks like a time', verdict: 'refuted' },
        ],
        winner: 'h1',
        sql: null,
        summary: 'marks after the first place are gaps in seconds (6 of 6)',
        ...judgement,
      },
    ],
    facts: ['entry.mark starts with + for places after the first'],
    tryNext: [],
    avoid: [],
    delta: -2,
    impossible: null,
    written: [],
    tests: [],
    ...change,
  };
}

export const text = (value: unknown): string => JSON.stringify(value);
export const NO_MEMORY = { updates: [], facts: [] };

export const containing = (part: string): string => expect.stringContaining(part) as string;
export const matching = (pattern: RegExp): string => expect.stringMatching(pattern) as string;
