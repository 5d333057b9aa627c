/**
 * One session with Snowflake and the statements in it. Formats, time zone and case rules are set when it opens, so that a
 * value prints the same in every account. Each statement has its own tag, time limit and row cap, and the server takes one
 * statement per request. The driver repeats a request for as long as the network is down; this class stops waiting if not
 * even the cancellation is answered.
 */
import type * as SnowflakeSdk from 'snowflake-sdk';
import type { Connection, ConnectionOptions, RowStatement, SnowflakeError } from 'snowflake-sdk';
import type { ResultColumn, SqlValue } from '../../domain';
import { literal, MAX_RESULT_BYTES } from '../results';
import { NoAnswer } from './errors';
import { SqlEngineError } from '../../domain/ports/sql-engine';
import { compactJson, exactNumber } from '../value-text';

const PARAMETERS: Readonly<Record<string, string | number | boolean>> = {
  TIMEZONE: 'UTC',
  DATE_OUTPUT_FORMAT: 'YYYY-MM-DD',
  TIME_OUTPUT_FORMAT: 'HH24:MI:SS.FF9',
  TIMESTAMP_OUTPUT_FORMAT: 'YYYY-MM-DD HH24:MI:SS.FF9 TZHTZM',
  TIMESTAMP_NTZ_OUTPUT_FORMAT: 'YYYY-MM-DD HH24:MI:SS.FF9',
  TIMESTAMP_LTZ_OUTPUT_FORMAT: 'YYYY-MM-DD HH24:MI:SS.FF9TZH:TZM',
  TIMESTAMP_TZ_OUTPUT_FORMAT: 'YYYY-MM-DD HH24:MI:SS.FF9TZH:TZM',
  BINARY_OUTPUT_FORMAT: 'HEX',
  QUOTED_IDENTIFIERS_IGNORE_CASE: false,
  MULTI_STATEMENT_COUNT: 1,
  // The server ends a statement whose client is gone.
  ABORT_DETACHED_QUERY: true,
};
/** How long after the time limit a statement is cancelled from here, if the server's own limit fails. */
const CANCEL_AFTER_MS = 1_000;
const DROP_AFTER_MS = 3_000;

export interface Request {
  readonly tag: string;
  readonly traceparent?: string;
  readonly timeoutMs: number;
  readonly maxRows: number;
  readonly signal: AbortSignal;
  /** Compile the statement without running it: gives columns and no rows. */
  readonly describeOnly?: boolean;
}

export interface Rows {
  readonly columns: ResultColumn[];
  /** The server's type names. */
  readonly types: string[];
  readonly rows: SqlValue[][];
  readonly truncated: boolean;
}

/** The server accepted the cancellation but did not end the statement: the session cannot be used again. */
export class Unanswered extends Error {}

export interface Session {
  readonly isUp: () => boolean;
  execute(sql: string, request: Request): Promise<Rows>;
  close(): Promise<void>;
}

export async function openSession(
  sdk: Sdk,
  options: ConnectionOptions,
  { connectTimeoutMs, signal }: { readonly connectTimeoutMs: number; readonly signal: AbortSignal },
): Promise<Session> {
  const connection = sdk.createConnection(options);
  await connect(connection, connectTimeoutMs);
  const session: Session = {
    isUp: () => connection.isUp(),
    execute: (sql, request) => execute(connection, sql, request),
    close: () => destroy(connection),
  };
  const request = { tag: 'gate', timeoutMs: connectTimeoutMs, maxRows: 10, signal };
  const settings = Object.entries(PARAMETERS).map(
    ([name, value]) => `${name} = ${typeof value === 'string' ? literal(value) : String(value).toUpperCase()}`,
  );
  try {
    await session.execute(`ALTER SESSION SET ${settings.join(' ')}`, request);
    // Secondary roles would add privileges, and the role check reads only the primary role's.
    await session.execute('USE SECONDARY ROLES NONE', request);
  } catch (error) {
    await session.close();
    throw error;
  }
  return session;
}

function connect(connection: Connection, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new NoAnswer(`no answer to the login within ${timeoutMs / 1000} s`)),
      timeoutMs,
    );
    connection.connect((error) => {
      clearTimeout(timer);
      // The driver's types say undefined, but it also passes null.
      if (error) reject(error);
      else resolve();
    });
  });
}

/** Ends the session on the server. Errors are ignored: the session may be gone already. */
function destroy(connection: Connection): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, DROP_AFTER_MS);
    timer.unref();
    const done = (): void => {
      clearTimeout(timer);
      resolve();
    };
    if (connection.isUp()) connection.destroy(done);
    else done();
  });
}

function execute(connection: Connection, sql: string, request: Request): Promise<Rows> {
  const { timeoutMs, maxRows, signal, describeOnly } = request;
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const parameters = {
      MULTI_STATEMENT_COUNT: 1,
      QUERY_TAG: queryTag(request),
      STATEMENT_TIMEOUT_IN_SECONDS: Math.max(1, Math.ceil(timeoutMs / 1000)),
      // One row more than the cap shows that there are more.
      ROWS_PER_RESULTSET: maxRows + 1,
    };
    let settled = false;
    const settle = (act: () => void): void => {
      if (settled) return;
      settled = true;
      for (const timer of [late, gone]) clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      act();
    };
    // Sent even if nobody waits for the answer. If it fails, the server's own time limit ends the statement.
    let cancelled = false;
    const cancel = (): void => statement.cancel((error) => (cancelled ||= !error));
    const onAbort = (): void => {
      cancel();
      settle(() => reject(signal.reason as Error));
    };
    const late = setTimeout(cancel, timeoutMs + CANCEL_AFTER_MS);
    const gone = setTimeout(
      () => settle(() => reject(cancelled ? new Unanswered() : new NoAnswer('neither result nor cancellation'))),
      timeoutMs + DROP_AFTER_MS,
    );
    signal.addEventListener('abort', onAbort, { once: true });
    const complete = (error: SnowflakeError | undefined, done: RowStatement): void => {
      if (error) {
        settle(() => reject(error));
        return;
      }
      read(done, describeOnly === true ? 0 : maxRows).then(
        (rows) => settle(() => resolve(rows)),
        (failure: unknown) => settle(() => reject(failure instanceof Error ? failure : new Error(String(failure)))),
      );
    };
    const statement = connection.execute({
      sqlText: sql,
      parameters,
      streamResult: true,
      describeOnly,
      complete: complete as (error: SnowflakeError | undefined, done: unknown) => void,
    });
  });
}

function read(statement: RowStatement, maxRows: number): Promise<Rows> {
  const described = statement.getColumns() ?? [];
  const types = described.map((column) => column.getType());
  const columns = described.map((column, index) => ({ name: column.getName(), kind: columnKind(types[index] ?? '') }));
  const converters = types.map(converterFor);
  const rows: SqlValue[][] = [];
  if (maxRows === 0 || statement.getNumRows() === 0) return Promise.resolve({ columns, types, rows, truncated: false });
  return new Promise((resolve, reject) => {
    let bytes = 0;
    const stream = statement.streamRows({ start: 0, end: maxRows });
    const finish = (truncated: boolean): void => resolve({ columns, types, rows: rows.slice(0, maxRows), truncated });
    stream.on('data', (raw: readonly RawValue[]) => {
      for (const value of raw) bytes += typeof value === 'string' ? value.length : 8;
      rows.push(converters.map((convert, index) => convert(raw[index])));
      if (rows.length > maxRows || bytes > MAX_RESULT_BYTES) {
        finish(true);
        stream.destroy();
      }
    });
    stream.on('error', reject);
    stream.on('end', () => finish(false));
  });
}

/**
 * Snowflake allows 2,000 characters; its query history is easier to read with fewer. A trace stands here and not in the
 * statement, whose text finds earlier results.
 */
function queryTag({ tag, traceparent }: Request): string {
  const text = `gate ${tag}`.replace(/[^\x20-\x7e]/g, '?').slice(0, 200);
  return traceparent === undefined ? text : `${text} traceparent='${traceparent}'`;
}

/**
 * Loads the driver when a Snowflake database is opened for the first time: it is a large optional package. Everything it
 * would do besides connecting is switched off before: asking the cloud's metadata service which platform this is,
 * telemetry about the connection, native helpers, a log file in the working directory.
 * Certificate checks stay as the driver has them (OCSP on).
 */

type Sdk = Pick<typeof SnowflakeSdk, 'configure' | 'createConnection'>;

const QUIET = {
  SNOWFLAKE_DISABLE_PLATFORM_DETECTION: 'true',
  SNOWFLAKE_DISABLE_MINICORE: 'true',
  SF_TELEMETRY_DISABLE_CONNECTION_SHAPE: 'true',
};

export type LoadSdk = () => Promise<Sdk>;

const importSdk: LoadSdk = async () => {
  const loaded = (await import('snowflake-sdk')) as Sdk & { readonly default?: Sdk };
  return loaded.default ?? loaded;
};

export async function loadSdk(load: LoadSdk = importSdk): Promise<Sdk> {
  for (const [name, value] of Object.entries(QUIET)) process.env[name] ??= value;
  try {
    const sdk = await load();
    sdk.configure({ logLevel: 'OFF', additionalLogToConsole: false });
    return sdk;
  } catch (error) {
    if (!/^(ERR_)?MODULE_NOT_FOUND$/.test(String((error as NodeJS.ErrnoException).code))) throw error;
    throw new SqlEngineError('not-configured', 'install snowflake-sdk: npm install snowflake-sdk', { cause: error });
  }
}

/**
 * Snowflake values as JSON-safe results. The driver returns numbers, times, VARIANTs and binaries as text. A number that a
 * double cannot hold exactly stays text, times keep their zone, JSON its digits and key order.
 */

const KINDS: Readonly<Record<string, ResultColumn['kind']>> = {
  fixed: 'number',
  real: 'number',
  decfloat: 'number',
  boolean: 'boolean',
  text: 'text',
  date: 'time',
  time: 'time',
  timestamp_ltz: 'time',
  timestamp_ntz: 'time',
  timestamp_tz: 'time',
  variant: 'json',
  object: 'json',
  array: 'json',
  map: 'json',
};

export function columnKind(type: string): ResultColumn['kind'] {
  return KINDS[type.toLowerCase()] ?? 'other';
}

type RawValue = string | number | boolean | null | undefined | object;

function converterFor(type: string): (value: RawValue) => SqlValue {
  const convert = CONVERTERS[type.toLowerCase()];
  return (value) => {
    if (value === null || value === undefined) return null;
    if (typeof value === 'boolean') return value;
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
    return convert === undefined ? text : convert(text);
  };
}

const float = (text: string): SqlValue => {
  if (/^[+-]?inf(inity)?$/i.test(text)) return text.startsWith('-') ? '-Infinity' : 'Infinity';
  return Number.isFinite(Number(text)) ? Number(text) : text;
};

/** The session prints nine digits of a second; trailing zeros are removed here. */
const time = (text: string): SqlValue => text.replace(/(?<=:\d\d)(?:(\.\d*?[1-9])0+|\.0+)(?=$|\s|[+-])/, '$1');

const CONVERTERS: Readonly<Record<string, (text: string) => SqlValue>> = {
  fixed: exactNumber,
  decfloat: exactNumber,
  real: float,
  time,
  timestamp_ltz: time,
  timestamp_ntz: time,
  timestamp_tz: time,
  variant: compactJson,
  object: compactJson,
  array: compactJson,
  map: compactJson,
  binary: (text) => `\\x${text.toLowerCase()}`,
};
