/** In the process of a database in a file: how its program answers requests. */
import type { ChildReply, ChildRequest, Failure } from './child-session';
import type { WriteAttempt } from './database-check';
import { Refusal } from './inspection';

/** What the program of a database does. */
export interface DatabaseProgram {
  /** A run begins: opens the file, where it is not open. */
  begin(path: string): unknown;
  /** Throws `Refusal` for a statement that may not run. */
  query(request: Extract<ChildRequest, { kind: 'query' }>): ChildReply | Promise<ChildReply>;
  end(): unknown;
  attemptWrites(): readonly WriteAttempt[] | Promise<readonly WriteAttempt[]>;
  failureOf(error: unknown): Failure;
}

export const answering =
  (program: DatabaseProgram) =>
  async (request: ChildRequest): Promise<ChildReply> => {
    let isOutside = true;
    try {
      switch (request.kind) {
        case 'begin':
          await program.begin(request.path);
          return { kind: 'done' };
        case 'query':
          if (request.begin !== null) await program.begin(request.begin);
          isOutside = false;
          try {
            return await program.query(request);
          } finally {
            if (request.isLast) await program.end();
          }
        case 'end':
          await program.end();
          return { kind: 'done' };
        case 'attempt-writes':
          return { kind: 'attempts', attempts: await program.attemptWrites() };
      }
    } catch (error) {
      if (error instanceof Refusal) return { kind: 'refused', message: error.message };
      return { kind: 'error', ...program.failureOf(error), isOutside };
    }
  };
