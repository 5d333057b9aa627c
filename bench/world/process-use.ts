/** What a process used so far, from `/proc`; zeros where there is none. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

export interface ProcessUse {
  readonly cpuSeconds: number;
  /** Of its first thread, on which a Node program computes one thing after another. */
  readonly mainCpuSeconds: number;
  /** Of its live children, such as those that hold SQLite files. */
  readonly childCpuSeconds: number;
  /** The largest resident set it ever had. */
  readonly peakBytes: number;
}

/** Of `/proc/PID/stat`: the kernel counts in hundredths of a second wherever Node runs. */
const TICKS_PER_SECOND = 100;

export function processUse(pid: number): ProcessUse {
  if (!existsSync(`/proc/${pid}/stat`)) return { cpuSeconds: 0, mainCpuSeconds: 0, childCpuSeconds: 0, peakBytes: 0 };
  const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  const children = childrenOf(pid).reduce((sum, child) => sum + cpuOf(child), 0);
  const mainCpuSeconds = cpuOf(`${pid}/task/${pid}`);
  return { cpuSeconds: cpuOf(pid), mainCpuSeconds, childCpuSeconds: children, peakBytes: Number(peak ?? 0) * 1024 };
}

/** A process, or `PID/task/THREAD`. */
function cpuOf(pid: number | string): number {
  const fields = afterName(readWhileThere(`/proc/${pid}/stat`) ?? '');
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / TICKS_PER_SECOND;
}

function childrenOf(pid: number): number[] {
  const threads = readdirSync(`/proc/${pid}/task`);
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

/** null: the process or thread has ended meanwhile. */
function readWhileThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}

/** The name may hold spaces and brackets. */
function afterName(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}
