/**
 * Whether the session's role can change anything. Snowflake has no read-only transaction: only missing grants keep a
 * statement from writing. So the grants are read, including those of inherited roles and of PUBLIC, and every privilege
 * that is not known to only read counts as writing.
 */
import { SqlEngineError } from '../../domain/ports/sql-engine';
import { identifier } from '../kit/engine';
import type { Request, Rows, SnowflakeSession } from './session';

const READING = new Set(['SELECT', 'REFERENCES', 'MONITOR', 'READ', 'REFERENCE_USAGE', 'IMPORTED PRIVILEGES']);
/** Kinds on which USAGE only allows reading. On a procedure, an integration or a sequence it allows changes. */
const USABLE = new Set(['DATABASE', 'SCHEMA', 'WAREHOUSE', 'FUNCTION', 'FILE FORMAT', 'FILE_FORMAT', 'COMPUTE_POOL']);
const ROLES_FOLLOWED = 60;

/** Throws if the role can write; the message says what to change. */
export async function refuseWriter(session: SnowflakeSession, request: Request): Promise<void> {
  const [[role] = []] = (await session.query('SELECT CURRENT_ROLE()', request)).rows;
  if (typeof role !== 'string') throw new SqlEngineError('not-configured', 'the Snowflake user has no role: name one');
  const writing: string[] = [];
  const queue = [
    { kind: 'ROLE', name: role },
    { kind: 'ROLE', name: 'PUBLIC' },
  ];
  const seen = new Set<string>();
  for (const next of queue) {
    const key = `${next.kind} ${next.name}`;
    if (seen.has(key)) continue;
    seen.add(key);
    if (seen.size > ROLES_FOLLOWED) {
      writing.push(`more than ${ROLES_FOLLOWED} inherited roles, which are not looked into`);
      break;
    }
    for (const { privilege, kind, name } of await grantsOf(session, next, request)) {
      if (privilege === 'USAGE' && (kind === 'ROLE' || kind === 'DATABASE_ROLE')) {
        // The grants of roles in Snowflake's own shared database cannot be read; these roles only give access to its views.
        if (!/^"?SNOWFLAKE"?\./i.test(name)) queue.push({ kind, name });
      } else if (!READING.has(privilege) && !(privilege === 'USAGE' && USABLE.has(kind))) {
        writing.push(`${privilege} on ${kind} ${name}`);
      }
    }
  }
  if (writing.length === 0) return;
  const more = writing.length > 3 ? `, ${writing.length - 3} more` : '';
  throw new SqlEngineError(
    'not-read-only',
    `the Snowflake role ${role} can do more than read (${writing.slice(0, 3).join(', ')}${more}): use a role with USAGE and SELECT only, or set "allowPrivilegedRole": true`,
  );
}

async function grantsOf(
  session: SnowflakeSession,
  { kind, name }: { readonly kind: string; readonly name: string },
  request: Request,
): Promise<{ readonly privilege: string; readonly kind: string; readonly name: string }[]> {
  const target = kind === 'ROLE' ? `ROLE ${quoted(name)}` : `DATABASE ROLE ${name}`;
  const found = await session.query(`SHOW GRANTS TO ${target}`, { ...request, maxRows: 10_000 });
  const of = (row: Rows['rows'][number], column: string): string =>
    String(row[found.columns.findIndex((each) => each.name.toLowerCase() === column)]);
  const grants = found.rows.map((row) => ({
    privilege: of(row, 'privilege').toUpperCase(),
    kind: of(row, 'granted_on').toUpperCase(),
    name: of(row, 'name'),
  }));
  return found.truncated ? [...grants, { privilege: 'more than 10,000 grants', kind: target, name: '' }] : grants;
}

/** SHOW GRANTS already prints quotes around names that need them. */
const quoted = (name: string): string => (name.startsWith('"') ? name : identifier(name));
