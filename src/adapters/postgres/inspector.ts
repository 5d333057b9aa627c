/**
 * PostgreSQL's own grammar (libpg_query, WebAssembly) as a `SqlInspector`: is this one SELECT, which relations does it
 * read, and which CTEs does it define; and what it refuses, each with what to write instead (design §7). Loading is
 * asynchronous and happens once; inspecting is synchronous.
 *
 * Scopes: a CTE is visible to later CTEs of its WITH (to all of them with RECURSIVE), to its query and to everything
 * nested in it; an inner name shadows an outer one; a schema-qualified name is never a CTE.
 */
import { loadModule, parseSync } from 'libpg-query';
import type { SqlInspector } from '../../domain/ports/sql-inspector';
import { refusingFunctions } from '../kit/functions';
import { inspected, inspectingOnce, onlyStatement, Refusal } from '../kit/inspection';

export async function createPostgresInspector(): Promise<SqlInspector> {
  await loadModule();
  return inspectingOnce({ inspect: (sql) => inspected(() => read(sql)) });
}

interface Found {
  readonly relations: Set<string>;
  readonly ctes: Set<string>;
}

type Node = Readonly<Record<string, unknown>>;

function read(sql: string) {
  const { stmt = { Unknown: 0 } } = onlyStatement(sql, statementsOf, messageOf);
  const select = (stmt as { SelectStmt?: Node }).SelectStmt;
  if (select === undefined) {
    const kind = Object.keys(stmt)[0] ?? 'Unknown';
    throw new Refusal(`${statementName(kind)} is not allowed: write one SELECT that only reads`);
  }
  const found: Found = { relations: new Set(), ctes: new Set() };
  visitSelect(select, new Set(), found, true);
  // In a chain of UNIONs the leading WITH belongs to the outermost operation.
  const hasWith = select['withClause'] !== undefined;
  return { relations: [...found.relations].sort(), ctes: [...found.ctes], hasWith };
}

function statementsOf(sql: string): readonly { readonly stmt?: object }[] {
  // The parser would stop at the NUL and miss the rest.
  if (sql.includes('\0')) throw new Refusal('the statement holds a NUL character: leave it out');
  return sql.trim() === '' ? [] : (parseSync(sql).stmts ?? []);
}

function visitSelect(select: Node, outer: ReadonlySet<string>, found: Found, top: boolean): void {
  if (select['intoClause'] !== undefined)
    throw new Refusal('SELECT INTO is not allowed: leave INTO out, the rows are returned');
  if (select['lockingClause'] !== undefined)
    throw new Refusal('FOR UPDATE and FOR SHARE are not allowed: leave the locking clause out');
  const { withClause, ...rest } = select as {
    withClause?: { ctes?: readonly { CommonTableExpr?: Node }[]; recursive?: boolean };
  };
  let scope = outer;
  const ctes = (withClause?.ctes ?? []).flatMap(({ CommonTableExpr }) =>
    CommonTableExpr === undefined ? [] : [CommonTableExpr],
  );
  const names = ctes.map((cte) => String(cte['ctename']));
  if (top) for (const name of names) found.ctes.add(name);
  if (withClause?.recursive === true) scope = new Set([...scope, ...names]);
  for (const [index, cte] of ctes.entries()) {
    const { ctequery, ...clauses } = cte as { ctequery?: Node };
    const body = ctequery?.['SelectStmt'] as Node | undefined;
    if (body === undefined) throw new Refusal(`the CTE ${names[index]} changes data: a CTE may only be a SELECT`);
    visitSelect(body, scope, found, false);
    visit(clauses, scope, found);
    scope = new Set([...scope, names[index] ?? '']);
  }
  for (const [key, value] of Object.entries(rest)) {
    if (key === 'larg' || key === 'rarg') visitSelect(value as Node, scope, found, false);
    else visit(value, scope, found);
  }
}

function visit(value: unknown, scope: ReadonlySet<string>, found: Found): void {
  if (Array.isArray(value)) {
    for (const item of value) visit(item, scope, found);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, child] of Object.entries(value as Node)) {
    if (key === 'SelectStmt') visitSelect(child as Node, scope, found, false);
    else if (key === 'RangeVar') visitRelation(child as Node, scope, found);
    else {
      if (key === 'FuncCall') visitFunction(child as Node);
      visit(child, scope, found);
    }
  }
}

function visitRelation(relation: Node, scope: ReadonlySet<string>, found: Found): void {
  const name = String(relation['relname']);
  const schema = relation['schemaname'] as string | undefined;
  if (schema === undefined && scope.has(name)) return;
  const catalog = relation['catalogname'] as string | undefined;
  if (catalog !== undefined) {
    throw new Refusal(`the name ${catalog}.${schema ?? ''}.${name} has three parts: write schema.table`);
  }
  const qualified = schema === undefined ? name : `${schema}.${name}`;
  const refused = refuseRelation(qualified);
  if (refused !== null) throw new Refusal(refused);
  found.relations.add(qualified);
}

function visitFunction(call: Node): void {
  const parts = (call['funcname'] as readonly { String?: { sval?: string } }[] | undefined) ?? [];
  const name = parts.at(-1)?.String?.sval ?? '';
  const refused = refuseFunction(name);
  if (refused !== null) throw new Refusal(refused);
}

/** `InsertStmt` is INSERT, `VariableSetStmt` is SET, `CreateTableAsStmt` is CREATE TABLE AS. */
function statementName(node: string): string {
  const known: Record<string, string> = {
    VariableSetStmt: 'SET',
    VariableShowStmt: 'SHOW',
    TransactionStmt: 'transaction control',
  };
  return (
    known[node] ??
    node
      .replace(/Stmt$/, '')
      .replace(/([a-z])([A-Z])/g, '$1 $2')
      .toUpperCase()
  );
}

function messageOf(error: unknown): string {
  const { message, sqlDetails } = error as { message: string; sqlDetails?: { cursorPosition?: number } };
  const position = sqlDetails?.cursorPosition;
  return position === undefined || position < 0 ? message : `${message} (at character ${position + 1})`;
}

/** Listed functions alone are refused: `pg_size_pretty`, `pg_typeof` and the like are harmless. */
export const refuseFunction = refusingFunctions({
  'it only waits: leave it out': /^pg_sleep(_for|_until)?$/,
  'it opens another connection: read the tables of this database': /^(dblink|postgres_fdw)/,
  'it works on large objects: select the column itself':
    /^lo_(creat|create|import|export|open|close|put|get|from_bytea|unlink|truncate|truncate64|lseek|lseek64|tell|tell64|manage)$|^(loread|lowrite)$/,
  "it reads the server's files: read tables":
    /^pg_(read|ls|stat)_.*(file|dir)|^pg_(read_file|read_binary_file|stat_file|current_logfile)|^pg_ls_/,
  'it changes state: select values only': /^(set_config|setval|nextval|setseed)$/,
  'it takes locks: leave it out': /^pg_(try_)?advisory/,
  'it stops other sessions: leave it out': /^pg_(terminate|cancel)_backend$/,
  'it administers the server: select values only':
    /^pg_(notify|reload_conf|rotate_logfile|log_|switch_wal|create_restore_point|promote|backup_|start_backup|stop_backup|wal_replay|replication_|create_.*slot|drop_.*slot|copy_.*slot|logical_|export_snapshot|stat_reset|stat_clear|prewarm|import_system_collations|file_|logdir_|nextoid|sync_|get_wal_|walfile_|split_walfile|wal_summary|available_wal|truncate_visibility|check_(frozen|visible)|stop_making|buffercache_(evict|mark_dirty|numa)|get_shmem_allocations_numa|get_logical_snapshot_|(set|clear|restore)_(relation|attribute|extended)_stats|stat_(force|statements_reset)|get_(backend|process)_memory|isolation_test|injection)/,
  'it runs a query given as text: write that query itself':
    /^(query|table|schema|database|cursor)_to_xml(schema|_and_xmlschema)?$|^(ts_stat|ts_rewrite|crosstab[n234]?|crosstab_hash|connectby|xpath_table|query_to_json)$/,
  'it assigns a transaction id: leave it out': /^(txid_current|pg_current_xact_id)$/,
  'it changes an index: leave it out': /^(brin|gin)_(summarize|desummarize|clean)/,
  'it tells about the server, not the data: leave it out':
    /^(current_query|inet_server_addr|inet_server_port|pg_hba_file_rules|pg_ident_file_mappings|pg_show_all_file_settings|pg_config|pg_stat_get_(activity|backend_activity|backend_client_(addr|port)|wal_senders|wal_receiver)|pg_stat_statements)$/,
  'it works on the files of tables: read the tables':
    /^(autoprewarm_|heap_force_|injection_points_)|^(bt_index_(parent_)?check|gin_index_check|verify_heapam|get_raw_page|heap_page_items|heap_page_item_attrs|tuple_data_split|page_(header|checksum)|fsm_page_contents|bt_metap)$|^(bt|brin|gin|gist|hash)_(multi_|leaf)?(page|metapage|revmap|bitmap)_/,
  'it reaches beyond this database: read the tables':
    /^http_(get|post|put|patch|delete|head|set_curlopt|reset_curlopt)$|^(http|query_export_to_s3|table_import_from_s3|oracle_execute|master_run_on_worker)$|^(pg_background_|run_command_on_)/,
  'it can reach files: compute with plain functions': /^(xslt_process)$/,
  'it acts on the session: select values only': /^(set_limit|isn_weak|pg_stat_statements_reset|lastval|currval)$/,
  'it is internal to the server: leave it out': /^binary_upgrade_|^pg_(event_trigger|extension_config_dump)/,
});

/** Catalogues with passwords, settings of other hosts, or sampled values that access lists could not filter. */
const SECRET_RELATIONS =
  /^(pg_authid|pg_shadow|pg_user_mapping|pg_user_mappings|pg_hba_file_rules|pg_ident_file_mappings|pg_file_settings|pg_largeobject|pg_stat_ssl|pg_stat_activity|pg_stat_statements|pg_stat_replication|pg_stat_wal_receiver|pg_subscription|pg_foreign_server)$/;

function refuseRelation(name: string): string | null {
  const bare = name.toLowerCase().replace(/^pg_catalog\./, '');
  return SECRET_RELATIONS.test(bare)
    ? `the relation ${name} is not allowed: it shows the server and not the data`
    : null;
}
