/** What a client of MCP may reach: the use cases of the command line, within what the process, or a token, allows. */
import { visibleLine } from '../../clip';
import type { App, ServedBy } from '../../app/app';
import { UsageError, withoutSecrets } from '../../app/errors';
import { findSearch, unknownSearch } from '../../app/searches';
import { inputOf } from '../../app/services';
import type { Config } from '../../config';
import type { SearchInput } from '../../domain';
import { limiter, type Limiter } from '../../limiter';

export interface DoorOptions {
  /** Opens the services, with the configuration as it is now. */
  readonly open: (onEvent?: App['onEvent']) => App;
  /** Whether this configured database may be asked. */
  readonly reaches: (database: string) => boolean;
  /** Of its searches; those of others are unknown here. */
  readonly namespace: string;
  readonly servedBy: Extract<ServedBy, string>;
  /** Whose name a hint bears. */
  readonly author: string;
  /** The most that one question may cost here, in US dollars; null: as configured. */
  readonly costUsd: number | null;
  /** Throws where this search may not be paid. */
  readonly admit: (input: SearchInput, app: App) => Promise<void>;
  /** Whether rows can be read with the caller's own SQL. */
  readonly sql: boolean;
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

export function databasesOf(door: Door, { databases }: Config): readonly string[] {
  return Object.keys(databases).filter((name) => door.reaches(name));
}

/** A configured name and nothing else: no path and no URL. Left out: the only one. */
export function databaseNamed(door: Door, config: Config, given: string | undefined): string {
  const names = databasesOf(door, config);
  const known = names.join(', ') || 'none';
  const name = given ?? (names.length === 1 ? names[0] : undefined);
  if (name === undefined) throw new UsageError(`which database? give "db" with a name (configured: ${known})`);
  if (names.includes(name)) return name;
  const shown = visibleLine(withoutSecrets(name)).slice(0, 100);
  throw new UsageError(
    `database '${shown}' is not configured here; configured: ${known}; paths and URLs are not taken`,
  );
}

/** The id of a search that this door may see. */
export async function searchNamed(door: Door, { store, config }: App, wanted: string): Promise<string> {
  const id = await findSearch(store, wanted);
  const input = await inputOf(store, id);
  if (input?.namespace !== door.namespace) throw unknownSearch(id);
  if (!databasesOf(door, config).includes(input.question.database)) throw unknownSearch(id);
  return id;
}
