/** `gate db list`: what is configured, without opening anything and without a secret. */
import { ConfigError, loadConfig, type Config, type DatabaseConfig } from '../config';
import { engineOfUrl, namedDatabase } from '../config/databases';
import type { Io } from './io';
import { textTable } from './table';

interface ListedDatabase {
  readonly name: string;
  readonly engine: string;
  readonly address: string;
  /** Of the configuration. */
  readonly id: string | null;
  /** null: there is nothing at the address, or no address. */
  readonly identity: string | null;
  readonly access: string;
}

export function listDatabases(flags: { readonly json?: boolean }, io: Io): void {
  const config = loadConfig(io);
  const { databases, file } = config;
  const listed = Object.entries(databases).map(([name, entry]) => listedOf(config, name, entry));
  if (flags.json) {
    io.out(`${JSON.stringify(listed, null, 2)}\n`);
    return;
  }
  if (listed.length === 0) {
    io.err(
      `no database is configured${file === null ? '' : ` in ${file}`}; begin with: gate db add NAME --path FILE\n`,
    );
    return;
  }
  const withId = listed.some(({ id }) => id !== null);
  const rows = listed.map(({ name, engine, address, id, access }) => [
    ...[name, engine, address, ...(withId ? [id ?? ''] : []), access],
  ]);
  const head = ['name', 'engine', 'address', ...(withId ? ['id'] : []), 'access'];
  io.out(`${textTable(head, rows, { width: io.columns, whole: 1 })}\n`);
}

function listedOf(config: Config, name: string, entry: DatabaseConfig): ListedDatabase {
  const { address, id, role, schemas, access } = entry;
  const parts = [
    ...(role === null ? [] : [`role ${role}`]),
    ...(schemas.length === 0 ? [] : [`schemas ${schemas.join(', ')}`]),
    ...(access.allow.length === 0 ? [] : [`only ${access.allow.join(', ')}`]),
    ...(access.deny.length === 0 ? [] : [`not ${access.deny.join(', ')}`]),
  ];
  const identity = identityOf(config, name);
  return { name, ...placeOf(address), id, identity, access: parts.join('; ') || 'everything that may be read' };
}

function identityOf(config: Config, name: string): string | null {
  try {
    return namedDatabase(config, name).identity;
  } catch (error) {
    if (error instanceof ConfigError) return null; // gate db check says what is wrong
    throw error;
  }
}

function placeOf(address: DatabaseConfig['address']): Pick<ListedDatabase, 'engine' | 'address'> {
  switch (address.kind) {
    case 'path':
      return { engine: 'sqlite', address: address.path };
    case 'unset':
      return { engine: '?', address: `not set: ${address.fix}` };
    case 'url': {
      const url = address.url.reveal();
      return { engine: engineOfUrl(url) ?? '?', address: bareAddress(url) };
    }
    default:
      return address satisfies never;
  }
}

/** User, host, port and path: parameters may hold keys. */
export function bareAddress(text: string): string {
  if (!URL.canParse(text)) return 'a URL that cannot be read';
  const { protocol, username, host, pathname } = new URL(text);
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`;
}
