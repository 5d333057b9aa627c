/** Which processes of a user run: those with its store in their environment. Read from /proc, so nothing can hide. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GateHome } from '../helpers/gate-process';

export interface Running {
  readonly pid: number;
  readonly command: string;
}

/** Without the Temporal server. */
export function runningOf({ env }: GateHome): readonly Running[] {
  const mark = `GATE_STORE=${env['GATE_STORE'] ?? ''}\0`;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && read(name, 'environ').includes(mark))
    .map((name) => ({ pid: Number(name), command: read(name, 'cmdline').split('\0').join(' ').trim() }))
    .filter(({ command }) => command !== '' && !command.includes(' server start-dev '));
}

/** A process may end while it is looked at. */
function read(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

export async function nothingRuns(home: GateHome, withinMs = 60_000): Promise<void> {
  const deadline = Date.now() + withinMs;
  let running = runningOf(home);
  while (running.length > 0) {
    if (Date.now() > deadline) throw new Error(`still running: ${running.map(({ command }) => command).join('; ')}`);
    await sleep(100);
    running = runningOf(home);
  }
}
