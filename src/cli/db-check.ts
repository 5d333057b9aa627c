/**
 * `gate db check`: writes are attempted on the very connection that statements get, and the database has to refuse each.
 * Snowflake has no read-only transaction, so there nothing is attempted: opening it examines the role's grants.
 */
import type { DatabaseCheck } from '../adapters/database-check';
import { loadConfig } from '../config';
import { resolveDatabase, type ResolvedDatabase } from '../config/databases';
import { cell, counted, visible } from '../report/printable';
import { openEngines } from '../workers/engines';
import { EXIT, errorText, type ExitCode } from './errors';
import { bareAddress } from './db-list';
import type { Io } from './io';

const WAIT_MS = 60_000;

export interface CheckReport {
  readonly database: string;
  readonly address: string;
  /** Which database it is (docs/databases.md); `id` where the configuration names it. */
  readonly identity: string;
  readonly id: string | null;
  readonly readOnly: boolean;
  readonly check: DatabaseCheck | null;
  readonly version: string | null;
  readonly tables: number | null;
  readonly rowEstimate: number | null;
  readonly describeMs: number | null;
  /** Why the database cannot be used; empty when it can. */
  readonly problems: readonly string[];
}

export async function runCheck(spec: string, flags: { readonly json?: boolean }, io: Io): Promise<ExitCode> {
  const config = loadConfig(io);
  const database = resolveDatabase(config, spec, io.cwd);
  const report = await checkOn(database, () => openEngines(config, [database]));
  if (flags.json) io.out(`${JSON.stringify(report, null, 2)}\n`);
  else print(report, io);
  return report.readOnly && report.problems.length === 0 ? EXIT.ok : EXIT.failed;
}

export async function checkOn(
  database: ResolvedDatabase,
  open: () => ReturnType<typeof openEngines>,
): Promise<CheckReport> {
  const address = database.address.kind === 'path' ? database.address.path : bareAddress(database.address.url.reveal());
  const nothing = { check: null, version: null, tables: null, rowEstimate: null, describeMs: null };
  const { name, identity, id } = database;
  const about = { database: name, address, identity, id };
  let check: DatabaseCheck | null;
  try {
    check = await attempts(database);
  } catch (error) {
    return { ...about, ...nothing, readOnly: false, problems: [errorText(error, false)] };
  }
  const through = (check?.attempts ?? []).filter(({ outcome }) => outcome !== 'refused');
  const problems = through.map(({ what, outcome, message }) =>
    outcome === 'went-through'
      ? `it could ${what}: do not use this connection`
      : `could not try to ${what}: ${message}`,
  );
  const engines = open();
  const startedMs = performance.now();
  try {
    const { engine } = await engines.engine(database.name);
    const { tables, version } = await engine.describe({ signal: AbortSignal.timeout(WAIT_MS) });
    if (tables.length === 0) problems.push(`no table is visible: ${noTables(database)}`);
    const rows = tables.reduce((sum, { rowEstimate }) => sum + (rowEstimate ?? 0), 0);
    const describeMs = Math.round(performance.now() - startedMs);
    const found = {
      version: check?.version ?? version,
      tables: tables.length,
      rowEstimate: Math.round(rows),
      describeMs,
    };
    return { ...about, check, ...found, readOnly: through.length === 0, problems };
  } catch (error) {
    return { ...about, ...nothing, check, readOnly: false, problems: [...problems, errorText(error, false)] };
  } finally {
    await engines.close();
  }
}

async function attempts({ address, dialect, role, schemas }: ResolvedDatabase): Promise<DatabaseCheck | null> {
  if (address.kind === 'path') {
    const { checkSqlite } = await import('../adapters/sqlite');
    return checkSqlite(address.path);
  }
  if (dialect === 'snowflake') return null;
  const { checkPostgres } = await import('../adapters/postgres');
  return checkPostgres({ url: address.url.reveal(), role, schemas });
}

function noTables({ dialect, access, role }: ResolvedDatabase): string {
  if (access.allow.length > 0 || access.deny.length > 0) return 'check the access lists of the configuration';
  if (dialect === 'sqlite') return 'check the path';
  return `grant it: GRANT USAGE ON SCHEMA … TO ${role ?? 'the user'}; GRANT SELECT ON ALL TABLES IN SCHEMA … TO ${role ?? 'the user'};`;
}

function print(report: CheckReport, io: Io): void {
  const { check } = report;
  const line = (state: string, text: string): void => io.out(`${state.padEnd(7)}  ${visible(text)}\n`);
  io.out(`${visible(`${report.database}  ${report.address}`)}  ${report.identity}\n`);
  if (check !== null) {
    const user = check.user === null ? '' : `, user ${check.user}`;
    const tls = check.tls === null ? '' : check.tls ? ', TLS' : ', no TLS';
    line(
      'ok',
      `${check.version}${user}${tls}, opened in ${ms(check.connectMs)}, a round trip takes ${ms(check.latencyMs)}`,
    );
  } else if (report.version !== null) line('ok', report.version);
  if (report.tables !== null && report.tables > 0)
    line(
      'ok',
      `${counted(report.tables, 'table')} visible, about ${counted(report.rowEstimate ?? 0, 'row')}, described in ${cell(report.describeMs)} ms`,
    );
  const refused = (check?.attempts ?? []).filter(({ outcome }) => outcome === 'refused');
  if (refused.length > 0)
    line(
      'ok',
      `${counted(refused.length, 'write')} attempted, all refused by the database: ${refused.map(({ what }) => what).join(', ')}`,
    );
  else if (report.readOnly) line('ok', 'the role can only read, by its grants; no write was attempted');
  for (const { what, fix } of check?.rights ?? []) {
    line('note', `${what}; gate runs its statements read-only anyway`);
    line('', `fix: ${fix}`);
  }
  if (check?.tls === false && !/^[a-z]+:\/\/([^@]*@)?(localhost|127\.|\[::1\]|\/)/i.test(report.address))
    line('note', 'rows and password travel without TLS; fix: sslmode=verify-full in the URL');
  for (const problem of report.problems) line('missing', problem);
}

const ms = (value: number): string => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
