/**
 * Compiles a statement to learn whether it may run (`bytecode.ts`), and its columns. Both depend only on the text and the
 * schema, so they are cached until the schema changes.
 */
import type Database from 'libsql';
import { BoundedMap } from '../../bounded-map';
import { refuseProgram, type Instruction } from './bytecode';
import { rewritten } from '../../sql/lexer';

export interface Compiled {
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
