/** Statements that reach beyond the tables: files, programs, other sessions, other servers, the log, the whole server. */
import { group, type Group } from '../corpus';

export const outside: readonly Group[] = [
  group('COPY', String.raw`
    COPY account TO '@OUT@/copied'
    COPY (SELECT 1) TO '@OUT@/copied'
    COPY account TO PROGRAM 'cat > @OUT@/copied'
    COPY (SELECT 'x') TO PROGRAM 'touch @OUT@/copied'
    COPY account FROM PROGRAM 'cat @OUT@/in'
    COPY account TO STDOUT
    COPY (DELETE FROM account RETURNING *) TO STDOUT
    COPY account TO STDOUT (FORMAT binary)
    SELECT 1; COPY account TO PROGRAM 'touch @OUT@/copied'
    SELECT copy_out('@OUT@/copied')
    SELECT program_out('touch @OUT@/copied')
    SELECT * FROM (SELECT program_out('touch @OUT@/copied') AS a) s WHERE a IS NOT NULL`),
  group('files of the server', String.raw`
    SELECT pg_read_file('postgresql.conf')
    SELECT pg_read_file('/etc/passwd', 0, 100)
    SELECT pg_read_binary_file('PG_VERSION')
    SELECT * FROM pg_ls_dir('.')
    SELECT * FROM pg_ls_logdir()
    SELECT * FROM pg_ls_waldir()
    SELECT * FROM pg_ls_tmpdir()
    SELECT * FROM pg_ls_archive_statusdir()
    SELECT * FROM pg_stat_file('PG_VERSION')
    SELECT pg_current_logfile()
    SELECT * FROM pg_hba_file_rules()
    SELECT * FROM pg_file_settings
    SELECT * FROM pg_show_all_file_settings()
    SELECT pg_catalog.pg_file_write('@OUT@/written', 'x', false)
    SELECT pg_file_rename('PG_VERSION', 'gone')
    SELECT pg_file_unlink('PG_VERSION')
    SELECT pg_file_sync('@OUT@')
    SELECT pg_logdir_ls()
    SELECT * FROM pg_relation_filepath('account') f, pg_read_binary_file(f)
    SELECT count(*) FROM regexp_split_to_table(pg_read_file('pg_hba.conf'), '\n') AS l`),
  group('large objects', String.raw`
    SELECT lo_create(4242)
    SELECT lo_creat(-1)
    SELECT lo_import('/etc/passwd')
    SELECT lo_import('/etc/passwd', 4243)
    SELECT lo_export(4240, '@OUT@/exported')
    SELECT lo_export(lo_from_bytea(0, 'x'), '@OUT@/exported')
    SELECT lo_unlink(4240)
    SELECT lo_put(4240, 0, 'evil')
    SELECT lo_from_bytea(4244, 'x')
    SELECT lowrite(lo_open(4240, 131072), 'evil')
    SELECT lo_truncate(lo_open(4240, 131072), 0)
    SELECT lo_truncate64(lo_open(4240, 131072), 0)
    SELECT loread(lo_open(4240, 262144), 10)
    SELECT lo_get(4240)
    SELECT * FROM pg_largeobject
    SELECT max(lo_unlink(oid)) FROM pg_largeobject_metadata`),
  group('dblink and foreign servers', String.raw`
    SELECT dblink_exec('@CONN@', 'DELETE FROM account')
    SELECT * FROM dblink('@CONN@', 'DELETE FROM account RETURNING id') AS t(id int)
    SELECT dblink_connect('c', '@CONN@')
    SELECT dblink_connect_u('c', '@CONN@')
    SELECT dblink_send_query('c', 'DELETE FROM account')
    SELECT dblink_open('c', 'cur', 'SELECT 1')
    SELECT public.dblink_exec('@CONN@', 'DROP TABLE account')
    SELECT "dblink_exec"('@CONN@', 'DROP TABLE account')
    SELECT U&"dblink\005fexec"('@CONN@', 'DROP TABLE account')
    SELECT count(*) FROM account WHERE dblink_exec('@CONN@', 'DELETE FROM ledger') IS NULL
    SELECT * FROM LATERAL (SELECT dblink_exec('@CONN@', 'UPDATE account SET balance = 0')) x
    SELECT postgres_fdw_get_connections()
    SELECT postgres_fdw_disconnect_all()
    SELECT relay('DELETE FROM account')
    SELECT far.relay_quietly('DELETE FROM account')`),
  group('other sessions', String.raw`
    SELECT pg_terminate_backend(@PID@)
    SELECT pg_cancel_backend(@PID@)
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()
    SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_get_activity(NULL)
    SELECT pg_log_backend_memory_contexts(@PID@)
    SELECT pg_notify('news', 'evil')
    SELECT pg_notify(channel, 'evil') FROM (VALUES ('news'), ('olds')) AS c(channel)
    NOTIFY news, 'evil'
    LISTEN news
    UNLISTEN *
    SELECT pg_blocking_pids(@PID@), pg_cancel_backend(@PID@)
    SELECT 1 WHERE pg_cancel_backend(@PID@)
    SELECT count(*) FILTER (WHERE pg_terminate_backend(@PID@)) FROM account
    SELECT CASE WHEN pg_terminate_backend(@PID@) THEN 1 END`),
  group('the server', String.raw`
    SELECT pg_reload_conf()
    SELECT pg_rotate_logfile()
    SELECT pg_switch_wal()
    SELECT pg_create_restore_point('evil')
    SELECT pg_start_backup('evil')
    SELECT pg_backup_start('evil')
    SELECT pg_stop_backup()
    SELECT pg_promote()
    SELECT pg_wal_replay_pause()
    SELECT pg_create_physical_replication_slot('evil')
    SELECT pg_create_logical_replication_slot('evil', 'test_decoding')
    SELECT pg_drop_replication_slot('keep')
    SELECT pg_copy_physical_replication_slot('keep', 'evil')
    SELECT pg_replication_slot_advance('keep', '0/1')
    SELECT pg_logical_emit_message(false, 'evil', 'x')
    SELECT pg_logical_emit_message(true, 'evil', 'x')
    SELECT * FROM pg_logical_slot_get_changes('keep', NULL, NULL)
    SELECT pg_replication_origin_create('evil')
    SELECT pg_replication_origin_session_setup('evil')
    SELECT pg_stat_reset()
    SELECT pg_stat_reset_shared('bgwriter')
    SELECT pg_stat_reset_single_table_counters('account'::regclass)
    SELECT pg_stat_statements_reset()
    SELECT pg_stat_clear_snapshot()
    SELECT pg_stat_force_next_flush()
    SELECT pg_export_snapshot()
    SELECT txid_current()
    SELECT pg_current_xact_id()
    SELECT pg_import_system_collations('public')
    SELECT pg_nextoid('pg_class', 'oid', 'pg_class_oid_index')
    SELECT pg_log_standby_snapshot()
    SELECT autoprewarm_start_worker()
    SELECT autoprewarm_dump_now()
    SELECT pg_prewarm('account')
    SELECT heap_force_kill('account'::regclass, ARRAY['(0,1)']::tid[])
    SELECT pg_truncate_visibility_map('account')
    SELECT brin_summarize_new_values('account_pkey')
    SELECT gin_clean_pending_list('account_pkey')
    SELECT binary_upgrade_set_next_pg_type_oid(1)
    SELECT pg_clear_relation_stats('public', 'account')
    SELECT pg_restore_relation_stats('relation', 'account'::regclass)
    SELECT pg_extension_config_dump('account', '')
    SELECT pg_stop_making_pinned_objects()
    SELECT pg_clear_attribute_stats('public', 'account', 'id', false)
    SELECT pg_restore_attribute_stats('schemaname', 'public', 'relname', 'account', 'attname', 'id', 'inherited', false)
    SELECT pg_stat_reset_backend_stats(@PID@)
    SELECT pg_stat_reset_slru('commit_timestamp')
    SELECT pg_stat_reset_replication_slot(NULL)
    SELECT pg_sync_replication_slots()
    SELECT pg_wal_replay_resume()
    CALL pg_wal_replay_wait('0/0', 100)
    SELECT pg_buffercache_evict(1)
    SELECT * FROM pg_buffercache_evict_relation('account'::regclass)
    SELECT * FROM pg_buffercache_evict_all()
    SELECT * FROM pg_buffercache_numa_pages()
    SELECT * FROM pg_get_shmem_allocations_numa()
    SELECT * FROM pg_get_logical_snapshot_info('0-40796E18.snap')
    SELECT injection_points_attach('evil', 'error')
    SELECT pg_background_launch('DELETE FROM account')
    SELECT * FROM run_command_on_workers('DELETE FROM account')
    SELECT http_get('http://127.0.0.1:1/')`),
  group('secrets', String.raw`
    SELECT rolname, rolpassword FROM pg_authid
    SELECT * FROM pg_catalog.pg_shadow
    SELECT usename, passwd FROM "pg_shadow"
    SELECT * FROM pg_user_mappings
    SELECT umoptions FROM pg_user_mapping
    SELECT srvoptions FROM pg_foreign_server
    SELECT subconninfo FROM pg_subscription
    SELECT query FROM pg_stat_activity
    SELECT * FROM pg_hba_file_rules
    SELECT * FROM pg_ident_file_mappings
    SELECT (TABLE pg_authid LIMIT 1)
    WITH a AS (TABLE pg_shadow) SELECT * FROM a
    SELECT get_raw_page('pg_authid', 0)
    SELECT * FROM heap_page_items(get_raw_page('pg_authid', 0))
    SELECT xslt_process('<a/>', '<x/>')
    SELECT query FROM pg_stat_get_activity(NULL)
    SELECT pg_stat_get_backend_activity(1)
    SELECT * FROM pg_stat_get_wal_senders()
    SELECT * FROM pg_stat_wal_receiver
    SELECT query FROM pg_stat_statements
    SELECT query FROM pg_stat_statements(true)
    SELECT * FROM pg_ident_file_mappings()
    SELECT * FROM pg_config()
    SELECT data FROM bt_page_items('account_pkey', 1)
    SELECT * FROM bt_metap('account_pkey')
    SELECT * FROM page_header('')
    SELECT inet_server_addr(), inet_server_port()
    SELECT * FROM postgres.pg_catalog.pg_authid`),
]; // prettier-ignore
