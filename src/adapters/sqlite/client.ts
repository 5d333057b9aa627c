/**
 * One child process. It handles one request at a time, which ends with a reply or with the end of the child. The child is
 * killed when a request exceeds its time limit or its caller aborts: nothing else can stop a query inside SQLite.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { childScript } from './child-script';
import type { ChildReply, ChildRequest } from './protocol';

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
