/**
 * A child process that reads one SQLite file (`child.ts`), as a session: one request at a time. It is killed when a statement
 * exceeds its time limit or its caller aborts, because nothing else can stop a query inside SQLite.
 */
import { fork, type ChildProcess } from 'node:child_process';
import type { Asked, Outcome, Session } from '../kit/engine';
import { childScript } from './child-script';
import { Crashed, explained, throwIfBroken } from './errors';

export type ChildRequest =
  | { readonly kind: 'begin'; readonly path: string }
  /**
   * `asBytes`: read text as bytes and decode it in the child, because libsql aborts the process on invalid UTF-8. `digest`: one
   * row with the count and two sums of hashes.
   */
  | {
      readonly kind: 'query';
      readonly sql: string;
      readonly maxRows: number;
      readonly asBytes: boolean;
      readonly digest: boolean;
    }
  | { readonly kind: 'end' }
  /** Attempts a fixed list of writes that the child holds: the request carries no SQL. */
  | { readonly kind: 'attempt-writes' };

export type ChildReply =
  | { readonly kind: 'done' }
  | Extract<Outcome, { kind: 'rows' | 'refused' }>
  | {
      readonly kind: 'attempts';
      /** `code` null: the write was executed. */
      readonly attempts: readonly { readonly what: string; readonly code: string | null; readonly message: string }[];
    }
  /** `code` is SQLite's, for example `SQLITE_ERROR`. */
  | { readonly kind: 'error'; readonly message: string; readonly code: string };

const OPEN_TIMEOUT_MS = 15_000;

export class SqliteSession implements Session {
  readonly #child = startChild();
  #isUp = true;
  #stderr = '';
  #settle: ((reply: ChildReply | Error | 'timeout') => void) | null = null;

  /** `shown`: the file as it was given, for messages. */
  constructor(
    private readonly path: string,
    readonly shown: string,
  ) {
    const child = this.#child;
    child.stderr?.on('data', (chunk: Buffer) => (this.#stderr = (this.#stderr + chunk.toString()).slice(-2000)));
    child.on('message', (reply: ChildReply) => this.#settle?.(reply));
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

  async begin(): Promise<void> {
    await this.#outside({ kind: 'begin', path: this.path });
  }

  async end(): Promise<void> {
    await this.#outside({ kind: 'end' });
  }

  /** A statement that crashed the child is read as bytes when it is tried again. */
  async execute(sql: string, { maxRows, timeoutMs, again = false, digest = false }: Asked): Promise<Outcome> {
    try {
      const reply = await this.ask({ kind: 'query', sql, maxRows, asBytes: again, digest }, timeoutMs);
      if (reply === 'timeout') return { kind: 'timeout' };
      if (reply.kind === 'error') return explained(reply, this.shown);
      if (reply.kind === 'rows' || reply.kind === 'refused') return reply;
      throw new Crashed('it answered out of order');
    } catch (error) {
      if (!(error instanceof Crashed)) throw error;
      return { kind: 'sql-error', message: `SQLite cannot return this result: ${error.message}`, code: null };
    }
  }

  /** Rejects with `Crashed` when the child ends in the middle of it. */
  ask(request: ChildRequest, timeoutMs: number): Promise<ChildReply | 'timeout'> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.cut();
        this.#settle?.('timeout');
      }, timeoutMs);
      this.#settle = (reply) => {
        clearTimeout(timer);
        this.#settle = null;
        if (reply instanceof Error) reject(reply);
        else resolve(reply);
      };
      this.#child.send(request, (error) => error !== null && this.#fail(error.message));
    });
  }

  cut(): void {
    this.#isUp = false;
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
    if (reply.kind !== 'error') return;
    throwIfBroken(reply, this.shown);
    throw new Error(`cannot open ${this.shown}: ${reply.message}`);
  }

  #fail(message: string): void {
    this.cut();
    this.#settle?.(new Crashed(message));
  }
}

/** The child only reads one file, so it gets no keys from the environment. */
const ENVIRONMENT = ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'SystemRoot'];

function startChild(): ChildProcess {
  const { path, execArgv } = childScript();
  return fork(path, [String(process.pid)], {
    execArgv: [...execArgv],
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => ENVIRONMENT.includes(name))),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
}
