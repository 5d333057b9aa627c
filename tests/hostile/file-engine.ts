/**
 * What the hostile corpora of engines that read a file have in common: each statement is asked once, what it may leave behind is
 * looked at before and after, and what is made to take time and memory ends within both.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { SqlResult } from '../../src/domain';
import type { SqlEngine } from '../../src/domain/ports/sql-engine';
import type { Group } from './corpus';

/** What a loaded machine, or a computation that cannot be interrupted, takes longer; each statement may start a process. */
const SLACK_MS = 60_000;

export async function hostileRun(engine: SqlEngine, sql: string, timeoutMs: number): Promise<SqlResult> {
  const signal = new AbortController().signal;
  const { results } = await engine.run([sql], { timeoutMs, maxRows: 1000, signal, tag: 'hostile i1.probe' });
  return SqlResult.parse(results[0]);
}

/** Bytes and modes of files, names in folders that no test of another process writes to, odd names in the temporary folder. */
export function traces(files: readonly string[], folders: readonly string[], odd: RegExp): string[] {
  const bytes = files.map((path) => {
    const hash = createHash('sha256').update(readFileSync(path)).digest('hex');
    return `${path}: ${hash} ${statSync(path).mode}`;
  });
  const names = [...folders, process.cwd()].map((path) => `${path}: ${readdirSync(path).sort().join(',')}`);
  const inTemporary = (): string[] => readdirSync(tmpdir()).filter((name) => odd.test(name));
  // Another process that sorts has a file there for the moment between making and unlinking it: what lasts counts.
  for (let looks = 0; looks < 100 && inTemporary().length > 0; looks += 1) pause(20);
  const temporary = inTemporary();
  return [...bytes, ...names, `temporary: ${temporary.join(',')}`];
}

/** Without giving way: nothing of this process comes in between. */
function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

export function eachOnce(groups: readonly Group[], atLeast: number): void {
  test(`the corpus has more than ${atLeast} statements, each once`, () => {
    const all = groups.flatMap(({ statements }) => statements);
    expect(all.length).toBeGreaterThan(atLeast);
    expect(new Set(all).size).toBe(all.length);
  });
}

export const byTechnique = (groups: readonly Group[]): (readonly [string, Group])[] =>
  groups.map((one) => [one.technique, one]);

export function bombsEnd(
  bombs: readonly Group[],
  how: {
    readonly open: () => SqlEngine;
    readonly run: (engine: SqlEngine, sql: string) => Promise<SqlResult>;
    readonly look: () => string[];
    readonly timeoutMs: number;
  },
): void {
  test.each(byTechnique(bombs))('bombs, %s: end in their time and within their memory', async (_, { statements }) => {
    const engine = how.open();
    try {
      const before = how.look();
      const start = process.memoryUsage.rss();
      let most = start;
      let child = 0;
      const watch = setInterval(() => {
        most = Math.max(most, process.memoryUsage.rss());
        child = Math.max(child, largestChild());
      }, 150);
      const slow: string[] = [];
      for (const sql of statements) {
        const started = Date.now();
        await how.run(engine, sql);
        if (Date.now() - started > 2 * how.timeoutMs + SLACK_MS) slow.push(sql.slice(0, 80));
      }
      clearInterval(watch);
      expect(slow).toEqual([]);
      expect(most - start).toBeLessThan(500 * 1024 * 1024);
      expect(child).toBeLessThan(2_500 * 1024);
      expect(how.look()).toEqual(before);
    } finally {
      await engine.close();
    }
  });
}

/** Kilobytes held by the largest child of this process. */
function largestChild(): number {
  const { stdout } = spawnSync('ps', ['-o', 'rss=', '--ppid', String(process.pid)]);
  return Math.max(0, ...stdout.toString().split('\n').map(Number));
}
