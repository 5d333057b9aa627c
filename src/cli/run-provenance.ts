/** What a run was made with: hashes of data and prompts, and versions, so that anyone can make it again. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import type { ResolvedDatabase } from '../config/databases';
import { each } from '../limiter';
import type { RunSet } from '../report/run';
import { sha256, sha256OfFile } from '../sha256';
import type { Composition } from '../workers/composition';
import { checkDatabase } from '../app/check-database';
import { GateError } from '../app/errors';

/** Every database that cannot be used is named, before anything is asked. */
export async function checkedDatabases(
  composition: Composition,
  databases: readonly ResolvedDatabase[],
): Promise<ReadonlyMap<string, RunSet['databases'][number]>> {
  const problems: string[] = [];
  const found = await each(databases, async (database) => {
    const { name, dialect, address } = database;
    try {
      const { fingerprint } = await checkDatabase(composition, name);
      const hash = address.kind === 'path' ? await sha256OfFile(address.path) : null;
      return [[name, { name, dialect, sha256: hash, schema: fingerprint }] as const];
    } catch (error) {
      problems.push((error as Error).message);
      return [];
    }
  });
  if (problems.length > 0) throw new GateError([...new Set(problems)].join('\n'));
  return new Map(found.flat());
}

/** Of each file that a prompt is made from, as this version was built. */
export function promptHashes(): Record<string, string> {
  const sources = join(__dirname, '..');
  const all = readdirSync(sources, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll('\\', '/'));
  const names = all.flatMap(
    (name) =>
      /^(roles\/(?:[^/.]+|shared\/[^/.]+|[^/.]+\/prompt)|methods\/[^/.]+\/prompts?)\.(?:js|ts)$/.exec(name)?.[1] ?? [],
  );
  return Object.fromEntries(
    names.sort().map((name) => [name, sha256(readFileSync(join(sources, `${name}${extname(__filename)}`), 'utf8'))]),
  );
}

export function temporalSdk(): string {
  const file = join(dirname(require.resolve('@temporalio/client')), '..', 'package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version;
}
