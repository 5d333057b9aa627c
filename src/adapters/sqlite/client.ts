/**
 * One child process. It handles one request at a time, which ends with a reply or with the end of the child. The child is
 * killed when a request exceeds its time limit or its caller aborts: nothing else can stop a query inside SQLite.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { childScript } from './child-script';
import type { ResultColumn, SqlValue } from '../../domain';

/** `crashed`: the child ended by itself in the middle of the request. */
export type RequestEnd =
  ChildReply | { readonly kind: 'timeout' } | { readonly kind: 'crashed'; readonly message: string };

export class SqliteClient {
  readonly #child = startChild();
  #dead = false;
  #stderr = '';
  #answer: ((end: RequestEnd) => void) | null = null;

  constructor() {
    const child = this.#child;
    child.stderr?.on('data', (chunk: Buffer) => (this.#stderr = (this.#stderr + chunk.toString()).slice(-2000)));
    child.on('message', (reply: ChildReply) => this.#answer?.(reply));
    child.on('exit', (_code, signal) => {
      this.#dead = true;
      const broken = `it ended by ${signal ?? 'itself'}, as on patterns that are nested too deeply`;
      this.#answer?.({ kind: 'crashed', message: firstLine(this.#stderr) ?? broken });
    });
    child.on('error', (error) => this.#fail(error));
    // An idle child does not keep this process alive. During a request, the request's timer does.
    for (const handle of [child, child.channel, child.stderr as unknown as { unref(): void } | null]) handle?.unref();
  }

  /** Rejects only on abort, with the signal's reason. */
  request(
    request: ChildRequest,
    { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<RequestEnd> {
    return new Promise<RequestEnd>((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error);
        return;
      }
      const settle = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        this.#answer = null;
      };
      const onAbort = (): void => {
        this.kill();
        settle();
        reject(signal.reason as Error);
      };
      this.#answer = (end) => {
        settle();
        resolve(end);
      };
      const timer = setTimeout(() => {
        this.kill();
        this.#answer?.({ kind: 'timeout' });
      }, timeoutMs);
      signal.addEventListener('abort', onAbort, { once: true });
      this.#child.send(request, (error) => error !== null && this.#fail(error));
    });
  }

  /** False: the child has ended or is about to. */
  isUp(): boolean {
    return !this.#dead;
  }

  kill(): void {
    this.#dead = true;
    this.#child.kill('SIGKILL');
  }

  close(): Promise<void> {
    this.kill();
    return Promise.resolve();
  }

  #fail({ message }: Error): void {
    this.kill();
    this.#answer?.({ kind: 'crashed', message });
  }
}

function startChild(): ChildProcess {
  const { path, execArgv } = childScript();
  return fork(path, [String(process.pid)], {
    execArgv: [...execArgv],
    // The child only reads one file, so it gets no keys from the environment.
    env: pick(process.env, ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'SystemRoot']),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
}

const firstLine = (stderr: string): string | undefined =>
  stderr
    .split('\n')
    .find((line) => line.trim() !== '')
    ?.trim();

function pick(environment: NodeJS.ProcessEnv, names: readonly string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(
    names.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]])),
  );
}

/** What the engine and its child process say to each other: one request, one reply, in order. */

/** `asBytes`: read text as bytes and decode it in the child, because libsql aborts the process on invalid UTF-8. */
interface InSnapshot {
  /** Begin the snapshot first. Its time counts as part of the request. */
  readonly begins?: boolean;
  /** End the snapshot after the statement. */
  readonly ends?: boolean;
}

export type ChildRequest =
  | { readonly kind: 'open'; readonly path: string }
  | { readonly kind: 'begin' }
  | ({
      readonly kind: 'query';
      readonly sql: string;
      readonly maxRows: number;
      readonly maxBytes: number;
      readonly asBytes: boolean;
    } & InSnapshot)
  | ({ readonly kind: 'digest'; readonly sql: string; readonly asBytes: boolean } & InSnapshot)
  | { readonly kind: 'rollback' }
  /** Attempts a fixed list of writes that the child holds: the request carries no SQL. */
  | { readonly kind: 'attempt-writes' };

export type ChildReply =
  | { readonly kind: 'done' }
  | {
      readonly kind: 'rows';
      readonly columns: ResultColumn[];
      readonly rows: SqlValue[][];
      readonly truncated: boolean;
    }
  | { readonly kind: 'digest'; readonly count: number; readonly hash: string }
  | {
      readonly kind: 'attempts';
      /** `code` null: the write was executed. */
      readonly attempts: readonly { readonly what: string; readonly code: string | null; readonly message: string }[];
    }
  | { readonly kind: 'refused'; readonly message: string }
  /** `code` is SQLite's, for example `SQLITE_ERROR`. `outside`: beginning or ending the snapshot failed, not the statement. */
  | { readonly kind: 'error'; readonly message: string; readonly code: string; readonly outside?: boolean };
