/**
 * What a login may do besides reading, from SHOW GRANTS. A READ ONLY session does not stop everything that a right of the server
 * allows, so a login with any right that does not only read is refused when the database is opened. Roles count whether or not
 * they are active: SET ROLE would make them so.
 */
import type { Connection } from 'mysql2';
import { SqlEngineError } from '../../domain/ports/sql-engine';
import type { WritingRight } from '../kit/database-check';
import { connect, type Address } from './address';
import { query } from './session';

/** They show data or structure. REFERENCES alone does nothing. */
const READING = /^(USAGE|SELECT|SHOW VIEW|SHOW DATABASES|REFERENCES|SHOW CREATE ROUTINE|SHOW_ROUTINE)$/;

const NAME = '`(?:[^`]|``)*`';
const ACCOUNT = `${NAME}(?:@${NAME})?`;
const OBJECT = `(?:[A-Z ]+ )?(?:\\*|${NAME})\\.(?:\\*|${NAME})`;
const ROLES = new RegExp(`^GRANT (${ACCOUNT}(?:,\\s*${ACCOUNT})*) TO `);
const RIGHTS = new RegExp(`^GRANT (.+?) ON (${OBJECT}) TO (PUBLIC|${ACCOUNT})`, 's');

/** Empty: the login only reads. */
export async function writingRights(address: Address): Promise<WritingRight[]> {
  const connection = await connect(address);
  try {
    // Names in backticks, whatever the server's mode is.
    await query(connection, "SET SESSION sql_mode = ''");
    const own = await grantsOf(connection);
    const roles = own.flatMap((line) => ROLES.exec(line)?.[1]?.match(new RegExp(ACCOUNT, 'g')) ?? []);
    const lines = new Set(own);
    for (const role of roles) {
      await query(connection, `SET ROLE ${role}`);
      for (const line of await grantsOf(connection)) lines.add(line);
    }
    return [...lines].flatMap((line) => rightIn(line, address.target.database));
  } finally {
    connection.destroy();
  }
}

const grantsOf = async (connection: Connection): Promise<string[]> =>
  (await query(connection, 'SHOW GRANTS')).map(([line]) => String(line));

/** A line may hold the hash of a password, so none is shown as it is; one that is not understood counts as a right. */
function rightIn(line: string, database: string): WritingRight[] {
  if (ROLES.test(line) && !line.includes(' WITH ADMIN OPTION')) return [];
  const [, rights, object, grantee] = RIGHTS.exec(line) ?? [];
  if (rights === undefined) {
    if (line.startsWith('REVOKE ')) return [];
    const what = line.startsWith('GRANT PROXY ') ? 'act as other users' : 'grant roles, or has a right not known here';
    return [{ what: `it may ${what}`, fix: readerStatements(database) }];
  }
  const all = [
    ...rights.replace(/\s*\((?:`(?:[^`]|``)*`|[^)`])*\)/g, '').split(/,\s*/),
    ...(/ WITH GRANT OPTION/.exec(line) ? ['GRANT OPTION'] : []),
  ];
  const writing = [...new Set(all.filter((name) => !READING.test(name)))];
  if (writing.length === 0) return [];
  const [shown, isAll] = [
    writing.slice(0, 4).join(', '),
    (object === '*.*' && grantee !== 'PUBLIC') || / ALL PRIVILEGES/.test(line),
  ];
  return [
    {
      what: `${grantee} has ${shown}${writing.length > 4 ? ` and ${writing.length - 4} more` : ''} on ${object}`,
      fix: isAll ? readerStatements(database) : `REVOKE ${writing.join(', ')} ON ${object} FROM ${grantee};`,
    },
  ];
}

export async function refuseWriter(address: Address): Promise<void> {
  const rights = await writingRights(address);
  if (rights.length === 0) return;
  const { user, host, database } = address.target;
  const more = rights.length === 1 ? '' : `, and ${rights.length - 1} more`;
  // What everybody has, as in the database test that MariaDB is installed with, another login would have too.
  const ofPublic = rights.filter(({ fix }) => fix.endsWith(' FROM PUBLIC;')).map(({ fix }) => fix);
  const reader = ofPublic.length === rights.length ? [] : [`${readerStatements(database)} and put it into the URL`];
  const line = `user ${user} of MySQL at ${host} may do more than read (${rights[0]?.what}${more}): run as an administrator ${[...ofPublic, ...reader].join(' ')}`;
  throw new SqlEngineError('not-read-only', line);
}

function readerStatements(database: string): string {
  // In a grant an underscore in the name of a database is a wildcard.
  const name = `\`${database.replaceAll('`', '``').replace(/[_%]/g, '\\$&')}\``;
  return `CREATE USER 'gate_reader'@'%' IDENTIFIED BY '…'; GRANT SELECT, SHOW VIEW ON ${name}.* TO 'gate_reader'@'%'; then log in as gate_reader`;
}
