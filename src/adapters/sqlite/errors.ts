/** What a process of SQLite ended with, as a result or as an error of the engine. */
import { SqlEngineError } from '../../domain/ports/sql-engine';
import { sorted } from '../error-table';
import type { ChildEngine, Failure } from '../kit/child-session';
import type { EngineErrors, Outcome } from '../kit/engine';

export const sqlite: ChildEngine = {
  program: 'sqlite',
  name: 'SQLite',
  called: 'a SQLite 3 file',
  version: 'sqlite_version()',
  log: '-wal',
  throwIfBroken,
  explained,
};

function explained({ code, message }: Failure, path: string): Outcome {
  throwIfBroken({ code, message }, path);
  return { kind: 'sql-error', message: code === 'SQLITE_NOMEM' ? NO_MEMORY : message, code };
}

const NO_MEMORY =
  'the statement needs more memory than it may take (1 GB): filter or aggregate earlier, select parts of large values';

/** Of a file that is locked or damaged: the statement did not cause that. */
const BROKEN: EngineErrors = [
  [/^SQLITE_(BUSY|LOCKED|IOERR)/, 'connection', 'cannot read {path} just now: {message}'],
  [/^SQLITE_(NOTADB|CORRUPT)/, 'not-found', '{path} is not a SQLite database (or it is damaged or encrypted): name a SQLite 3 file'],
  [/^SQLITE_READONLY_ROLLBACK$/, 'not-found', 'a program was stopped in the middle of writing {path}, and a reader may not repair the file: open it once with one that may write (sqlite3 FILE .tables)'],
  // SQLITE_READONLY_DIRECTORY, for which the driver has no name.
  [/^UNKNOWN_SQLITE_ERROR_1544$/, 'not-found', 'cannot open {path}: in WAL mode each reader needs files beside it; let this user write into its folder, or end that mode (PRAGMA journal_mode = DELETE)'],
  [/^SQLITE_(CANTOPEN|PERM|READONLY_(RECOVERY|CANTINIT|CANTLOCK))/, 'not-found', 'cannot open {path}: {message}; check that this user may read it and its folder'],
]; // prettier-ignore

function throwIfBroken({ code, message }: Failure, path: string): void {
  const found = sorted(BROKEN, code, { path, message });
  if (found !== null) throw new SqlEngineError(found.code, found.line);
}
