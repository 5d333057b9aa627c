/**
 * The checks of entries, run together. As long as the engine's revision of the rows is the same, a check counts the same, so this
 * process remembers what it counted; where the engine can tell no revision, every check runs.
 */
import type { SqlResult } from '../../domain';
import { canonical } from '../../domain/canonical';
import { BoundedMap } from '../../bounded-map';
import { perStore } from '../../record/content-cache';
import { identityKey } from '../../record/search-id';
import { runSql, type SqlRun, type StepContext } from '../shared/context';

const REMEMBERED = 20_000;

const countedIn = perStore(() => new BoundedMap<SqlResult>(REMEMBERED));

/** `dataRevision`: taken before this, so that counts of newer rows are never taken for those of older ones. */
export async function runChecks(
  context: StepContext,
  checks: readonly string[],
  dataRevision: string | null,
): Promise<Pick<SqlRun, 'results' | 'usage'>> {
  const counted = countedIn(context.deps.store);
  const { database } = context.input.question;
  // By name, too: the same rows may be read under another name with other rights.
  const keyOf = (check: string): string =>
    canonical([identityKey(context.input.identity), database, dataRevision, check]);
  const before = checks.map((check) => (dataRevision === null ? undefined : counted.get(keyOf(check))));
  const due = checks.filter((_, at) => before[at] === undefined);
  const { results, usage } = await runSql(context, due);
  for (const [at, check] of due.entries()) {
    const result = results[at];
    if (dataRevision !== null && result?.kind === 'rows') counted.set(keyOf(check), result, 1);
  }
  const fresh = results[Symbol.iterator]();
  return { results: before.map((result) => result ?? (fresh.next().value as SqlResult)), usage };
}
