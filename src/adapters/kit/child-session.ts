/**
 * A child process that reads one file (`child.ts`), as a session: one request at a time. It is killed when a statement exceeds
 * its time limit or its caller aborts, because nothing else stops every query, and a crash or a lack of memory is its own.
 */
import type { ChildProcess } from 'node:child_process';
import { SqlEngineError } from '../../domain/ports/sql-engine';
import { startChild, type ChildProgram } from './child-process';
import type { WriteAttempt } from './database-check';
import type { Asked, Outcome, Session } from './engine';
import type { FileKind } from './file-check';

export type ChildRequest =
  | { readonly kind: 'begin'; readonly path: string }
  /**
   * `begin`: the file, where a run begins with this statement; `isLast`: it ends with it. A message of its own for each takes as
   * long as a short statement. `again`: it ended a process before. `digest`: one row with the count and two sums of hashes.
   */
  | {
      readonly kind: 'query';
      readonly begin: string | null;
      readonly sql: string;
      readonly maxRows: number;
      readonly again: boolean;
      readonly digest: boolean;
      readonly isLast: boolean;
    }
  | { readonly kind: 'end' }
  /** Attempts a fixed list of writes that the child holds: the request carries no SQL. */
  | { readonly kind: 'attempt-writes' };

export type ChildReply =
  | { readonly kind: 'done' }
  | Extract<Outcome, { kind: 'rows' | 'refused' }>
  | { readonly kind: 'attempts'; readonly attempts: readonly WriteAttempt[] }
  /** `isOutside`: no statement caused it. */
  | ({ readonly kind: 'error'; readonly isOutside: boolean } & Failure);

/** `code` is the engine's, for example `SQLITE_ERROR`. */
export interface Failure {
  readonly code: string;
  readonly message: string;
}

/** The process ended by itself. */
class Crashed extends Error {}

/** What went wrong outside of a statement, in one line. */
export function toChildError({ name }: ChildEngine, error: unknown, path: string): SqlEngineError {
  if (error instanceof SqlEngineError) return error;
  const { message } = error as Error;
  const line = error instanceof Crashed ? `the ${name} process for ${path} ended unexpectedly: ${message}` : message;
  return new SqlEngineError('connection', line, { cause: error });
}

/** What is to be known of the engine in a process. */
export interface ChildEngine extends FileKind {
  readonly program: Exclude<ChildProgram, 'duckdb-import'>;
  /** The expression for it in SQL. */
  readonly version: string;
  /** What the name of its write-ahead log has more than that of the file. */
  readonly log: string;
  /** The file is locked, damaged, …: the statement did not cause that. Throws `SqlEngineError`. */
  readonly throwIfBroken: (failure: Failure, shown: string) => void;
  /** Of a statement. */
  readonly explained: (failure: Failure, shown: string) => Outcome;
}

/** A machine that is busy may take ten seconds to start a process and load DuckDB. */
const OPEN_TIMEOUT_MS = 60_000;

export class ChildSession implements Session {
  readonly #child: ChildProcess;
  #isUp = true;
  readonly #gone = new AbortController();
  #stderr = '';
  /** Requests without an answer, in their order. */
  #waiting: ((reply: ChildReply | Error | 'timeout') => void)[] = [];
  #wasOpened = false;
  /** Set: a run begins, with the next statement. */
  #begins: string | null = null;
  #isInRun = false;

  /** `path` is given up with the session. `shown`: the file as it was given, for messages. */
  constructor(
    private readonly engine: ChildEngine,
    private readonly path: (gone: AbortSignal) => Promise<string>,
    readonly shown: string,
  ) {
    const child = startChild(engine.program);
    this.#child = child;
    child.stderr?.on('data', (chunk: Buffer) => (this.#stderr = (this.#stderr + chunk.toString()).slice(-2000)));
    child.on('message', (reply: ChildReply) => this.#waiting.shift()?.(reply));
    child.on('exit', (_code, signal) => {
      const broken = `it ended by ${signal ?? 'itself'}, as on patterns that are nested too deeply`;
      this.#fail(/\S.*/.exec(this.#stderr)?.[0].trim() ?? broken);
    });
    child.on('error', ({ message }) => this.#fail(message));
    // An idle child does not keep this process alive. During a request, the request's timer does.
    for (const handle of [child, child.channel, child.stderr as unknown as { unref(): void } | null]) handle?.unref();
  }

  isUp(): boolean {
    return this.#isUp;
  }

  /** Begins a run. Making the file may take minutes, and starting the process seconds: neither is in the time of a statement. */
  async prepare(): Promise<void> {
    const path = await this.path(this.#gone.signal);
    if (this.#wasOpened) this.#begins = path;
    else await this.#outside({ kind: 'begin', path });
    this.#isInRun = !this.#wasOpened;
    this.#wasOpened = true;
  }

  async end(): Promise<void> {
    if (this.#isInRun) await this.#outside({ kind: 'end' });
    this.#isInRun = false;
  }

  async execute(sql: string, asked: Asked): Promise<Outcome> {
    const { maxRows, timeoutMs, again = false, digest = false, isLast = false } = asked;
    const begin = this.#begins;
    this.#begins = null;
    this.#isInRun = !isLast;
    try {
      const reply = await this.ask({ kind: 'query', begin, sql, maxRows, again, digest, isLast }, timeoutMs);
      if (reply === 'timeout') return { kind: 'timeout' };
      if (reply.kind === 'rows' || reply.kind === 'refused') return reply;
      if (reply.kind !== 'error') throw new Crashed('it answered out of order');
      return reply.isOutside ? this.#broken(reply) : this.engine.explained(reply, this.shown);
    } catch (error) {
      if (!(error instanceof Crashed)) throw error;
      return {
        kind: 'sql-error',
        message: `${this.engine.name} cannot return this result: ${error.message}`,
        code: null,
      };
    }
  }

  /** Rejects with `Crashed` when the child ends in the middle of it. */
  ask(request: ChildRequest, timeoutMs: number): Promise<ChildReply | 'timeout'> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.cut();
        this.#settle('timeout');
      }, timeoutMs);
      this.#waiting.push((reply) => {
        clearTimeout(timer);
        if (reply instanceof Error) reject(reply);
        else resolve(reply);
      });
      this.#child.send(request, (error) => error !== null && this.#fail(error.message));
    });
  }

  #settle(reply: Error | 'timeout'): void {
    for (const settle of this.#waiting.splice(0)) settle(reply);
  }

  cut(): void {
    this.#isUp = false;
    this.#gone.abort(new Crashed('it was ended'));
    this.#child.kill('SIGKILL');
  }

  close(): Promise<void> {
    this.cut();
    return Promise.resolve();
  }

  /** No statement caused what fails here. */
  async #outside(request: ChildRequest): Promise<void> {
    const reply = await this.ask(request, OPEN_TIMEOUT_MS);
    if (reply === 'timeout') throw new Error(`opening ${this.shown} took too long`);
    if (reply.kind === 'error') this.#broken(reply);
  }

  #broken(failure: Failure): never {
    this.engine.throwIfBroken(failure, this.shown);
    throw new Error(`cannot open ${this.shown}: ${failure.message}`);
  }

  #fail(message: string): void {
    this.cut();
    this.#settle(new Crashed(message));
  }
}
