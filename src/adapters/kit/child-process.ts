/** A process for work that only its end can stop (`child.ts`). It gets no keys from the environment. */
import { fork, type ChildProcess } from 'node:child_process';
import { childScript } from './child-script';

/** What it does: `child.ts` knows its module. */
export type ChildProgram = 'sqlite' | 'duckdb' | 'duckdb-import';

const ENVIRONMENT = ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'SystemRoot'];

export function startChild(program: ChildProgram): ChildProcess {
  const { path, execArgv } = childScript();
  return fork(path, [program, String(process.pid)], {
    execArgv: [...execArgv],
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => ENVIRONMENT.includes(name))),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
}
