/** What a client of MCP may reach: the use cases of the command line, within what the process, or a token, allows. */
import type { App } from '../../app/app';
import { ownDatabases, ownSearch, type Asker, type Askers } from '../../app/asker';
import { unknownSearch } from '../../app/searches';
import { limiter, type Limiter } from '../../limiter';

export interface DoorOptions {
  readonly app: App;
  /** Its token is never null: an agent of the person at this machine sees the searches of that person, and no others. */
  readonly asker: Asker & { readonly token: string };
  readonly askers: Askers;
  readonly offers: (tool: string) => boolean;
}

export interface Door extends DoorOptions {
  /** Searches whose open reading was offered to a person, and the search that answers the other reading if that was chosen. */
  readonly offered: Map<string, string | null>;
  /** Searches begin one after another, so that all find the worker which the first one started. */
  readonly beginning: Limiter;
}

export function openDoor(options: DoorOptions): Door {
  return { ...options, offered: new Map(), beginning: limiter(1) };
}

/** Its searches on configured databases; others are unknown here. */
export async function searchNamed({ app, asker }: Door, id: string): Promise<string> {
  const { question } = await ownSearch(app.store, id, asker);
  if (!ownDatabases(app, asker).includes(question.database)) throw unknownSearch(id);
  return id;
}
