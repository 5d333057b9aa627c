/**
 * The tools, each a use case of `src/app`. A model reads their words with every question, so there are few (a test counts them).
 *
 * None of them takes a path, an address, a setting or a model, and none says anything to the layer: it is read, and what a hint
 * or a chosen reading led to is not kept (`byProgram`, `memory: 'read'`).
 */
import * as z from 'zod';
import { askAndWait, WAIT_S, waitFor, type Call, type Told } from './asking';
import { ownDatabase, ownDatabases } from '../../app/asker';
import { searchNamed } from './door';
import { asData, MOST_ROWS, rowsText, said } from './texts';

export interface Tool<Given = unknown> {
  readonly description: string;
  readonly input: z.ZodType<Given>;
  /** It costs nothing and changes nothing. */
  readonly isFree: boolean;
  readonly run: (given: Given, call: Call) => Promise<Told>;
}

function tool<Schema extends z.ZodType>(
  description: string,
  input: Schema,
  run: (given: z.output<Schema>, call: Call) => Promise<Told>,
  { isFree = true }: { readonly isFree?: boolean } = {},
): Tool {
  return { description, input, isFree, run: (given, call) => run(given as z.output<Schema>, call) };
}

const db = z.string().min(1).optional().describe('configured name; optional if there is one');
const id = z.string().min(1).max(40).describe('of a search');

const ask = tool(
  `Answers a question about a database with SQL, rows and proof of every assumption. Waits up to ${WAIT_S} s; state "running" is not an answer: go on with result. Asked again it is the same search and costs nothing more. Tell the user the standing, and readings that stay open, with the answer.`,
  z.strictObject({
    question: z.string().describe('plain language, complete'),
    db,
    context: z.string().optional().describe('background that the question needs, such as its date'),
    after: z.string().min(1).optional().describe('id of the search that it follows up'),
  }),
  askAndWait,
  { isFree: false },
);

const result = tool(
  'Waits for a search, or gives its answer.',
  z.strictObject({ id, wait: z.number().min(0).max(WAIT_S).default(WAIT_S).describe('seconds') }),
  async ({ id: wanted, wait }, call) => {
    const until = Date.now() + wait * 1000;
    return waitFor(await searchNamed(call.door, wanted), call, until);
  },
);

const steer = tool(
  'Gives a running search a hint (something that the data does not show), or stops it with its best answer so far.',
  z.strictObject({ id, hint: z.string().optional(), stop: z.literal(true).optional() }),
  async ({ id: wanted, hint, stop }, { door }) => {
    const { app, asker } = door;
    const found = await searchNamed(door, wanted);
    const [{ command }, { UsageError }] = await Promise.all([import('../../app/steer'), import('../../app/errors')]);
    if ((hint === undefined) === (stop === undefined)) throw new UsageError('steer: give either hint or stop');
    const author = asker.token;
    const told =
      hint === undefined
        ? ({ kind: 'stop', author } as const)
        : ({ kind: 'hint', text: hint, byProgram: true, author } as const);
    const { kind, heard } = await command(found, told, app);
    return said({ id: found, done: kind, ...(heard && { heard }), next: `call result with id ${found}` });
  },
  { isFree: false },
);

const table = z.string().min(1);

const conventions = tool(
  'What is known of a database beyond its schema: conventions that its rows proved, rules that people state, questions only a person can answer. Read only.',
  z.strictObject({ db, table: table.optional().describe('only what is about it') }),
  async ({ db: given, table: about }, { door: { app, asker } }) => {
    const [{ openLayer }, { layerMarkdown }, { sameRelation }] = await Promise.all([
      import('../../app/layer'),
      import('../../layer/markdown'),
      import('../../sql/validate'),
    ]);
    const { layer, database } = await openLayer(app, ownDatabase(app, given, asker));
    const isAbout = ({ entry }: { readonly entry: { readonly tables: readonly string[] } }): boolean =>
      about === undefined || entry.tables.some((name) => sameRelation(name, about));
    const shown = { ...layer, entries: layer.entries.filter(isAbout), rules: layer.rules.filter(isAbout) };
    const text = asData('conventions', layerMarkdown(database.name, shown), 12_000, 'name a table');
    return said({ db: database.name, verifiedAt: layer.verifiedAt }, text);
  },
);

const describe = tool(
  'The schema of a database with profiles of its columns.',
  z.strictObject({
    db,
    tables: z.array(table).min(1).max(20).optional().describe('only these, in full'),
    question: z.string().optional().describe('of a wide schema: show what this needs'),
  }),
  async ({ db: given, tables: only, question }, { door: { app, asker } }) => {
    const name = ownDatabase(app, given, asker);
    const { describeDatabase } = await import('../../app/databases');
    const { text, tables, version } = await describeDatabase(name, { table: only, question }, app);
    return said({ db: name, version, tables }, asData('schema', text, 24_000, 'name the tables'));
  },
);

const databases = tool(
  'Lists the databases that can be asked.',
  z.strictObject({}),
  async (_, { door: { app, asker } }) => {
    const { listDatabases } = await import('../../app/databases');
    const names = ownDatabases(app, asker);
    const listed = listDatabases(app.config).filter(({ name }) => names.includes(name));
    return said({ databases: listed.map(({ name, engine }) => ({ name, engine })) });
  },
);

const SQL_MS = 25_000;

const sql = tool(
  'Runs one read-only SELECT. Prefer ask: it proves what the SQL assumes.',
  z.strictObject({ query: z.string(), db, maxRows: z.int().min(1).max(MOST_ROWS).default(MOST_ROWS) }),
  async ({ query, db: given, maxRows }, { door: { app, asker }, mcp }) => {
    const name = ownDatabase(app, given, asker);
    const { queryDatabase } = await import('../../app/databases');
    const found = await queryDatabase(query, { db: name, maxRows, timeoutMs: SQL_MS, signal: mcp.signal }, app);
    return said({ db: name, rows: found.rows.length, truncated: found.truncated }, rowsText(found));
  },
);

export const TOOLS: Readonly<Record<string, Tool>> = { ask, result, steer, conventions, describe, databases, sql };
