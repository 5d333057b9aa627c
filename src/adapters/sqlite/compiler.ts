/**
 * What SQLite's compiler makes of a statement: whether it may run (`bytecode.ts`), and its columns. Both follow from the
 * text and the schema, so they are kept as long as the schema stays.
 */
import type Database from 'libsql';
import { BoundedMap } from '../../bounded-map';
import { refuseProgram, type Instruction } from './bytecode';
import { withPlainBlobs } from './statement-text';

export interface Compiled {
  /** Why it may not run. */
  readonly refused: string | null;
  readonly columns: readonly { readonly name: string; readonly type: string | null }[];
}

const KEPT_CHARS = 1024 * 1024;

export class Compiler {
  /**
   * For EXPLAIN alone: libsql never resets such a statement, and its connection then keeps every lock that it takes. This
   * one takes none after it has read the schema, because statements that do not compile never get to it, and it is
   * replaced when the schema has changed.
   */
  #database: Database.Database | null = null;
  #schemaVersion = '';
  #kept = new BoundedMap<Compiled>(KEPT_CHARS);

  constructor(readonly connect: () => Database.Database) {}

  /** `statement` is prepared from `text` on a connection whose snapshot has that version of the schema. */
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
