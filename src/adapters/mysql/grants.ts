/**
 * What a login may do besides reading, from SHOW GRANTS. A READ ONLY session does not stop everything that a right of the server
 * allows, so a login with any right that does not only read is refused when the database is opened. Roles count whether or not
 * they are active: SET ROLE would make them so.
 */
import type { Connection } from 'mysql2';
import { SqlEngineError } from '../../domain/ports/sql-engine';
import type { WritingRight } from '../kit/database-check';
import { answered, connect, type Address } from './address';
import { query } from './session';

/** They show data or structure. REFERENCES alone does nothing. */
const READING = /^(USAGE|SELECT|SHOW VIEW|SHOW DATABASES|REFERENCES|SHOW CREATE ROUTINE|SHOW_ROUTINE)$/;

const NAME = '`(?:[^`]|``)*`';
const ACCOUNT = `${NAME}(?:@${NAME})?`;
const OBJECT = `(?:[A-Z ]+ )?(?:\\*|${NAME})\\.(?:\\*|${NAME})`;
const ROLES = new RegExp(`^GRANT (${ACCOUNT}(?:,\\s*${ACCOUNT})*) TO (${ACCOUNT})`);
const RIGHTS = new RegExp(`^GRANT (.+?) ON (${OBJECT}) TO (PUBLIC|${ACCOUNT})`, 's');

/** What a line grants besides reading. */
interface Grant {
  readonly rights: readonly string[];
  /** Null: none of the data, as in a line that is not understood, which counts as a right. */
  readonly object: string | null;
  readonly grantee: string;
}

/** Empty: the login only reads. `schemas`: other databases that it has to read. */
export async function writingRights(address: Address, schemas: readonly string[]): Promise<WritingRight[]> {
  const connection = await connect(address);
  return answered(connection, rightsBy(connection, address, schemas)).finally(() => connection.destroy());
}

async function rightsBy(
  connection: Connection,
  { target }: Address,
  schemas: readonly string[],
): Promise<WritingRight[]> {
  // Names in backticks, whatever the server's mode is. MySQL tells the rights of an active role as the login's own.
  await query(connection, "SET SESSION sql_mode = ''");
  await query(connection, 'SET ROLE NONE');
  const lines = await linesOf(connection);
  const own = lines.flatMap(grantIn);
  const databases = [target.database, ...schemas];
  const found = own.map((grant) => ({ what: told(grant), fix: fixOf(grant, databases) }));
  const held = new Set(own.flatMap(({ rights, object }) => rights.map((right) => `${right} ${object}`)));
  for (const line of lines) {
    const [, roles = '', account] = ROLES.exec(line) ?? [];
    for (const role of roles.match(new RegExp(ACCOUNT, 'g')) ?? []) {
      await query(connection, `SET ROLE ${role}`);
      const more = (await linesOf(connection)).flatMap(grantIn).flatMap(({ rights, object }) => {
        const others = rights.filter((right) => !held.has(`${right} ${object}`));
        return others.length === 0 ? [] : [told({ rights: others, object, grantee: `the role ${role}` })];
      });
      if (more.length > 0) found.push({ what: more.join(', '), fix: `REVOKE ${role} FROM ${account};` });
    }
  }
  return found;
}

const linesOf = async (connection: Connection): Promise<string[]> =>
  (await query(connection, 'SHOW GRANTS')).map(([line]) => String(line));

/** A line may hold the hash of a password, so none is shown as it is. */
function grantIn(line: string): Grant[] {
  // What is taken away; MariaDB's default role.
  if (/^(REVOKE|SET DEFAULT ROLE) /.test(line)) return [];
  if (ROLES.test(line) && !line.includes(' WITH ADMIN OPTION')) return [];
  const [, rights, object = '', grantee = ''] = RIGHTS.exec(line) ?? [];
  if (rights === undefined) {
    const what = line.startsWith('GRANT PROXY ') ? 'act as other users' : 'grant roles, or has a right not known here';
    return [{ rights: [what], object: null, grantee: 'it' }];
  }
  const all = rights.replace(/\s*\((?:`(?:[^`]|``)*`|[^)`])*\)/g, '').split(/,\s*/);
  if (line.includes(' WITH GRANT OPTION')) all.push('GRANT OPTION');
  const writing = [...new Set(all.filter((name) => !READING.test(name)))];
  return writing.length === 0 ? [] : [{ rights: writing, object, grantee }];
}

function told({ rights, object, grantee }: Grant): string {
  if (object === null) return `${grantee} may ${rights.join(', ')}`;
  const more = rights.length > 4 ? ` and ${rights.length - 4} more` : '';
  return `${grantee} has ${rights.slice(0, 4).join(', ')}${more} on ${object}`;
}

function fixOf({ rights, object, grantee }: Grant, databases: readonly string[]): string {
  const isAll = rights.includes('ALL PRIVILEGES') || (object === '*.*' && grantee !== 'PUBLIC');
  return object === null || isAll
    ? readerStatements(databases)
    : `REVOKE ${rights.join(', ')} ON ${object} FROM ${grantee};`;
}

export async function refuseWriter(address: Address, schemas: readonly string[]): Promise<void> {
  const rights = await writingRights(address, schemas);
  if (rights.length === 0) return;
  const { user, host, database } = address.target;
  const more = rights.length === 1 ? '' : `, and ${rights.length - 1} more`;
  // What everybody has, as in the database test that MariaDB is installed with, another login would have too.
  const ofPublic = rights.filter(({ fix }) => fix.endsWith(' FROM PUBLIC;')).map(({ fix }) => fix);
  const reader =
    ofPublic.length === rights.length ? [] : [`${readerStatements([database, ...schemas])} and put it into the URL`];
  const line = `user ${user} of MySQL at ${host} may do more than read (${rights[0]?.what}${more}): run as an administrator ${[...ofPublic, ...reader].join(' ')}`;
  throw new SqlEngineError('not-read-only', line);
}

function readerStatements(databases: readonly string[]): string {
  // In a grant an underscore in the name of a database is a wildcard.
  const names = [...new Set(databases)].map((name) => `\`${name.replaceAll('`', '``').replace(/[_%]/g, '\\$&')}\``);
  const grants = names.map((name) => `GRANT SELECT, SHOW VIEW ON ${name}.* TO 'gate_reader'@'%';`);
  return `CREATE USER 'gate_reader'@'%' IDENTIFIED BY '…'; ${grants.join(' ')} then log in as gate_reader`;
}
