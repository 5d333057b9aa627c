/** The built command line, and what one command of it takes from Enter to its end. */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { endedCpuSeconds } from './process-use';

export const GATE = join(__dirname, '../../program/gate.js');

export interface CommandUse {
  readonly wallSeconds: number;
  readonly cpuSeconds: number;
  /** On both streams. */
  readonly said: string;
}

/** Throws with what it said where it does not end well. */
export async function runGate(
  args: readonly string[],
  at: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<CommandUse> {
  const before = endedCpuSeconds();
  const started = performance.now();
  const child = spawn(process.execPath, [GATE, ...args], { ...at, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  const wallSeconds = (performance.now() - started) / 1000;
  if (code !== 0) throw new Error(`gate ${args.join(' ')} ended with ${String(code)}: ${said}`);
  return { wallSeconds, cpuSeconds: endedCpuSeconds() - before, said };
}

/** `gate dev`, once its Temporal server is up. `env.GATE_STORE` is set. */
export async function startDev(at: { readonly cwd: string; readonly env: NodeJS.ProcessEnv }): Promise<ChildProcess> {
  const child = spawn(process.execPath, [GATE, 'dev'], { ...at, stdio: 'ignore' });
  await untilExists(at.env['GATE_STORE'] ?? '', 'server.json');
  return child;
}

async function untilExists(folder: string, name: string): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const found =
      existsSync(folder) && readdirSync(folder, { recursive: true }).some((path) => String(path).endsWith(name));
    if (found) return;
    await new Promise((wait) => setTimeout(wait, 50));
  }
  throw new Error(`${name} did not appear in ${folder}`);
}
