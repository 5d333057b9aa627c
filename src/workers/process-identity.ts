/**
 * The identity under which a process takes work from Temporal. From it, a later process on the same machine can tell that the
 * first one is gone. Host names are not unique, and process ids mean nothing in another container. So the identity includes
 * the kernel's boot id and the process namespace.
 */
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** Linux gives the machine's own namespace this number, always. */
const OF_THE_MACHINE = '4026531836';
/** Digits of the kernel's random id of its start; the name stands in most events of a history (design D3). */
const DIGITS = 6;

/** `123@host/3f9a10`, in a container `123@host/3f9a10/4026532201`; elsewhere than on Linux `123@host`. */
export function processIdentity(pid = process.pid): string {
  return `${String(pid)}@${place()}`;
}

/** Whether it names a process of this machine and container that no longer runs. False if that cannot be known. */
export function isGone(identity: string): boolean {
  const [, pid, where] = /^(\d+)@(.+)$/.exec(identity) ?? [];
  return pid !== undefined && where === place() && !isAlive(Number(pid));
}

/** Whether a process with this id exists and has not ended; one of another user counts. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  // Where the parent does not collect it, as often in a container, an ended process stays for ever. The name before its state is
  // in brackets and may hold anything.
  const stat = process.platform === 'linux' ? read(() => readFileSync(`/proc/${String(pid)}/stat`, 'utf8')) : null;
  return !/^ [ZX]/.test(stat?.split(')').at(-1) ?? '');
}

/** In a sandbox without /proc no process can be told from those of others: its name is then nobody else's. */
function place(): string {
  if (process.platform !== 'linux') return hostname();
  const boot = read(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').replace(/[^0-9a-f]/g, ''));
  const namespace = read(() => /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0]);
  if (boot === null || namespace === null) return `${hostname()}/unknown-${String(process.pid)}`;
  const machine = `${hostname()}/${boot.slice(0, DIGITS)}`;
  return namespace === OF_THE_MACHINE ? machine : `${machine}/${namespace}`;
}

function read(from: () => string | undefined): string | null {
  try {
    return from() ?? null;
  } catch {
    return null; // There is no such file in a sandbox, or no longer.
  }
}
