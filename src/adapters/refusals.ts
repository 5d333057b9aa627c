/** Constructs that the parser fence forbids, each with what to write instead (design §7). */

const FUNCTIONS: readonly (readonly [RegExp, string])[] = [
  [/^pg_sleep/, 'it only waits: leave it out'],
  [/^(dblink|postgres_fdw)/, 'it opens another connection: read the tables of this database'],
  [/^lo_/, 'it works on large objects: select the column itself'],
  [/^(loread|lowrite)$/, 'it works on large objects: select the column itself'],
  [/^pg_(read|ls|stat)_.*(file|dir)|^pg_(read_file|read_binary_file|stat_file|current_logfile)|^pg_ls_/, 'it reads the server\'s files: read tables'],
  [/^(readfile|writefile|edit|load_extension|fsdir|zipfile|sqlar_|lsmode)/, 'it reaches files or code outside the database: read tables'],
  [/^(fts3_tokenizer|sqlite3mc|sqlite_crypt|sqlite_log|sha3_query|rtreecheck)/, 'it acts on the engine itself: compute with plain functions'],
  [/^(set_config|setval|nextval|setseed)$/, 'it changes state: select values only'],
  [/^(last_insert_rowid|changes|total_changes)$/, 'it tells about writes, and there are none here: use count()'],
  [/^pg_(try_)?advisory/, 'it takes locks: leave it out'],
  [/^pg_(terminate|cancel)_backend$/, 'it stops other sessions: leave it out'],
  [/^pg_(notify|reload_conf|rotate_logfile|log_|switch_wal|create_restore_point|promote|backup_|start_backup|stop_backup|wal_replay|replication_|create_.*slot|drop_.*slot|copy_.*slot|logical_|export_snapshot|stat_reset|stat_clear|prewarm|import_system_collations|file_|nextoid|sync_)/, 'it administers the server: select values only'],
  [/^(query|table|schema|database|cursor)_to_xml/, 'it runs a query given as text: write that query itself'],
  [/^(ts_stat|ts_rewrite|crosstab|connectby|xpath_table|query_to_json)/, 'it runs a query given as text: write that query itself'],
  [/^(txid_current|pg_current_xact_id)$/, 'it assigns a transaction id: leave it out'],
  [/^(brin|gin)_(summarize|desummarize|clean)/, 'it changes an index: leave it out'],
  [/^(current_query|inet_server_addr|inet_server_port|pg_hba_file_rules|pg_show_all_file_settings)$/, 'it tells about the server, not the data: leave it out'],
  [/^binary_upgrade_|^pg_(event_trigger|extension_config_dump)/, 'it is internal to the server: leave it out'],
]; // prettier-ignore

/** `pg_size_pretty`, `pg_typeof` and their like are harmless: only what is listed is refused. */
export function refuseFunction(name: string): string | null {
  const lower = name.toLowerCase();
  const found = FUNCTIONS.find(([pattern]) => pattern.test(lower));
  return found === undefined ? null : `the function ${lower} is not allowed: ${found[1]}`;
}

/** Catalogues with passwords, settings of other hosts, or sampled values that access lists could not filter. */
const SECRET_RELATIONS =
  /^(pg_authid|pg_shadow|pg_user_mapping|pg_user_mappings|pg_hba_file_rules|pg_ident_file_mappings|pg_file_settings|pg_largeobject|pg_stat_ssl|pg_stat_activity|pg_stat_replication|pg_subscription|pg_foreign_server|sqlite_dbpage|sqlite_stmt|fsdir|zipfile|carray)$/;

export function refuseRelation(name: string): string | null {
  const bare = name.toLowerCase().replace(/^(pg_catalog|main)\./, '');
  return SECRET_RELATIONS.test(bare)
    ? `the relation ${name} is not allowed: it shows the server and not the data`
    : null;
}
