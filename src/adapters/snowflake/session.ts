/**
 * One session with Snowflake and the statements in it. Formats, time zone and case rules are set when it opens, so that a
 * value prints the same in every account. Each statement has its own tag, time limit and row cap, and the server takes one
 * statement per request. The driver repeats a request for as long as the network is down; this class stops waiting if not
 * even the cancellation is answered.
 */
import type * as SnowflakeSdk from 'snowflake-sdk';
import type { Connection, ConnectionOptions, RowStatement, SnowflakeError } from 'snowflake-sdk';
import type { ResultColumn, SqlValue } from '../../domain';
import type { SqlOptions } from '../../domain/ports/sql-engine';
import { literal, optionalPackage, type Outcome, type Session } from '../kit/engine';
import { byArithmetic, byBars, digestSql, type DigestWords } from '../kit/digest';
import { CappedRows, compactJson, exactNumber } from '../kit/value-text';
import { NoAnswer, toOutcome, Unanswered } from './errors';
import { refuseScan } from './scan';
import type { Target } from './target';

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
/** Before the kit gives up a statement, which would pass for a slow one. */
const DROP_AFTER_MS = 2_500;

export type Request = Pick<SqlOptions, 'tag' | 'traceparent' | 'timeoutMs' | 'maxRows' | 'signal'> & {
  /** Compile the statement without running it: gives columns and no rows. */
  readonly describeOnly?: boolean;
};

export type Rows = Extract<Outcome, { kind: 'rows' }> & {
  /** The server's type names. */
  readonly types: string[];
};

/** What the engine checks of a statement besides the role. */
export interface Checks {
  readonly target: Target;
  /** Throws where the role may write. Null: it may, so each statement is first compiled as a subquery, which only a query survives. */
  readonly prove: ((signal: AbortSignal, session: SnowflakeSession, request: Request) => Promise<void>) | null;
  /** Statements whose plan scans more bytes are refused; undefined: no limit. */
  readonly maxScanBytes?: number;
}

export class SnowflakeSession implements Session {
  #isCut = false;

  private constructor(
    private readonly connection: Connection,
    private readonly checks: Checks,
  ) {}

  static async open(sdk: Sdk, options: ConnectionOptions, checks: Checks, request: Request): Promise<SnowflakeSession> {
    const session = new SnowflakeSession(sdk.createConnection(options), checks);
    await connect(session.connection, request.timeoutMs);
    const settings = Object.entries(PARAMETERS).map(
      ([name, value]) => `${name} = ${typeof value === 'string' ? literal(value) : String(value).toUpperCase()}`,
    );
    try {
      await session.query(`ALTER SESSION SET ${settings.join(' ')}`, request);
      // Secondary roles would add privileges, and the role check reads only the primary role's.
      await session.query('USE SECONDARY ROLES NONE', request);
      await checks.prove?.(request.signal, session, request);
      return session;
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  isUp(): boolean {
    return !this.#isCut && this.connection.isUp();
  }

  /** An abort cancels the statement, which `query` sees to. */
  cut(): void {
    this.#isCut = true;
  }

  async execute(sql: string, request: Request): Promise<Outcome> {
    const { prove, maxScanBytes, target } = this.checks;
    const started = Date.now();
    try {
      if (prove === null)
        await this.query(`SELECT 1 FROM (\n${sql}\n) AS gate_check LIMIT 0`, { ...request, describeOnly: true });
      const refused =
        maxScanBytes === undefined
          ? null
          : await refuseScan((sql, how) => this.query(sql, { ...request, ...how }), sql, maxScanBytes);
      if (refused !== null) return refused;
      // The plan was read within the statement's time limit.
      const left = maxScanBytes === undefined ? 0 : Date.now() - started;
      const { types: _types, ...rows } = await this.query(sql, {
        ...request,
        timeoutMs: Math.max(1, request.timeoutMs - left),
      });
      return rows;
    } catch (error) {
      return toOutcome(error, target);
    }
  }

  /** The columns' types come without reading a row. */
  async digestSql(sql: string, request: Request): Promise<string | Outcome> {
    try {
      const { types } = await this.query(sql, { ...request, describeOnly: true });
      return digestSql(sql, types, DIGEST);
    } catch (error) {
      return toOutcome(error, this.checks.target);
    }
  }

  /** Ends the session on the server. Errors are ignored: the session may be gone already. */
  close(): Promise<void> {
    if (!this.connection.isUp()) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, DROP_AFTER_MS);
      this.connection.destroy(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  query(sql: string, request: Request): Promise<Rows> {
    const { timeoutMs, maxRows, signal, describeOnly } = request;
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const settle = (act: () => void): void => {
        for (const timer of [late, gone]) clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        act();
      };
      const fail = (error: Error): void => settle(() => reject(error));
      // Sent even if nobody waits for the answer. If it fails, the server's own time limit ends the statement.
      let cancelled = false;
      const cancel = (): void => statement.cancel((error) => (cancelled ||= !error));
      const onAbort = (): void => {
        cancel();
        fail(signal.reason as Error);
      };
      const late = setTimeout(cancel, timeoutMs + CANCEL_AFTER_MS);
      const gone = setTimeout(
        () => fail(cancelled ? new Unanswered() : new NoAnswer('neither result nor cancellation')),
        timeoutMs + DROP_AFTER_MS,
      );
      signal.addEventListener('abort', onAbort, { once: true });
      const complete = (error: SnowflakeError | undefined, done: RowStatement): void => {
        if (error) fail(error);
        else read(done, describeOnly === true ? 0 : maxRows).then((rows) => settle(() => resolve(rows)), fail);
      };
      const statement = this.connection.execute({
        sqlText: sql,
        parameters: {
          MULTI_STATEMENT_COUNT: 1,
          QUERY_TAG: queryTag(request),
          STATEMENT_TIMEOUT_IN_SECONDS: Math.max(1, Math.ceil(timeoutMs / 1000)),
          // One row more than the cap shows that there are more.
          ROWS_PER_RESULTSET: maxRows + 1,
        },
        streamResult: true,
        describeOnly,
        complete: complete as (error: SnowflakeError | undefined, done: unknown) => void,
      });
    });
  }
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

function read(statement: RowStatement, maxRows: number): Promise<Rows> {
  const described = statement.getColumns() ?? [];
  const types = described.map((column) => column.getType());
  const columns = described.map((column, index) => ({ name: column.getName(), kind: columnKind(types[index] ?? '') }));
  const converters = types.map(converterFor);
  const capped = new CappedRows(maxRows);
  const { rows } = capped;
  const finished = (): Rows => ({ kind: 'rows', columns, types, rows, truncated: capped.truncated });
  if (maxRows === 0 || statement.getNumRows() === 0) return Promise.resolve(finished());
  return new Promise((resolve, reject) => {
    const stream = statement.streamRows({ start: 0, end: maxRows });
    const finish = (): void => resolve(finished());
    stream.on('data', (raw: readonly RawValue[]) => {
      if (capped.add(converters.map((convert, index) => convert(raw[index])))) return;
      finish();
      stream.destroy();
    });
    stream.on('error', reject);
    stream.on('end', finish);
  });
}

/**
 * Snowflake allows 2,000 characters; its query history is easier to read with fewer. A trace stands here and not in the
 * statement, whose text finds earlier results.
 */
function queryTag({ tag, traceparent }: Request): string {
  const text = `gate ${tag.replace(/^gate /, '')}`.replace(/[^\x20-\x7e]/g, '?').slice(0, 200);
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
  const sdk = await optionalPackage('snowflake-sdk', load);
  sdk.configure({ logLevel: 'OFF', additionalLogToConsole: false });
  return sdk;
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

function columnKind(type: string): ResultColumn['kind'] {
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

/** 2^48: a sum over 30 million rows has far fewer than 38 digits, and a sum over a few rows fits a double. */
const MODULUS = 281_474_976_710_656;

const DIGEST: DigestWords<string> = {
  join: byBars,
  length: (text) => `LENGTH(${text})`,
  number(name, type) {
    if (columnKind(type) !== 'number') return null;
    const double = `${name}::DOUBLE`;
    const odd = `LOWER(TO_VARCHAR(${double}))`;
    // A double has 15 reliable digits.
    const [exact, limit] = type.toLowerCase() === 'fixed' ? [name, ''] : [double, ` AND ABS(${double}) <= 1e15`];
    const print = (value: string, decimals: number): string => `TO_VARCHAR((${value})::NUMBER(9, ${decimals}))`;
    return {
      odd: `WHEN ${odd} IN ('nan', 'inf', '-inf') THEN ${odd} WHEN ${double} = 0 THEN 'd0'`,
      isWhole: `ABS(${exact}) >= 10000000${limit} AND ${exact} = FLOOR(${exact})`,
      digits: `TO_VARCHAR(${exact}::NUMBER(38, 0))`,
      short: byArithmetic(double, (value) => `LOG(10, ${value})`, print, byBars),
    };
  },
  text: (name) => `TO_VARCHAR(${name})`,
  // The null of JSON is not NULL, and has no text.
  isNull: (name) => `TO_VARCHAR(${name}) IS NULL`,
  hash: (row) =>
    `MOD(MD5_NUMBER_UPPER64(${row}), ${MODULUS}) AS high, MOD(MD5_NUMBER_LOWER64(${row}), ${MODULUS}) AS low`,
  sums: ['COALESCE(SUM(high), 0)', 'COALESCE(SUM(low), 0)'],
};
