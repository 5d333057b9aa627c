/** What a process used so far, from `/proc`; zeros where there is none. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';

export interface ProcessUse {
  /** Its own. */
  readonly cpuSeconds: number;
  /** Of its first thread, on which a Node program computes one thing after another. */
  readonly mainCpuSeconds: number;
  /** Of its children and theirs, such as those that hold SQLite files, also of those that have ended. */
  readonly childCpuSeconds: number;
  /** The largest resident set it ever had. */
  readonly peakBytes: number;
}

/** Of `/proc/PID/stat`: the kernel counts in hundredths of a second wherever Node runs. */
const TICKS_PER_SECOND = 100;

export function processUse(pid: number): ProcessUse {
  if (!existsSync(`/proc/${pid}/stat`)) return { cpuSeconds: 0, mainCpuSeconds: 0, childCpuSeconds: 0, peakBytes: 0 };
  const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readWhileThere(`/proc/${pid}/status`) ?? '')?.[1];
  const { own, ended } = cpuOf(pid);
  const childCpuSeconds = ended + childrenOf(pid).reduce((sum, child) => sum + treeCpuSeconds(child), 0);
  const mainCpuSeconds = cpuOf(`${pid}/task/${pid}`).own;
  return { cpuSeconds: own, mainCpuSeconds, childCpuSeconds, peakBytes: Number(peak ?? 0) * 1024 };
}

/** Of a process and all that it started. */
export function treeCpuSeconds(pid: number): number {
  const { own, ended } = cpuOf(pid);
  return own + ended + childrenOf(pid).reduce((sum, child) => sum + treeCpuSeconds(child), 0);
}

/** What a process and all that it started hold in memory now. */
export function treeBytes(pid: number): number {
  const held = /^VmRSS:\s+(\d+) kB$/m.exec(readWhileThere(`/proc/${pid}/status`) ?? '')?.[1];
  return Number(held ?? 0) * 1024 + childrenOf(pid).reduce((sum, child) => sum + treeBytes(child), 0);
}

/** Of the children of this process that have ended. */
export function endedCpuSeconds(): number {
  return cpuOf('self').ended;
}

/** A process, or `PID/task/THREAD`; what its ended children used is counted once it has waited for them. */
function cpuOf(pid: number | string): { readonly own: number; readonly ended: number } {
  const stat = readWhileThere(`/proc/${pid}/stat`) ?? '';
  // The name may hold spaces and brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15).map(Number);
  return { own: (user + system) / TICKS_PER_SECOND, ended: (endedUser + endedSystem) / TICKS_PER_SECOND };
}

function childrenOf(pid: number): number[] {
  const threads = existsSync(`/proc/${pid}/task`) ? readdirSync(`/proc/${pid}/task`) : [];
  return threads.flatMap((thread) =>
    (readWhileThere(`/proc/${pid}/task/${thread}/children`) ?? '')
      .trim()
      .split(' ')
      .flatMap((child) => (child === '' ? [] : [Number(child)])),
  );
}

/** What all processes of this machine used so far. */
export function machineCpuSeconds(): number {
  const [, user = 0, nice = 0, system = 0, , , interrupts = 0, soft = 0] = (
    readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? ''
  )
    .split(/ +/)
    .map(Number);
  return (user + nice + system + interrupts + soft) / TICKS_PER_SECOND;
}

/** Of PostgreSQL, whose other processes are its children; 0 if it is on another machine. */
export async function postmasterPid(connectionString: string): Promise<number> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory');
    return Number.parseInt(readWhileThere(join(rows[0]?.data_directory ?? '', 'postmaster.pid')) ?? '0', 10);
  } finally {
    await client.end();
  }
}

/** null: the process or thread has ended meanwhile. */
function readWhileThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}
