/** What the parser checks refuse in SQLite, each with what to write instead (design §7). */

const FUNCTIONS: readonly (readonly [RegExp, string])[] = [
  [/^(readfile|writefile|edit|load_extension|fsdir|zipfile|zipfile_cds|sqlar_\w+|lsmode)$/, 'it reaches files or code outside the database: read tables'],
  [/^(fts3_tokenizer|sqlite3mc_\w+|sqlite_crypt|sqlite_log|sha3_query|rtreecheck)$/, 'it acts on the engine itself: compute with plain functions'],
  [/^(last_insert_rowid|changes|total_changes)$/, 'it tells about writes, and there are none here: use count()'],
]; // prettier-ignore

export function refuseFunction(name: string): string | null {
  const lower = name.toLowerCase();
  const found = FUNCTIONS.find(([pattern]) => pattern.test(lower));
  return found === undefined ? null : `the function ${lower} is not allowed: ${found[1]}`;
}

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

export const isForbiddenTable = (name: string): boolean => FORBIDDEN_TABLE.test(name);

/** `called`: written with arguments, like a table function. A plain table may be called zipfile. */
export function refuseRelation(name: string, called = false): string | null {
  const bare = name.toLowerCase().replace(/^main\./, '');
  if (!isForbiddenTable(bare)) return null;
  if (bare.startsWith('pragma_'))
    return `${bare} is not allowed: only ${READABLE_PRAGMAS.map((pragma) => `pragma_${pragma}`).join(', ')} are`;
  if (called) return `the table function ${bare} is not allowed: read the tables of the database`;
  return bare === 'zipfile' ? null : `the relation ${name} is not allowed: it shows the engine and not the data`;
}
