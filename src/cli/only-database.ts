/** Which database a command means without `--db`: the only one that is configured. */
import type { Config } from '../config';
import { UsageError } from './errors';

export function onlyDatabase(config: Pick<Config, 'databases'>): string {
  const names = Object.keys(config.databases);
  const [only] = names;
  if (names.length === 1 && only !== undefined) return only;
  const known = names.length === 0 ? 'none is configured' : `configured: ${names.join(', ')}`;
  throw new UsageError(`which database? add --db with a name (${known}), an SQLite file, or postgresql://…`);
}
