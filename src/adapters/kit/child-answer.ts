/** In the process of a database in a file: which part of its program answers a request. */
import type { ChildReply, ChildRequest } from './child-session';

/** What the program of a database does. */
export interface DatabaseProgram {
  begin(path: string): ChildReply | Promise<ChildReply>;
  query(request: Extract<ChildRequest, { kind: 'query' }>): ChildReply | Promise<ChildReply>;
  end(): ChildReply | Promise<ChildReply>;
  attemptWrites(): ChildReply | Promise<ChildReply>;
}

export async function handled(request: ChildRequest, program: DatabaseProgram): Promise<ChildReply> {
  switch (request.kind) {
    case 'begin':
      return program.begin(request.path);
    case 'query':
      return program.query(request);
    case 'end':
      return program.end();
    case 'attempt-writes':
      return program.attemptWrites();
  }
}
