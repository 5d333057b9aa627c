/**
 * Finds functions that can act outside of a read-only transaction. Revoking the reader's rights does not stop a function
 * of the database that runs a program, writes a file or opens a connection with rights of its own (SECURITY DEFINER, a
 * password in its text, an untrusted language). Most servers have none. A statement that names one is refused.
 *
 * Where the login itself can run programs or reach files (a superuser, or a member of such roles), the session gives these
 * rights up. A function that sets the role, or that runs a text given to it, could take them back: it is refused as well.
 *
 * The search covers such functions, functions whose text mentions one, aggregates and operators made of one, and views over
 * any of these. An escaped identifier (`U&"…"`) could spell any name, so a database with such functions refuses it too.
 */
import type { GateClient } from './connection';

/** Why a statement may not run; null: it may. */
type Refuse = (sql: string) => string | null;

interface FunctionRow {
  readonly oid: number;
  readonly name: string;
  readonly source: string;
}

/** Runs in the same kind of transaction as statements, with the same role. */
export async function loadHazards(client: GateClient): Promise<Refuse> {
  // A body in standard SQL (14 and later) is stored parsed; this function prints its text.
  const { rows: printing } = await client.query("SELECT FROM pg_proc WHERE proname = 'pg_get_function_sqlbody'");
  const source = printing.length > 0 ? 'coalesce(pg_get_function_sqlbody(p.oid), p.prosrc)' : 'p.prosrc';
  const { rows: dangerous } = await client.query<{ oid: number }>(dangerousIn(source));
  if (dangerous.length === 0) return () => null;
  const { rows: functions } = await client.query<FunctionRow>(functionsWith(source));
  const { rows: uses } = await client.query<{ oid: number; name: string; used: number }>(USES);
  const found = new Map<number, string>();
  const roots = new Set(dangerous.map(({ oid }) => oid));
  for (const { oid, name } of functions) if (roots.has(oid)) found.set(oid, name);
  for (let before = 0; before < found.size;) {
    before = found.size;
    const named = mentions([...found.values()]);
    for (const { oid, name, source } of functions) if (named.test(source)) found.set(oid, name);
    for (const { oid, name, used } of uses) if (found.has(used)) found.set(oid, name);
  }
  const named = mentions([...found.values()]);
  return (sql) => {
    if (/\bU&"/i.test(sql))
      return 'escaped identifiers (U&"…") are not allowed on this database: write names as they are';
    const name = named.exec(sql)?.[0];
    return name === undefined
      ? null
      : `${name} is not allowed: it can act outside of this database with rights that a statement does not have; read the tables`;
  };
}

function mentions(names: readonly string[]): RegExp {
  const escaped = names.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const parts = escaped.map((name, index) => (/^\w+$/.test(names[index] ?? '') ? `\\b${name}\\b` : name));
  return new RegExp(parts.join('|'), 'i');
}

/** Functions that belong neither to the server nor to an extension: those are refused by name (`inspector.ts`). */
const OWN = `p.pronamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
  AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')`;

const CONNECTS = String.raw`\m(dblink\w*|postgres_fdw\w*)\M`;
const ACTS = String.raw`\m(copy|program|execute|lo_(import|export|put|unlink|create|from_bytea)|lowrite|pg_(read|write|ls|file|stat_file|terminate|cancel|reload|rotate|switch|promote|notify|logical|create|drop|replication|log|stat_reset)\w*|dblink\w*|set_config|notify)\M`;
/** Text of a function that takes rights back, or runs a given text that could. */
const TAKES_BACK = String.raw`\m(execute\w*|spi\w*|set_config|reset\s+role|set\s+(session\s+|local\s+)?role|session\s+authorization|(query|cursor)_to_xml\w*|ts_stat|ts_rewrite|crosstab\w*|connectby|xpath_table)\M`;

/** Roles that reach programs and files of the server. A superuser counts as a member of every role. */
const POWERFUL = `SELECT 1 FROM pg_roles WHERE (rolsuper OR rolname IN ('pg_execute_server_program', 'pg_write_server_files', 'pg_read_server_files'))`;

/** Trigger functions are left out, since no SELECT can call them. In SECURITY DEFINER functions no role can be set. */
const dangerousIn = (source: string): string => `
  WITH rights AS (SELECT EXISTS (${POWERFUL} AND pg_has_role(current_user, oid, 'MEMBER')) AS has,
    EXISTS (${POWERFUL} AND pg_has_role(session_user, oid, 'MEMBER')) AS may_take_back)
  SELECT p.oid FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang CROSS JOIN rights
  WHERE ${OWN} AND ((NOT l.lanpltrusted AND l.lanname NOT IN ('internal', 'sql')) OR ${source} ~* '${CONNECTS}'
    OR ((p.prosecdef OR rights.has) AND ${source} ~* '${ACTS}')
    OR (rights.may_take_back AND NOT p.prosecdef AND p.prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype)
      AND (${source} ~* '${TAKES_BACK}' OR EXISTS (SELECT 1 FROM unnest(p.proconfig) AS c WHERE c ~* '^(role|session_authorization)='))))`;

const functionsWith = (source: string): string =>
  `SELECT p.oid, p.proname AS name, ${source} AS source FROM pg_proc p WHERE ${OWN}`;

const USES = `
  SELECT c.oid, c.relname AS name, d.refobjid AS used
  FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class AND c.relkind = 'v'
  JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refobjid <> c.oid
    AND d.refclassid IN ('pg_proc'::regclass, 'pg_class'::regclass, 'pg_operator'::regclass)
  UNION SELECT o.oid, o.oprname, o.oprcode FROM pg_operator o
  UNION SELECT p.oid, p.proname, d.refobjid FROM pg_proc p
    JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.refclassid IN ('pg_proc'::regclass, 'pg_class'::regclass)
  WHERE p.pronamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)`;
