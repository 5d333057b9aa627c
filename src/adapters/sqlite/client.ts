/**
 * One child process, which runs the statements of one request at a time in one snapshot and answers each in turn. It is killed
 * when a statement exceeds its time limit or its caller aborts: nothing else can stop a query inside SQLite.
 */
import { fork, type ChildProcess } from 'node:child_process';
import type { ResultColumn, SqlValue } from '../../domain';
import { stopwatch } from '../results';
import { childScript } from './child-script';

/** What the engine asks of its child: a file, and what to do in one snapshot of it. */
export interface ChildRequest {
  readonly path: string;
  readonly statements: readonly Statement[];
}

/** `asBytes`: read text as bytes and decode it in the child, because libsql aborts the process on invalid UTF-8. */
export type Statement =
  | { readonly kind: 'query'; readonly sql: string; readonly maxRows: number; readonly asBytes?: boolean }
  | { readonly kind: 'digest'; readonly sql: string; readonly asBytes?: boolean }
  /** Attempts a fixed list of writes that the child holds: the request carries no SQL. */
  | { readonly kind: 'attempt-writes' };

/** The first says that the snapshot has begun; one follows for each statement. */
export type ChildReply =
  | { readonly kind: 'begun' }
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
  /** `code` is SQLite's, for example `SQLITE_ERROR`. `outside`: beginning or ending the snapshot failed; it is the last reply. */
  | { readonly kind: 'error'; readonly message: string; readonly code: string; readonly outside?: boolean };

/** `crashed`: the child ended by itself in the middle of the statement. */
export type Reply = ChildReply | { readonly kind: 'timeout' } | { readonly kind: 'crashed'; readonly message: string };

export type TimedReply = Reply & { readonly elapsedMs: number };

const OPEN_TIMEOUT_MS = 15_000;

export class SqliteClient {
  readonly #child = startChild();
  #dead = false;
  #stderr = '';
  #take: ((reply: Reply) => void) | null = null;

  constructor() {
    const child = this.#child;
    child.stderr?.on('data', (chunk: Buffer) => (this.#stderr = (this.#stderr + chunk.toString()).slice(-2000)));
    child.on('message', (reply: ChildReply) => this.#take?.(reply));
    child.on('exit', (_code, signal) => {
      this.#dead = true;
      const broken = `it ended by ${signal ?? 'itself'}, as on patterns that are nested too deeply`;
      this.#take?.({ kind: 'crashed', message: /\S.*/.exec(this.#stderr)?.[0].trim() ?? broken });
    });
    child.on('error', (error) => this.#fail(error));
    // An idle child does not keep this process alive. During a request, the request's timer does.
    for (const handle of [child, child.channel, child.stderr as unknown as { unref(): void } | null]) handle?.unref();
  }

  /**
   * The reply of the beginning, and one for each statement. After a timeout, a crash or a failure outside of the statements
   * there are no more. Rejects only on abort, with the signal's reason.
   */
  run(request: ChildRequest, timeoutMs: number, signal: AbortSignal): Promise<TimedReply[]> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const replies: TimedReply[] = [];
      let elapsed = stopwatch();
      const late = (): void => {
        this.kill();
        take({ kind: 'timeout' });
      };
      let timer = setTimeout(late, OPEN_TIMEOUT_MS);
      const settle = (act: () => void): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        this.#take = null;
        act();
      };
      const onAbort = (): void => {
        this.kill();
        settle(() => reject(signal.reason as Error));
      };
      const take = (reply: Reply): void => {
        replies.push({ ...reply, elapsedMs: elapsed() });
        const isOver = hasCostItsChild(reply) || (reply.kind === 'error' && reply.outside);
        if (isOver || replies.length > request.statements.length) {
          settle(() => resolve(replies));
          return;
        }
        clearTimeout(timer);
        elapsed = stopwatch();
        timer = setTimeout(late, timeoutMs);
      };
      this.#take = take;
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
    this.#take?.({ kind: 'crashed', message });
  }
}

export const hasCostItsChild = ({ kind }: Reply): boolean => kind === 'timeout' || kind === 'crashed';

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
