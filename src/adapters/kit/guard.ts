/**
 * The second fence around any engine (design §7): a parser reads each statement before it is sent, and the access lists
 * decide what may be read and shown.
 *
 * 1. A refusal is a value; the other statements of the run keep their common snapshot.
 * 2. PostgreSQL's parser is the server's own grammar, so its syntax errors are final. SQLite's parser is not the engine's:
 *    a statement that it cannot parse goes to the engine, which has its own checks, unless access lists are set.
 *    Snowflake's parser reads structure only; a statement that it cannot parse is refused.
 * 3. With lists set, only described tables may be read: no system catalogues (they hold statistics of hidden columns), no
 *    partitions. The bodies of views and functions are not checked: deny those that show hidden columns. Without lists,
 *    catalogues may be read, except those with secrets (`postgres/inspector.ts`).
 */
import { clip } from '../../clip';
import type { DatabaseDescription, Dialect, SqlResult, TableDescription } from '../../domain';
import type { SqlEngine } from '../../domain/ports/sql-engine';
import type { SqlInspector } from '../../domain/ports/sql-inspector';
import { sha256 } from '../../sha256';
import { DIALECTS, nameParts } from '../../sql/dialects';
import { tokensOf } from '../../sql/lexer';
import { fingerprintOf } from './schema';
import { accessRules, findHidden, type AccessLists, type AccessRules, type HiddenIn } from '../../sql/access';

export function createGuardedEngine(
  engine: SqlEngine,
  inspector: SqlInspector,
  access: AccessLists = { allow: [], deny: [] },
  /** Where a name without a schema is looked up; empty: the dialect's usual one. */
  searchPath: readonly string[] = [],
): SqlEngine {
  const { dialect } = engine;
  const rules = accessRules(access, searchPath, dialect);
  const { schemas } = rules;
  const knowsChanges = engine.revision !== undefined;
  let described: Promise<DatabaseDescription> | null = null;
  let revision: string | null = null;

  function description(signal: AbortSignal): Promise<DatabaseDescription> {
    described ??= engine.describe({ signal }).catch((error: unknown) => {
      described = null;
      throw error;
    });
    return described;
  }

  /** The next description is made anew, unless the database says that nothing has changed. */
  async function renew(signal: AbortSignal): Promise<void> {
    const before = revision;
    revision = (await engine.revision?.({ signal })) ?? null;
    if (revision === null || revision !== before) described = null;
  }

  /** Why a statement may not run; null: it may. */
  async function judge(sql: string, signal: AbortSignal): Promise<SqlResult | null> {
    const inspection = inspector.inspect(sql);
    if (inspection.kind === 'refused') return { kind: 'refused', message: inspection.message };
    if (inspection.kind === 'syntax-error') {
      if (rules.open && dialect === 'sqlite') return null;
      return { kind: 'sql-error', message: inspection.message, code: DIALECTS[dialect].syntaxError, elapsedMs: 0 };
    }
    if (rules.open) return null;
    const { relations } = inspection;
    // Where only some columns of a table are allowed, any word may be a new one.
    const isUnsure = knowsChanges && relations.some((one) => rules.namesColumnsOf(one) === 'allowed');
    if (!isUnsure && (await refusal(sql, relations, true, signal)) === null) return null;
    // Tables and columns may have been created after the description was made.
    await renew(signal);
    const message = await refusal(sql, relations, false, signal);
    return message === null ? null : { kind: 'refused', message };
  }

  /** `isOld`: each word that a pattern denies may be a column that is new, and so may what is read without its name. */
  async function refusal(
    sql: string,
    relations: readonly string[],
    isOld: boolean,
    signal: AbortSignal,
  ): Promise<string | null> {
    const { tables } = await description(signal);
    const written = wordsOf(sql, dialect).filter((word) => isOld || isDeniedAsWritten(access, word));
    const hidden: HiddenIn[] = [];
    for (const relation of relations) {
      const found = findTables(relation, tables, schemas);
      // A wildcard also reads what was created since, or is described as a part of a whole.
      const read = [...found.map(({ name }) => name), ...(relation.endsWith('*') ? [relation] : [])];
      if (found.length === 0 || !read.every((name) => rules.mayReadTable(name)))
        return `the table ${relation} may not be read here: read only the tables of the schema shown`;
      for (const table of found) {
        const names = table.columns.map(({ name }) => name);
        const columns = [
          ...written.filter((column) => rules.deniesByName(table.name, column)),
          ...names.filter((column) => !rules.mayReadColumn(table.name, column)),
        ];
        const mayHideNew = isOld && knowsChanges && rules.namesColumnsOf(table.name) !== null;
        if (columns.length === 0 && !mayHideNew) continue;
        const keys = dialect === 'mysql' ? [table.primaryKey, ...table.uniqueKeys] : [table.primaryKey];
        if (keys.some((key) => key.length === 1 && columns.includes(key[0] ?? '')))
          columns.push(...(DIALECTS[dialect].rowIds ?? []));
        const name = nameParts(table.name, dialect).at(-1) ?? table.name;
        hidden.push({
          table: relation.endsWith('*') ? (relation.split('.').at(-1) ?? name) : name,
          columns,
          all: names,
        });
      }
    }
    return hidden.length === 0 ? null : findHidden(sql, hidden, dialect);
  }

  /** `*` also reads columns that were added after the description was made. */
  async function unlessDenied(sql: string, result: SqlResult, signal: AbortSignal): Promise<SqlResult> {
    if (rules.open || result.kind !== 'rows') return result;
    const inspection = inspector.inspect(sql);
    if (inspection.kind !== 'select') return result;
    const { relations } = inspection;
    const suspects = result.columns.filter(({ name }) => relations.some((one) => rules.deniesByName(one, name)));
    if (suspects.length === 0) return result;
    // What the text names was judged before.
    const known = new Set(wordsOf(sql, dialect).map((word) => word.toLowerCase()));
    const { tables } = await description(signal);
    for (const { name, columns } of relations.flatMap((relation) => findTables(relation, tables, schemas)))
      for (const column of columns) if (rules.mayReadColumn(name, column.name)) known.add(column.name.toLowerCase());
    const denied = suspects.find(({ name }) => !known.has(name.toLowerCase()));
    if (denied === undefined) return result;
    described = null;
    return { kind: 'refused', message: `the column ${denied.name} may not be read here: leave it out` };
  }

  return {
    dialect,
    async run(statements, options) {
      const verdicts: (SqlResult | null)[] = [];
      for (const sql of statements) verdicts.push(await judge(sql, options.signal));
      const passed = statements.filter((_, index) => verdicts[index] === null);
      const { takenAt, results } =
        passed.length === 0 ? { takenAt: new Date().toISOString(), results: [] } : await engine.run(passed, options);
      const shown: SqlResult[] = [];
      for (const [index, result] of results.entries())
        shown.push(await unlessDenied(passed[index] ?? '', result, options.signal));
      const answers = shown.values();
      const all = verdicts.map((verdict) => verdict ?? (answers.next().value as SqlResult));
      return { takenAt, results: all.map(shortened) };
    },
    async digest(sql, options) {
      const result = (await judge(sql, options.signal)) ?? (await engine.digest(sql, options));
      return 'kind' in result ? shortened(result) : result;
    },
    async describe({ signal }) {
      described = null;
      const whole = await description(signal);
      return rules.open ? whole : visiblePart(whole, rules);
    },
    // The access lists decide what a description shows, so they are part of its revision.
    ...(engine.revision && {
      revision: async (options) =>
        `${(await engine.revision?.(options)) ?? ''}-${rules.open ? '' : sha256(JSON.stringify(access))}`,
    }),
    ...(engine.estimate && {
      estimate: async (sql, options) =>
        (await judge(sql, options.signal)) === null ? ((await engine.estimate?.(sql, options)) ?? null) : null,
    }),
    close: () => engine.close(),
  };
}

const wordsOf = (sql: string, dialect: Dialect): string[] =>
  tokensOf(sql, dialect).flatMap(({ kind, text }) => (kind === 'word' || kind === 'quoted' ? text : []));

/** By a pattern that ends in this very name, and not by one in which a `*` stands for it. */
const isDeniedAsWritten = ({ deny }: AccessLists, column: string): boolean =>
  deny.some((pattern) => pattern.trim().split('.').at(-1)?.toLowerCase() === column.toLowerCase());

const MAX_MESSAGE_CHARS = 2_000;

/** An engine's message may quote a value of any size. Messages go into histories and prompts, so they are cut. */
function shortened(result: SqlResult): SqlResult {
  if (!('message' in result) || result.message.length <= MAX_MESSAGE_CHARS) return result;
  const head = clip(result.message, MAX_MESSAGE_CHARS);
  return { ...result, message: `${head} … (cut: ${result.message.length.toLocaleString('en-US')} characters)` };
}

/** The described table that a name means: `public.team` may be described as `team`. A wildcard (BigQuery) means several. */
function findTables(
  relation: string,
  tables: readonly TableDescription[],
  schemas: readonly string[],
): TableDescription[] {
  const wanted = relation.toLowerCase();
  const schema = schemas.find((name) => wanted.startsWith(`${name.toLowerCase()}.`));
  const bare = schema === undefined ? wanted : wanted.slice(schema.length + 1);
  // Several where names differ in case alone.
  const called = (name: string): TableDescription[] => tables.filter((one) => one.name.toLowerCase() === name);
  const exact = called(wanted).length > 0 ? called(wanted) : called(bare);
  if (!wanted.endsWith('*')) return exact;
  const start = (exact[0]?.name.toLowerCase() ?? bare).slice(0, -1);
  return tables.filter(({ name }) => name.toLowerCase().startsWith(start) && !name.slice(start.length).includes('.'));
}

/** Keys that refer to hidden tables or columns are left out: they would reveal their names. */
function visiblePart(description: DatabaseDescription, rules: AccessRules): DatabaseDescription {
  const tables = description.tables
    .filter(({ name }) => rules.mayReadTable(name))
    .map((table): TableDescription => {
      const shows = (name: string) => (columns: readonly string[]) =>
        columns.every((column) => rules.mayReadColumn(name, column));
      return {
        ...table,
        columns: table.columns.filter(({ name }) => rules.mayReadColumn(table.name, name)),
        primaryKey: shows(table.name)(table.primaryKey) ? table.primaryKey : [],
        uniqueKeys: table.uniqueKeys.filter(shows(table.name)),
        foreignKeys: table.foreignKeys.filter(
          (key) => shows(table.name)(key.columns) && rules.mayReadTable(key.table) && shows(key.table)(key.references),
        ),
      };
    });
  return { ...description, tables, fingerprint: fingerprintOf(tables) };
}
