/**
 * The third read-only check of SQLite, after `mode=ro` and `query_only`: it reads the program into which SQLite compiled
 * the statement. `libsql` links file functions (`writefile`, `readfile`, `fsdir`), and its `mode=ro` does not cover
 * attached files. So the program that `EXPLAIN` lists must
 *
 * 1. start no write transaction and contain no operation that leaves the main database (ATTACH, VACUUM INTO, …);
 * 2. call only functions known to compute a value from their arguments;
 * 3. open no virtual table that reads files or raw pages. A program names virtual tables by address only, so their names
 *    are looked for in the statement's text. They must stand there: SQL cannot assemble identifiers, and views cannot use
 *    such tables (`trusted_schema` is off).
 */
import type Database from 'libsql';
import { tokensOf, rewritten } from '../../sql/lexer';
import { BoundedMap } from '../../bounded-map';
import { refusingFunctions, words } from '../kit/functions';

/** A row of `EXPLAIN`: addr, opcode, p1, p2, p3, p4. */
type Instruction = readonly unknown[];

/** Each writes, or leaves the main database. A statement that begins like a query should compile to none of them. */
const FORBIDDEN_OPCODES =
  /^(Vacuum|IncrVacuum|JournalMode|Checkpoint|AutoCommit|Savepoint|OpenWrite|VUpdate|VCreate|VDestroy|VBegin|VRename|Destroy|CreateBtree|ParseSchema|SetCookie|LoadAnalysis)$/;

const FUNCTION_OPCODES = new Set(['Function', 'PureFunc', 'AggStep', 'AggStep1', 'AggInverse', 'AggValue', 'AggFinal']);

const SAFE_FUNCTIONS = words(
  `-> ->> abs acos acosh asin asinh atan atan2 atanh atn2 auxdata avg bm25 ceil ceiling char charindex coalesce concat concat_ws
  cos cosh cot coth count cume_dist current_date current_time current_timestamp date datetime degrees dense_rank difference
  exp first_value floor format geopoly_area geopoly_bbox geopoly_blob geopoly_ccw geopoly_contains_point geopoly_group_bbox
  geopoly_json geopoly_overlap geopoly_regular geopoly_svg geopoly_within geopoly_xform glob group_concat hex highlight
  ifnull iif instr json json_array json_array_length json_each json_error_position json_extract json_group_array
  json_group_object json_insert json_object json_patch json_quote json_remove json_replace json_set json_tree json_type
  json_valid jsonb jsonb_array jsonb_extract jsonb_group_array jsonb_group_object jsonb_insert jsonb_object jsonb_patch
  jsonb_remove jsonb_replace jsonb_set julianday lag last_value lead leftstr length like likelihood likely ln log log10 log2
  lower lower_quartile ltrim match matchinfo max median min mod mode nth_value ntile nullif octet_length offsets padc padl
  padr percent_rank percentile pi power pow printf proper quote radians random randomblob rank regexp regexpi replace
  replicate reverse rightstr round row_number rtrim sha3 sign sin sinh snippet soundex sqlite_source_id sqlite_version sqrt square stdev
  strfilter strftime string_agg substr substring subtype sum tan tanh time timediff total trim trunc typeof unhex unicode
  unixepoch unlikely upper upper_quartile uuid uuid_blob uuid_str variance vector vector1bit vector16 vector32 vector64 vector8 vector_distance_cos
  vector_distance_l2 vector_extract vectorb16 zeroblob`,
);

/** Why the program may not run, or null. */
function refuseProgram(sql: string, program: readonly Instruction[]): string | null {
  for (const instruction of program) {
    const opcode = String(instruction[1]);
    if (FORBIDDEN_OPCODES.test(opcode) || (opcode === 'Transaction' && instruction[3] !== 0))
      return 'the statement writes: write one SELECT that only reads';
    if (FUNCTION_OPCODES.has(opcode)) {
      const name = String(instruction[5]).replace(/\(.*$/s, '').toLowerCase();
      if (name === 'sqlite_attach' || name === 'sqlite_detach') return 'ATTACH and DETACH are not allowed here';
      if (!SAFE_FUNCTIONS.has(name))
        return `the function ${name} is not allowed here: use one that only computes a value`;
    }
    if (opcode === 'VOpen') {
      const table = relationsIn(sql).find(isForbiddenTable);
      if (table !== undefined)
        return `the table function ${table.toLowerCase()} is not allowed here: read the tables of the database`;
    }
  }
  return null;
}

/** In SQLite's grammar a relation can only stand after one of these. */
const BEFORE_RELATION = /^(?:from|join|in|[,(.])$/i;

/**
 * Words that may name a relation. SQLite splits parameters differently (`$x(')` is one), so in a statement with one every
 * word counts.
 */
function relationsIn(sql: string): string[] {
  if (/[$@#:]/.test(sql)) return sql.match(/\w+/g) ?? [];
  const tokens = tokensOf(sql, 'sqlite').map(({ raw }) => raw);
  return tokens.filter((_, index) => BEFORE_RELATION.test(tokens[index - 1] ?? '')).map(unquoted);
}

const unquoted = (token: string): string => token.replace(/^['"`[](.*)['"`\]]$/s, '$1');

/** What the parser checks refuse in SQLite, each with what to write instead (design §7). */

export const refuseFunction = refusingFunctions({
  'it reaches files or code outside the database: read tables':
    /^(readfile|writefile|edit|load_extension|fsdir|zipfile|zipfile_cds|sqlar_\w+|lsmode)$/,
  'it acts on the engine itself: compute with plain functions':
    /^(fts3_tokenizer|sqlite3mc_\w+|sqlite_crypt|sqlite_log|sha3_query|rtreecheck)$/,
  'it tells about writes, and there are none here: use count()': /^(last_insert_rowid|changes|total_changes)$/,
});

/** Table-valued pragmas that describe tables. The others show or change the session or the machine. */
const READABLE_PRAGMAS = [
  'table_info',
  'table_xinfo',
  'table_list',
  'index_list',
  'index_info',
  'index_xinfo',
  'foreign_key_list',
];

/** Virtual tables that read files, raw pages or the engine's memory. */
const FORBIDDEN_TABLE = new RegExp(
  `^(fsdir|zipfile|sqlite_dbpage|sqlite_stmt|carray|vector_top_k|pragma_(?!(?:${READABLE_PRAGMAS.join('|')})$)\\w+)$`,
  'i',
);

const isForbiddenTable = (name: string): boolean => FORBIDDEN_TABLE.test(name);

/** `called`: written with arguments, like a table function. A plain table may be called zipfile. */
export function refuseRelation(name: string, called = false): string | null {
  const bare = name.toLowerCase().replace(/^main\./, '');
  if (!isForbiddenTable(bare)) return null;
  if (bare.startsWith('pragma_'))
    return `${bare} is not allowed: only ${READABLE_PRAGMAS.map((pragma) => `pragma_${pragma}`).join(', ')} are`;
  if (called) return `the table function ${bare} is not allowed: read the tables of the database`;
  return bare === 'zipfile' ? null : `the relation ${name} is not allowed: it shows the engine and not the data`;
}

/**
 * Compiles a statement to learn whether it may run (`refuseProgram`), and its columns. Both depend only on the text and the
 * schema, so they are cached until the schema changes.
 */

interface Compiled {
  /** Why it may not run; null if it may. */
  readonly refused: string | null;
  readonly columns: readonly { readonly name: string; readonly type: string | null }[];
}

const KEPT_CHARS = 1024 * 1024;

export class Compiler {
  /**
   * A connection for EXPLAIN only: libsql never resets such a statement, and its connection then keeps every lock. This
   * one has already read the schema and takes no further lock: statements that do not compile never reach it, and it is
   * replaced when the schema changes.
   */
  #database: Database.Database | null = null;
  #schemaVersion = '';
  #kept = new BoundedMap<Compiled>(KEPT_CHARS);

  constructor(readonly connect: () => Database.Database) {}

  /** `statement` must be prepared from `text` on a connection whose snapshot has schema `schemaVersion`. */
  compile(text: string, statement: Database.Statement, schemaVersion: string): Compiled {
    if (this.#database === null || schemaVersion !== this.#schemaVersion) {
      this.#database?.close();
      this.#database = this.connect();
      this.#schemaVersion = schemaVersion;
      this.#kept = new BoundedMap(KEPT_CHARS);
    }
    const before = this.#kept.get(text);
    if (before !== undefined) return before;
    const program = this.#database
      .prepare(`EXPLAIN ${withPlainBlobs(text)}`)
      .raw(true)
      .all() as Instruction[];
    const refused = refuseProgram(text, program);
    const compiled = { refused, columns: refused === null ? statement.columns() : [] };
    const size = compiled.columns.reduce((sum, { name, type }) => sum + name.length + (type?.length ?? 0) + 100, 100);
    this.#kept.set(text, compiled, text.length + size);
    return compiled;
  }
}

/**
 * The same statement with other bytes in its binary literals. EXPLAIN prints those as text, and libsql ends the process on
 * text that is not UTF-8.
 */
function withPlainBlobs(sql: string): string {
  return rewritten(sql, 'sqlite', ({ raw }) => (/^x'/i.test(raw) ? raw.replace(/[0-9a-f]{2}/gi, '61') : raw));
}
