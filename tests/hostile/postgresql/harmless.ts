/**
 * Functions of PostgreSQL 12 to 18 and of what it ships that are volatile, or not for everybody, and that the fence lets
 * through: each was looked at. What a newer server has besides is found by its name not being here.
 */
const names = (text: string): readonly string[] => text.split(/\s+/).filter((name) => name !== '');

export const harmless: ReadonlySet<string> = new Set([
  // Values: random ones, the time, ciphertexts with a salt of their own.
  ...names(`array_sample array_shuffle random random_normal gen_random_uuid uuidv4 uuidv7 clock_timestamp timeofday timezone
    normal_rand gen_random_bytes gen_salt fips_mode pgp_pub_encrypt pgp_pub_encrypt_bytea pgp_sym_encrypt
    pgp_sym_encrypt_bytea uuid_generate_v1 uuid_generate_v1mc uuid_generate_v4 heap_tuple_infomask_flags`),
  // Sizes, counts and states of tables, indexes and sequences: numbers, never a value of a row.
  ...names(`pg_database_size pg_tablespace_size pg_table_size pg_indexes_size pg_relation_size pg_total_relation_size
    pg_partition_ancestors pg_partition_tree pg_sequence_last_value pg_get_sequence_data pg_freespace pg_relpages
    pg_visibility pg_visibility_map pg_visibility_map_summary pgrowlocks pgstatginindex pgstathashindex pgstatindex
    pgstattuple pgstattuple_approx amvalidate currtid currtid2 pg_collation_actual_version
    pg_database_collation_actual_version`),
  // What the server counts and where it stands; without queries, addresses and settings.
  ...names(`pg_stat_get_xact_blocks_fetched pg_stat_get_xact_blocks_hit pg_stat_get_xact_function_calls
    pg_stat_get_xact_function_self_time pg_stat_get_xact_function_total_time pg_stat_get_xact_numscans
    pg_stat_get_xact_tuples_deleted pg_stat_get_xact_tuples_fetched pg_stat_get_xact_tuples_hot_updated
    pg_stat_get_xact_tuples_inserted pg_stat_get_xact_tuples_newpage_updated pg_stat_get_xact_tuples_returned
    pg_stat_get_xact_tuples_updated pg_stat_get_backend_io pg_stat_get_backend_wal pg_stat_get_io
    pg_stat_get_recovery_prefetch pg_stat_have_stats pg_stat_statements_info pg_buffercache_pages
    pg_buffercache_summary pg_buffercache_usage_counts pg_control_checkpoint pg_control_init pg_control_recovery
    pg_control_system pg_current_wal_flush_lsn pg_current_wal_insert_lsn pg_current_wal_lsn pg_last_wal_receive_lsn
    pg_last_wal_replay_lsn pg_last_xact_replay_timestamp pg_last_committed_xact pg_is_in_backup pg_is_in_recovery
    pg_is_wal_replay_paused pg_get_aios pg_get_loaded_modules pg_get_multixact_members pg_get_shmem_allocations
    pg_get_wait_events pg_jit_available pg_lock_status pg_blocking_pids pg_safe_snapshot_blocking_pids
    pg_notification_queue_usage pg_old_snapshot_time_mapping pg_prepared_xact pg_show_replication_origin_status
    pg_xact_commit_timestamp pg_xact_commit_timestamp_origin pg_xact_status txid_status ssl_cipher
    ssl_client_cert_present ssl_client_dn ssl_client_dn_field ssl_client_serial ssl_extension_info ssl_is_used
    ssl_issuer_dn ssl_issuer_field ssl_version`),
  // For triggers, access methods, languages and dictionaries: a statement that calls one gets an error.
  ...names(`RI_FKey_cascade_del RI_FKey_cascade_upd RI_FKey_check_ins RI_FKey_check_upd RI_FKey_noaction_del
    RI_FKey_noaction_upd RI_FKey_restrict_del RI_FKey_restrict_upd RI_FKey_setdefault_del RI_FKey_setdefault_upd
    RI_FKey_setnull_del RI_FKey_setnull_upd suppress_redundant_updates_trigger tsvector_update_trigger
    tsvector_update_trigger_column unique_key_recheck autoinc check_foreign_key check_primary_key insert_username
    moddatetime timetravel triggered_change_notification bernoulli system system_rows system_time blhandler brinhandler
    bthandler ginhandler gisthandler hashhandler spghandler heap_tableam_handler file_fdw_handler file_fdw_validator
    plpgsql_call_handler plpgsql_inline_handler plpgsql_validator dsnowball_init dsnowball_lexize dintdict_init
    dintdict_lexize dxsyn_init dxsyn_lexize unaccent_init unaccent_lexize int_agg_state int_agg_final_array`),
]);

/** What the server may ship beside itself. */
export const contrib = names(`amcheck adminpack autoinc bloom btree_gin btree_gist citext cube dblink dict_int dict_xsyn
  earthdistance file_fdw fuzzystrmatch hstore insert_username intagg intarray isn lo ltree moddatetime old_snapshot
  pageinspect pg_buffercache pg_freespacemap pg_logicalinspect pg_prewarm pg_stat_statements pg_surgery pg_trgm
  pg_visibility pg_walinspect pgcrypto pgrowlocks pgstattuple postgres_fdw refint seg sslinfo tablefunc tcn timetravel
  tsm_system_rows tsm_system_time unaccent uuid-ossp xml2`);

/** Of the server and of extensions. */
export const NOTABLE = `
  SELECT DISTINCT p.proname AS name FROM pg_proc p
  WHERE (p.provolatile = 'v' OR NOT has_function_privilege('public', p.oid, 'EXECUTE'))
    AND (p.pronamespace = 'pg_catalog'::regnamespace OR EXISTS (SELECT 1 FROM pg_depend d
      WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'))
  ORDER BY 1`;

/** Those of them that can be called as they are, for nothing but their name. */
export const CALLABLE = `
  SELECT DISTINCT p.proname AS name FROM pg_proc p
  WHERE p.pronargs = p.pronargdefaults AND p.prokind = 'f'
    AND p.prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype, 'internal'::regtype, 'language_handler'::regtype)
  ORDER BY 1`;
