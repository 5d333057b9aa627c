/** `gate db list`: what is configured, without opening anything and without a secret. */
import { loadConfig, type DatabaseConfig } from '../config';
import { engineOfUrl } from '../databases';
import type { Io } from './io';
import { textTable } from './table';

interface ListedDatabase {
  readonly name: string;
  readonly engine: string;
  readonly address: string;
  readonly access: string;
}

export function listDatabases(flags: { readonly json?: boolean }, io: Io): void {
  const { databases, file } = loadConfig(io);
  const listed = Object.entries(databases).map(([name, entry]) => listedOf(name, entry));
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
  const rows = listed.map(({ name, engine, address, access }) => [name, engine, address, access]);
  io.out(`${textTable(['name', 'engine', 'address', 'access'], rows, { width: io.columns, whole: 1 })}\n`);
}

function listedOf(name: string, entry: DatabaseConfig): ListedDatabase {
  const { address, role, schemas, access } = entry;
  const parts = [
    ...(role === null ? [] : [`role ${role}`]),
    ...(schemas.length === 0 ? [] : [`schemas ${schemas.join(', ')}`]),
    ...(access.allow.length === 0 ? [] : [`only ${access.allow.join(', ')}`]),
    ...(access.deny.length === 0 ? [] : [`not ${access.deny.join(', ')}`]),
  ];
  return { name, ...placeOf(address), access: parts.join('; ') || 'everything that may be read' };
}

function placeOf(address: DatabaseConfig['address']): Pick<ListedDatabase, 'engine' | 'address'> {
  switch (address.kind) {
    case 'path':
      return { engine: 'sqlite', address: address.path };
    case 'unset':
      return { engine: '?', address: `not set: ${address.fix}` };
    case 'url': {
      const url = address.url.reveal();
      return { engine: engineOfUrl(url) ?? '?', address: withoutSecrets(url) };
    }
    default:
      return address satisfies never;
  }
}

/** User, host, port and path: parameters may hold keys. */
export function withoutSecrets(text: string): string {
  if (!URL.canParse(text)) return 'a URL that cannot be read';
  const { protocol, username, host, pathname } = new URL(text);
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`;
}
