/** A process as a command sees it, in a folder of its own. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Io } from '../../../src/cli/io';
import { GATE_BENCH } from '../../../benchmarks/program';
import { GATE, run, type Program } from '../../../src/cli/program';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface TestProcess {
  readonly home: string;
  readonly io: Io & { readonly printed: { out: string; err: string } };
  /** Commands may run at the same time; what each prints is its own. */
  gate(...args: string[]): Promise<Ran>;
  bench(...args: string[]): Promise<Ran>;
}

export function testProcess(env: Record<string, string> = {}, input = ''): TestProcess {
  const home = mkdtempSync(join(tmpdir(), 'gate-cli-'));
  const printed = { out: '', err: '' };
  const io = {
    printed,
    env: { HOME: home, PATH: '', ...env },
    cwd: home,
    platform: 'linux' as const,
    out: (text: string) => void (printed.out += text),
    err: (text: string) => void (printed.err += text),
    live: false,
    outIsTerminal: false,
    columns: 100,
    now: () => Date.UTC(2026, 0, 5),
    readInput: async () => input,
    onInterrupt: () => () => undefined,
  };
  const ran = async (program: Program, args: readonly string[]): Promise<Ran> => {
    const told = { out: '', err: '' };
    const own = { out: (text: string) => void (told.out += text), err: (text: string) => void (told.err += text) };
    return { code: await run(args, { ...io, ...own }, program), ...told };
  };
  return { home, io, gate: (...args) => ran(GATE, args), bench: (...args) => ran(GATE_BENCH, args) };
}
