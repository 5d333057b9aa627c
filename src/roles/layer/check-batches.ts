/** Many checks of a layer, some at a time. */
import type { SqlResult } from '../../domain';
import type { SqlEngine, SqlOptions } from '../../ports';

/** Checks of one snapshot: a read-only transaction must not stay open for long. */
const AT_ONCE = 50;

export type CheckOptions = Pick<SqlOptions, 'timeoutMs' | 'signal' | 'tag'>;

/** In the order of the checks. `progress` is told how many have run. */
export async function runInBatches(
  engine: SqlEngine,
  checks: readonly string[],
  options: CheckOptions,
  progress: (done: number) => void = () => undefined,
): Promise<readonly SqlResult[]> {
  const results: SqlResult[] = [];
  for (let at = 0; at < checks.length; at += AT_ONCE) {
    const ran = await engine.run(checks.slice(at, at + AT_ONCE), { ...options, maxRows: 2 });
    results.push(...ran.results);
    progress(results.length);
  }
  return results;
}
