/**
 * One child process and its single conversation: a request, a reply, or the child's end. The child is killed when a
 * request outlives its limit or its caller aborts; nothing else can stop a query that is inside SQLite.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { extname, join } from 'node:path';
import type { ChildReply, ChildRequest } from './protocol';

/** `crashed`: the child ended by itself in the middle of the request. */
export type RequestEnd =
  ChildReply | { readonly kind: 'timeout' } | { readonly kind: 'crashed'; readonly message: string };

export interface SqliteClient {
  /** Rejects only with the signal's reason, when aborted. */
  request(
    request: ChildRequest,
    limits: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<RequestEnd>;
  /** The child is gone, or will be: use another one. */
  readonly dead: boolean;
  kill(): void;
}

export function startSqliteClient(): SqliteClient {
  const extension = extname(__filename);
  const child: ChildProcess = fork(join(__dirname, `child${extension}`), [], {
    execArgv: extension === '.ts' ? ['--require', require.resolve('tsx/cjs')] : [],
    // The child reads one file: it needs none of the keys that the environment may hold.
    env: pick(process.env, ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'SystemRoot']),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let dead = false;
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-2000)));
  child.on('exit', () => (dead = true));
  child.on('error', () => (dead = true));
  const hold = (busy: boolean): void => {
    for (const handle of [child, child.channel, child.stderr as unknown as { ref(): void; unref(): void } | null]) {
      if (busy) handle?.ref();
      else handle?.unref();
    }
  };
  hold(false);
  const kill = (): void => {
    dead = true;
    child.kill('SIGKILL');
  };

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
        hold(true);
        const settle = (act: () => void): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', onAbort);
          child.off('message', onMessage);
          child.off('exit', onExit);
          child.off('error', onError);
          if (!dead) hold(false);
          act();
        };
        const onMessage = (reply: ChildReply): void => settle(() => resolve(reply));
        const onExit = (): void => settle(() => resolve({ kind: 'crashed', message: firstLine(stderr) }));
        const onError = (error: Error): void => {
          kill();
          settle(() => resolve({ kind: 'crashed', message: error.message }));
        };
        const onAbort = (): void => {
          kill();
          settle(() => reject(signal.reason as Error));
        };
        const timer = setTimeout(() => {
          kill();
          settle(() => resolve({ kind: 'timeout' }));
        }, timeoutMs);
        signal.addEventListener('abort', onAbort, { once: true });
        child.once('message', onMessage);
        child.once('exit', onExit);
        child.once('error', onError);
        child.send(request, (error) => {
          if (error !== null) onError(error);
        });
      });
    },
  };
}

function firstLine(stderr: string): string {
  return (
    stderr
      .split('\n')
      .find((line) => line.trim() !== '')
      ?.trim() ?? 'no message'
  );
}

function pick(environment: NodeJS.ProcessEnv, names: readonly string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(
    names.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]])),
  );
}
