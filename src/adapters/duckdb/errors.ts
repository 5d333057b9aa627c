/** What a process of DuckDB ended with, as a result or as an error of the engine. */
import { SqlEngineError } from '../../domain/ports/sql-engine';
import { sorted } from '../error-table';
import type { ChildEngine, Failure } from '../kit/child-session';
import type { EngineErrors, Outcome } from '../kit/engine';

export const VERSION = "ltrim(version(), 'v')";
export const duckdb: ChildEngine = {
  program: 'duckdb',
  name: 'DuckDB',
  called: 'a DuckDB file',
  version: VERSION,
  log: '.wal',
  throwIfBroken,
  explained,
};

function explained({ code, message }: Failure, path: string): Outcome {
  throwIfBroken({ code, message }, path);
  if (code === 'Permission' || /read-only (?:mode|transaction)/.test(message))
    return { kind: 'refused', message: `${oneLine(message)}: write one SELECT that only reads tables` };
  return { kind: 'sql-error', message: oneLine(message), code };
}

/** DuckDB shows the place of an error by the line and a caret below it. */
export function oneLine(message: string): string {
  const [, before = message, line = '', text = '', caret = ''] =
    /^([\s\S]*?)\n+LINE (\d+): (.*)\n( *)\^/.exec(message) ?? [];
  const column = caret.length - `LINE ${line}: `.length;
  const near = text.slice(Math.max(0, column)).trim().slice(0, 30);
  const said = before.trim().replace(/\s*\n\s*/g, ' ');
  return line === '' ? said : `${said} (line ${line}${near === '' ? '' : `, at ${near}`})`;
}

/** Of a file that is locked, damaged or of another kind: the statement did not cause that. */
const BROKEN: EngineErrors = [
  [/^(ERR_)?MODULE_NOT_FOUND /, 'not-configured', 'install @duckdb/node-api: npm install @duckdb/node-api'],
  [/^ENOENT /, 'not-found', 'there is no file {path}: check the path of the database'],
  [/Could not set lock on file/, 'connection', '{path} is open for writing in another program{by}: close it there, or copy the file and name the copy'],
  // An extension would read a file of SQLite.
  [/not a valid DuckDB database file|external extensions is disabled/, 'not-found', '{path} is not a DuckDB database: name a DuckDB file, or a data file by its ending (.csv, .parquet, .json)'],
  [/database file with version number|newer version of DuckDB|serialized with a newer|storage version/i, 'not-found', '{path} was made by another version of DuckDB, which @duckdb/node-api cannot read: install a newer @duckdb/node-api, or write the file again (EXPORT DATABASE)'],
  [/[Ee]ncrypt/, 'not-configured', '{path} is encrypted, and no key can be given here: copy it into a file without encryption'],
  [/[Cc]orrupt|checksum|not read enough bytes/, 'not-found', '{path} is damaged: {message}'],
  [/^IO /, 'connection', 'cannot read {path} just now: {message}'],
]; // prettier-ignore

function throwIfBroken({ code, message }: Failure, path: string): void {
  const [, writer, pid] = /held in (?:.*\/)?(.+?) \(PID (\d+)\)/.exec(message) ?? [];
  const facts = { path, message: oneLine(message), by: pid === undefined ? '' : ` (${writer}, process ${pid})` };
  const isOfFile = /^(IO|Serialization|(ERR_)?MODULE_NOT_FOUND|ENOENT)$/.test(code);
  const found =
    isOfFile || /[Ee]ncrypted database|^Permission Error: Loading external extensions/.test(message)
      ? sorted(BROKEN, `${code} ${message}`, facts)
      : null;
  if (found !== null) throw new SqlEngineError(found.code, found.line);
}
