/**
 * One child process. It handles one request at a time, which ends with a reply or with the end of the child. The child is
 * killed when a request exceeds its time limit or its caller aborts: nothing else can stop a query inside SQLite.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { extname, join } from 'node:path';
import type { ChildReply, ChildRequest } from './protocol';

/** `crashed`: the child ended by itself in the middle of the request. */
export type RequestEnd =
  ChildReply | { readonly kind: 'timeout' } | { readonly kind: 'crashed'; readonly message: string };

export interface SqliteClient {
  /** Rejects only on abort, with the signal's reason. */
  request(
    request: ChildRequest,
    limits: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<RequestEnd>;
  /** The child has ended or is about to: use another one. */
  readonly dead: boolean;
  kill(): void;
}

export function startSqliteClient(): SqliteClient {
  const extension = extname(__filename);
  const child: ChildProcess = fork(join(__dirname, `child${extension}`), [], {
    execArgv: extension === '.ts' ? ['--require', require.resolve('tsx/cjs')] : [],
    // The child only reads one file, so it gets no keys from the environment.
    env: pick(process.env, ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'SystemRoot']),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let dead = false;
  let stderr = '';
  let answer: ((end: RequestEnd) => void) | null = null;
  child.stderr?.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-2000)));
  child.on('message', (reply: ChildReply) => answer?.(reply));
  child.on('exit', (_code, signal) => {
    dead = true;
    const broken = `it ended by ${signal ?? 'itself'}, as on patterns that are nested too deeply`;
    answer?.({ kind: 'crashed', message: firstLine(stderr) ?? broken });
  });
  const kill = (): void => {
    dead = true;
    child.kill('SIGKILL');
  };
  const onError = ({ message }: Error): void => {
    kill();
    answer?.({ kind: 'crashed', message });
  };
  child.on('error', onError);
  const onSent = (error: Error | null): void => {
    if (error !== null) onError(error);
  };
  // An idle child does not keep this process alive. During a request, the request's timer does.
  for (const handle of [child, child.channel, child.stderr as unknown as { unref(): void } | null]) handle?.unref();

  return {
    get dead() {
      return dead;
    },
    kill,
    request(request, { timeoutMs, signal }) {
      return new Promise<RequestEnd>((resolve, reject) => {
        if (signal.aborted) {
          reject(signal.reason as Error);
          return;
        }
        const settle = (): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', onAbort);
          answer = null;
        };
        const onAbort = (): void => {
          kill();
          settle();
          reject(signal.reason as Error);
        };
        answer = (end) => {
          settle();
          resolve(end);
        };
        const timer = setTimeout(() => {
          kill();
          answer?.({ kind: 'timeout' });
        }, timeoutMs);
        signal.addEventListener('abort', onAbort, { once: true });
        child.send(request, onSent);
      });
    },
  };
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
