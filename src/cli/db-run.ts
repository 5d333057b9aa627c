/** What `gate db` prints; what it does is in `app/databases.ts`. */
import * as app from '../app/databases';
import { GateError } from '../app/errors';
import { loadConfig } from '../config';
import { cell, counted, dollars, visible } from '../report/printable';
import { size } from '../size';
import { csv } from '../text/result-text';
import { EXIT, type ExitCode } from './exit';
import { untilInterrupted } from './interrupts';
import { argumentText, printJson, type Io } from './io';
import { cutText, textTable } from './table';

export function addDatabase(name: string, flags: app.AddFlags, io: Io): void {
  const { file, replaced } = app.addDatabase(name, flags, io);
  io.out(`${replaced ? 'replaced' : 'added'} ${name} in ${file}\n`);
  if (flags.urlEnv !== undefined && !io.env[flags.urlEnv])
    io.err(`${flags.urlEnv} is not set yet: put the URL there\n`);
  io.err(`next: gate db check ${name}\n`);
}

export function listDatabases(flags: { readonly json?: boolean }, io: Io): void {
  const listed = app.listDatabases(loadConfig(io));
  const rows = listed.map(({ name, engine, address, id, access }) => [name, engine, address, id ?? '', access]);
  const head = ['name', 'engine', 'address', 'id', 'access'];
  if (flags.json) printJson(io, listed);
  else if (listed.length === 0) io.err('no database is configured; begin with: gate db add NAME --path FILE\n');
  else io.out(`${textTable(head, rows, { width: io.columns, whole: 1 })}\n`);
}

export async function runCheck(spec: string, flags: { readonly json?: boolean }, io: Io): Promise<ExitCode> {
  const report = await app.checkDatabase(spec, io);
  if (flags.json) printJson(io, report);
  else print(report, io);
  return report.readOnly && report.problems.length === 0 ? EXIT.ok : EXIT.failed;
}

function print({ check, ...report }: app.CheckReport, io: Io): void {
  const line = (state: string, text: string): void => io.out(`${state.padEnd(7)}  ${visible(text)}\n`);
  io.out(`${visible(`${report.database}  ${report.address}`)}  ${report.identity}\n`);
  if (check !== null) {
    const user = check.user === null ? '' : `, user ${check.user}`;
    const tls = check.tls === null ? '' : check.tls ? ', TLS' : ', no TLS';
    const times = `opened in ${ms(check.connectMs)}, a round trip takes ${ms(check.latencyMs)}`;
    line('ok', `${check.version}${user}${tls}, ${times}`);
  } else if (report.version !== null) line('ok', report.version);
  if (report.tables)
    line(
      'ok',
      `${counted(report.tables, 'table')} visible, about ${counted(report.rowEstimate ?? 0, 'row')}, described in ${cell(report.describeMs)} ms`,
    );
  const refused = (check?.attempts ?? []).filter(({ outcome }) => outcome === 'refused').map(({ what }) => what);
  if (refused.length > 0)
    line('ok', `${counted(refused.length, 'write')} attempted, all refused by the database: ${refused.join(', ')}`);
  else if (report.readOnly) line('ok', 'the role can only read, by its grants; no write was attempted');
  for (const { what, fix } of check?.rights ?? []) {
    line('note', report.problems.length > 0 ? what : `${what}; gate runs its statements read-only anyway`);
    line('', `fix: ${fix}`);
  }
  if (check?.tls === false && !/^[a-z]+:\/\/([^@]*@)?(localhost|127\.|\[::1\]|\/)/i.test(report.address))
    line(
      'note',
      `rows and password travel without TLS; fix: ${report.address.startsWith('mysql') ? 'ssl-mode=VERIFY_IDENTITY' : 'sslmode=verify-full'} in the URL`,
    );
  for (const note of report.notes) line('note', note);
  for (const problem of report.problems) line('missing', problem);
}

const ms = (value: number): string => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;

export type DescribeFlags = app.Describing & { readonly json?: boolean };

export async function describeDatabase(spec: string, flags: DescribeFlags, io: Io): Promise<void> {
  const described = await app.describeDatabase(spec, flags, io);
  const { text, address, identity, characters, tokens, shown, tables, files } = described;
  if (flags.json) {
    printJson(io, described);
    return;
  }
  io.out(`${visible(text)}\n`);
  const part = shown === null ? '' : `; columns of ${shown} of ${counted(tables, 'table')}, the others by name`;
  for (const file of files?.tables ?? []) io.err(`${visible(`${file.name}: ${file.text}`)}\n`);
  io.err(`${visible(address)}  ${identity}\n`);
  io.err(`${counted(characters, 'character')}, about ${counted(tokens, 'token')}${part}\n`);
}

export interface SqlFlags {
  readonly db?: string;
  readonly format?: 'csv' | 'json' | 'table';
  readonly json?: boolean;
  readonly maxRows: number;
  readonly timeout: number;
}

export async function runSql(argument: string, flags: SqlFlags, io: Io): Promise<void> {
  const { db, maxRows, timeout } = flags;
  const query = await argumentText(argument, io);
  const onEstimate = ({ bytes, usd }: { readonly bytes: number; readonly usd: number }): void =>
    io.err(`scans at most ${size(bytes)}, about ${dollars(usd)}\n`);
  const { columns, rows, truncated } = await untilInterrupted(io, (signal) =>
    app.queryDatabase(query, { db, maxRows, timeoutMs: Math.round(timeout * 1000), signal, onEstimate }, io),
  );
  const names = columns.map(({ name }) => name);
  const format = flags.json ? 'json' : (flags.format ?? (io.outIsTerminal ? 'table' : 'csv'));
  if (format === 'json') io.out(`${JSON.stringify({ columns, rows, truncated })}\n`);
  else if (format === 'csv') io.out(csv(names, rows));
  else io.out(`${textTable(names, rows, { width: io.columns })}\n`);
  if (!truncated) return;
  // CSV cannot say itself that rows are missing.
  if (format === 'csv') throw new GateError(cutText(rows.length, maxRows));
  io.err(`${cutText(rows.length, maxRows)}\n`);
}
