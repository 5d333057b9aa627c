/**
 * The name under which a process takes work from Temporal, by which its successor on the same machine can tell that it is
 * gone. Process ids mean nothing in another container, so that its process namespace is a part of the name.
 */
import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { isAlive } from './file-lock';

/** Linux gives the machine's own namespace this number, always. */
const OF_THE_MACHINE = '4026531836';

/** `123@host`, in a container `123@host/4026532201`. */
export function processIdentity(pid = process.pid): string {
  return `${String(pid)}@${place()}`;
}

/** Whether it names a process of this machine and container that no longer runs; where that cannot be said, false. */
export function isGone(identity: string): boolean {
  const [, pid, where] = /^(\d+)@(.+)$/.exec(identity) ?? [];
  return pid !== undefined && where === place() && !isAlive(Number(pid));
}

function place(): string {
  const namespace = processNamespace();
  return namespace === null || namespace === OF_THE_MACHINE ? hostname() : `${hostname()}/${namespace}`;
}

function processNamespace(): string | null {
  if (process.platform !== 'linux') return null;
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? null;
  } catch {
    // A sandbox without /proc: the host's name has to do.
    return null;
  }
}
