/** Whether a path is a readable file of an engine: a wrong one gives one clear line before a driver sees it. */
import { open, stat } from 'node:fs/promises';
import { SqlEngineError } from '../../domain/ports/sql-engine';

/** `isOne`: by the first 16 bytes, fewer of a shorter file. `otherwise`: throws what is said of another file. */
export interface FileKind {
  readonly kind: string;
  /** With its article and version, as a user should give one: `a SQLite 3 file`. */
  readonly called: string;
  readonly isOne: (start: Buffer) => boolean;
  readonly otherwise: () => void;
}

/** `given`: the path as the user wrote it, for messages. */
export async function checkDatabaseFile(given: string, path: string, { kind, called, isOne, otherwise }: FileKind) {
  try {
    const found = await stat(path);
    if (found.isDirectory())
      throw new SqlEngineError('not-found', `${given} is a directory: name the ${kind} file in it`);
    // Opening a pipe would wait for a writer and block this process, even its exit.
    if (!found.isFile()) throw new SqlEngineError('not-found', `${given} is no ordinary file: name ${called}`);
    const file = await open(path, 'r');
    try {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(16), 0, 16, 0);
      if (!isOne(buffer.subarray(0, bytesRead))) otherwise();
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof SqlEngineError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw new SqlEngineError('not-found', `there is no file ${given}: check the path of the database`);
    if (code === 'EACCES' || code === 'EPERM')
      throw new SqlEngineError('not-found', `this user may not read ${given}: change its permissions`);
    throw new SqlEngineError('connection', `cannot read ${given}: ${message}`, { cause: error });
  }
}
