/**
 * What all engines have in common (design §6, §7). A dialect gives its parts as a `Driver`: how a read-only session opens and
 * what a statement does in it, what an error means, how a schema is described. The rest is here:
 *
 * 1. At most `poolSize` sessions, each used by one run at a time. Callers wait for one until their signal ends the wait.
 * 2. All statements of a run share one snapshot. One that times out, or costs its session, is tried once more with the whole
 *    run on a fresh session; the second time is its result, and the run goes on without it.
 * 3. Where a session does not begin in time, the run begins on a fresh one: a kept connection may have been dropped on its way.
 * 4. An abort cuts the session, and so does what neither the server nor the session ends at its time limit: a statement, or a
 *    reading of the catalogue. After every error a session is dropped.
 */
import { anySignal } from '../../any-signal';
import type { Dialect, SqlResult } from '../../domain';
import {
  SqlEngineError,
  type SqlEngine,
  type SqlEngineErrorCode,
  type SqlOptions,
} from '../../domain/ports/sql-engine';
import { untilAborted } from '../../limiter';
import { sorted, type ErrorTable } from '../error-table';
import { Pool } from './pool';

/** A result without its times, which `createEngine` takes. */
export type Outcome =
  | Omit<Extract<SqlResult, { kind: 'rows' }>, 'elapsedMs'>
  | Omit<Extract<SqlResult, { kind: 'sql-error' }>, 'elapsedMs'>
  | Extract<SqlResult, { kind: 'refused' }>
  | Omit<Extract<SqlResult, { kind: 'timeout' }>, 'afterMs'>;

/**
 * `again`: the statement cost a session before. `digest`: its rows are counted and hashed, and not returned. `isLast`: its run
 * ends with it. `isReading`: the engine itself reads, and no statement follows.
 */
export interface Asked extends SqlOptions {
  readonly again?: boolean;
  readonly digest?: boolean;
  readonly isLast?: boolean;
  readonly isReading?: boolean;
}

export interface Session {
  isUp(): boolean;
  /** What takes its own time before a run, and ends by itself; left out: nothing does. */
  prepare?(): Promise<void>;
  /** Begins a read-only snapshot; left out, as `end`: the database has none over several statements. */
  begin?(options: Pick<Asked, 'timeoutMs' | 'tag' | 'isReading'>): Promise<void>;
  /** Throws, in one line, what the statement did not cause. */
  execute(sql: string, options: Asked): Promise<Outcome>;
  /** The statement that counts and hashes the rows of another one (rule S5), or why there is none; left out: `execute` counts. */
  digestSql?(sql: string, options: Asked): Promise<string | Outcome>;
  end?(): Promise<void>;
  /** Gives up what runs, at once: the session is not used again. */
  cut(): void;
  close(): Promise<void>;
}

export interface Driver<S extends Session> {
  readonly dialect: Dialect;
  /** Sessions at most; default 4. */
  readonly poolSize?: number;
  open(signal: AbortSignal): Promise<S>;
  /** The text that is sent for a statement, or why none is; left out: the statement as it is. */
  read?(sql: string): string | Outcome;
  /** What may act although a statement only reads, found once a minute: why a statement may not run; null: it may. */
  hazards?(session: S): Promise<(sql: string) => string | null>;
  /** What went wrong outside of a statement, in one line. */
  toError(error: unknown): SqlEngineError;
}

export interface Engine<S> extends Pick<SqlEngine, 'dialect' | 'digest' | 'close'> {
  readonly run: (statements: readonly string[], options: Asked) => ReturnType<SqlEngine['run']>;
  readonly inSession: <T>(
    options: Pick<Asked, 'timeoutMs' | 'signal' | 'tag' | 'isReading'>,
    use: (session: S) => Promise<T>,
    isFresh?: boolean,
  ) => Promise<T>;
  /** Work of the engine's own, as a method of a `SqlEngine`; `asked`: for each of its statements. */
  readonly reading: <T>(
    tag: string,
    use: (session: S, asked: Pick<Asked, 'timeoutMs' | 'signal' | 'tag'>) => Promise<T>,
  ) => (options: { readonly signal: AbortSignal }) => Promise<T>;
}

/** Of a statement of a reading. */
export const READING_TIMEOUT_MS = 30_000;
/**
 * Of a reading once it has its session. One of a slow server may take four: six statements at their limit and then samples (MySQL),
 * or a request for each of 5,000 tables, eight at once (BigQuery). A step that waits for it has the time of sixty statements.
 */
const READING_MINUTES = 5;
const UNREAD = `its catalogue was not read within ${READING_MINUTES} minutes: check the network, or name fewer schemas`;
const HAZARDS_KEPT_MS = 60_000;
/** How long after its time limit a statement is given up. */
const CUT_AFTER_MS = 3_000;

export function createEngine<S extends Session>(driver: Driver<S>): Engine<S> {
  const pool = new Pool(driver.poolSize ?? 4, (signal) => telling(signal, () => driver.open(signal)));

  async function telling<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      throw driver.toError(error);
    }
  }

  const inSession: Engine<S>['inSession'] = (options, use, isFresh = false) => {
    const state = { isUnanswered: false };
    const work = (session: S): ReturnType<typeof use> =>
      telling(options.signal, async () => {
        const cut = (): void => session.cut();
        options.signal.addEventListener('abort', cut, { once: true });
        try {
          // It may have been aborted while the session was opened, and then the listener hears of nothing.
          options.signal.throwIfAborted();
          await session.prepare?.();
          const begun = await timely(session, options, async () => session.begin?.(options));
          state.isUnanswered = begun !== undefined;
          if (state.isUnanswered) throw new Error('no answer');
          const value = await use(session);
          options.signal.throwIfAborted();
          if (session.isUp()) await session.end?.();
          return value;
        } finally {
          options.signal.removeEventListener('abort', cut);
        }
      });
    return pool.use(options.signal, work, isFresh).catch((error: unknown) => {
      if (isFresh || !state.isUnanswered) throw error;
      return inSession(options, use, true);
    });
  };

  const reading: Engine<S>['reading'] = (tag, use) => (options) => {
    const late = new AbortController();
    const signal = anySignal([options.signal, late.signal]);
    const asked = { tag, timeoutMs: READING_TIMEOUT_MS, signal, isReading: true };
    return inSession(asked, (session) => {
      const giveUp = setTimeout(() => late.abort(driver.toError(new Error(UNREAD))), READING_MINUTES * 60_000);
      return use(session, asked).finally(() => clearTimeout(giveUp));
    });
  };

  const hazards = driver.hazards && keptFor(HAZARDS_KEPT_MS, reading('check', driver.hazards.bind(driver)));

  async function read(sql: string, options: Asked): Promise<string | Outcome> {
    const text = driver.read?.(sql) ?? sql;
    if (typeof text !== 'string' || hazards === undefined) return text;
    const message = (await hazards(options))(text);
    return message === null ? text : { kind: 'refused', message };
  }

  async function execute(session: S, sql: string, options: Asked): Promise<Outcome> {
    const counted = options.digest === true ? session.digestSql?.bind(session) : undefined;
    const text = counted && (await timely(session, options, () => counted(sql, { ...options, isLast: false })));
    if (text !== undefined && typeof text !== 'string') return text;
    return timely(session, options, () => session.execute(text ?? sql, options));
  }

  async function run(statements: readonly string[], options: Asked): ReturnType<SqlEngine['run']> {
    const asked: { readonly sql: string; isTried: boolean; settled: SqlResult | null }[] = [];
    for (const sql of statements) {
      const text = await read(sql, options);
      const isSent = typeof text === 'string';
      asked.push({ sql: isSent ? text : sql, isTried: false, settled: isSent ? null : timed(text, options) });
    }
    for (;;) {
      let takenAt = '';
      const results: SqlResult[] = [];
      const isFresh = asked.some(({ isTried }) => isTried);
      const work = async (session: S): Promise<void> => {
        takenAt = new Date().toISOString();
        const last = asked.findLast(({ settled }) => settled === null);
        for (const each of asked) {
          options.signal.throwIfAborted();
          const started = performance.now();
          const how = { ...options, again: each.isTried || options.again, isLast: each === last };
          const result = each.settled ?? timed(await execute(session, each.sql, how), options, started);
          if (each.settled === null && (result.kind === 'timeout' || !session.isUp())) {
            if (each.isTried) each.settled = result;
            each.isTried = true;
            session.cut();
            return;
          }
          results.push(result);
        }
      };
      await inSession(options, work, isFresh);
      if (results.length === asked.length) return { takenAt, results };
    }
  }

  return {
    dialect: driver.dialect,
    inSession,
    reading,
    run,
    async digest(sql, options) {
      const [result] = (await run([sql], { ...options, digest: true })).results;
      if (result?.kind !== 'rows') return result ?? { kind: 'timeout', afterMs: options.timeoutMs };
      const [count, high, low] = result.rows[0] ?? [];
      return { count: Number(count), hash: `${String(high)}.${String(low)}` };
    },
    close: () => pool.close(),
  };
}

/** Gives up a statement that nobody ended in time. What fails with it is of no account. */
async function timely<T>(
  session: Session,
  { timeoutMs }: Pick<Asked, 'timeoutMs'>,
  work: () => Promise<T>,
): Promise<T | Outcome> {
  const state = { isLate: false };
  const giveUp = setTimeout(() => {
    state.isLate = true;
    session.cut();
  }, timeoutMs + CUT_AFTER_MS);
  try {
    return await work();
  } catch (error) {
    if (state.isLate) return { kind: 'timeout' };
    throw error;
  } finally {
    clearTimeout(giveUp);
  }
}

/** `started`: by `performance.now`; left out: it was not sent. */
function timed(outcome: Outcome, { timeoutMs }: SqlOptions, started = performance.now()): SqlResult {
  if (outcome.kind === 'timeout') return { ...outcome, afterMs: timeoutMs };
  if (outcome.kind === 'refused') return outcome;
  return { ...outcome, elapsedMs: Math.round((performance.now() - started) * 10) / 10 };
}

export type EngineErrors = ErrorTable<SqlEngineErrorCode>;

/** A server and who logs in, as errors tell them. */
export interface ServerPlace {
  /** With its port; or the path of the socket. */
  readonly host: string;
  readonly database: string;
  readonly user: string;
}

/**
 * Errors of the socket and of TLS, of a server called `name` at {host}; {code} and {message} are the error's. `tls`: the parameters of
 * the URL that name an authority, that check the chain alone, and that check nothing.
 */
export const networkErrors = (
  name: string,
  tls: { readonly authority: string; readonly chain: string; readonly unchecked: string },
): EngineErrors => [
  [/^ENOTFOUND /, 'not-found', 'there is no host {host}: check the URL of the database'],
  [/^EAI_AGAIN /, 'connection', 'the name of {host} cannot be looked up: check the network'],
  [/^(ENETUNREACH|EHOSTUNREACH|ETIMEDOUT) /, 'connection', 'there is no way to {host} ({code}): check host and network'],
  [/^ECONNREFUSED /, 'connection', `nothing answers at {host}: start ${name} there or correct the URL`],
  [/^ .*timeout/is, 'connection', `${name} at {host} does not answer: check host, port and firewall`],
  [/^CERT_HAS_EXPIRED |certificate has expired/, 'not-configured', `the TLS certificate of ${name} at {host} has expired: renew it there (${tls.unchecked} would not check it)`],
  [/^ERR_TLS_CERT_ALTNAME_INVALID |altnames/, 'not-configured', `the TLS certificate of ${name} at {host} is for another host: correct the host in the URL, or check the chain only (${tls.chain})`],
  [/^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_|HOSTNAME_MISMATCH|ERR_TLS_)|self.signed|unable to (get|verify)/i, 'not-configured', `the TLS certificate of ${name} at {host} is not trusted ({message}): name its authority with ${tls.authority}=FILE in the URL`],
]; // prettier-ignore

/** Of a connection that ends before the login is complete. */
export function hungUp(name: string, { host }: ServerPlace, cause: unknown): SqlEngineError {
  const line = `what answers at ${host} hung up before the login: start ${name} there, or correct host and port in the URL`;
  return new SqlEngineError('connection', line, { cause });
}

/** By the first row that fits; without one, `otherwise` is the line of a lost connection. An error that has its line keeps it. */
export function errorBy(
  table: EngineErrors,
  says: string,
  facts: Readonly<Record<string, string>>,
  otherwise: string,
  cause: unknown,
): SqlEngineError {
  if (cause instanceof SqlEngineError) return cause;
  const { code, line } = sorted(table, says, facts) ?? { code: 'connection', line: otherwise };
  return new SqlEngineError(code, line, { cause });
}

/** Of the network, `ECONNREFUSED` for example: the code of an error, or of what caused it; empty: none is told. */
export function networkCode(error: unknown): string {
  const { code, cause } = (error ?? {}) as { readonly code?: unknown; readonly cause?: unknown };
  if (typeof code === 'string' && /^[A-Z][A-Z_]+$/.test(code)) return code;
  return cause === undefined ? '' : networkCode(cause);
}

/** Of a statement that the server was sent: it gave no error of its own. */
export function lostBy(error: unknown, toError: (error: unknown) => SqlEngineError): SqlEngineError {
  if (error instanceof SqlEngineError) return error;
  return new SqlEngineError('lost', toError(error).message, { cause: error });
}

/** A driver that is installed only where it is used. */
export async function optionalPackage<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (!/^(ERR_)?MODULE_NOT_FOUND$/.test(String((error as NodeJS.ErrnoException).code))) throw error;
    throw new SqlEngineError('not-configured', `install ${name}: npm install ${name}`, { cause: error });
  }
}

/** Why a statement is refused that would take more than it may, by the server's own estimate. */
export const overCeiling = (said: {
  readonly what: string;
  readonly estimate: string;
  readonly ceiling: string;
  /** The part that takes most; left out: it is not known. */
  readonly largest?: string;
  readonly advice: string;
}): string => {
  const figures = [`${said.estimate}, the ceiling is ${said.ceiling}`, said.largest].filter(Boolean).join('; ');
  return `${said.what} here: ${figures}: ${said.advice}`;
};

/**
 * Work for all sessions together: done once, and again only after it failed. Where it failed because the one who began it has
 * left, one of those who wait for it begins it again. Nobody waits beyond the own signal.
 */
export function once<A extends readonly unknown[], T>(
  work: (signal: AbortSignal, ...given: A) => Promise<T>,
): (signal: AbortSignal, ...given: A) => Promise<T> {
  let begun: { readonly by: AbortSignal; readonly done: Promise<T> } | null = null;
  const begin = (signal: AbortSignal, given: A): Promise<T> =>
    work(signal, ...given).catch((error: unknown) => {
      begun = null;
      throw error;
    });
  return async (signal, ...given) => {
    for (;;) {
      const { by, done } = (begun ??= { by: signal, done: begin(signal, given) });
      try {
        return await untilAborted(done, signal);
      } catch (error) {
        if (signal.aborted || !by.aborted) throw error;
      }
    }
  };
}

/** What `load` gives, asked again only when it is older than `ms`. */
export function keptFor<A, T>(ms: number, load: (asked: A) => Promise<T>): (asked: A) => Promise<T> {
  let known: { readonly value: T; readonly at: number } | null = null;
  return async (asked) => {
    if (known === null || Date.now() - known.at > ms) known = { value: await load(asked), at: Date.now() };
    return known.value;
  };
}

export const literal = (value: string): string => `'${value.replaceAll("'", "''")}'`;
export const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;
