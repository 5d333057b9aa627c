/**
 * Which database each question of a batch means: `--db NAME=…`, or `--db NAME` of a configured one, else a template with `{database}` (one per engine at
 * most; it serves questions of its engine), else a configured database of that name. Whatever is missing or wrong is said at once, before anything starts.
 */
import type { BenchmarkItem } from '../../questions';
import { ConfigError, type Config } from '../../config';
import { dialectOfName } from '../../config/database-file';
import { resolveDatabase, type ResolvedDatabase } from '../../config/databases';
import { serverOfUrl } from '../../config/places';
import type { Dialect } from '../../domain';
import { counted } from '../../report/printable';
import { UsageError } from '../errors';

type Named = Pick<BenchmarkItem, 'database' | 'engine'>;

export interface QuestionDatabases {
  of(item: Named): ResolvedDatabase;
  /** null: the question was not selected, and nothing says which database it means. */
  find(item: Named): ResolvedDatabase | null;
  /** Every database that this process can serve, those of questions that were not selected included. */
  readonly all: readonly ResolvedDatabase[];
}

interface Mapping {
  readonly named: ReadonlyMap<string, string>;
  readonly templates: readonly { readonly spec: string; readonly dialect: Dialect }[];
  /** An address without a name: for files that name no database. */
  readonly single: string | null;
}

const PLACEHOLDER = '{database}';

export function questionDatabases(
  config: Config,
  specs: readonly string[],
  items: { readonly selected: readonly Named[]; readonly others: readonly Named[] },
  cwd: string,
): QuestionDatabases {
  const mapping = parseSpecs(config, specs, items.selected);
  const resolved = new Map<string, ResolvedDatabase>();
  const problems: string[] = [];
  const missing = new Map<string, number>();
  for (const item of items.selected) {
    const key = keyOf(item);
    if (resolved.has(key)) continue;
    const spec = specOf(config, mapping, item);
    if (spec === null) missing.set(item.database ?? '', (missing.get(item.database ?? '') ?? 0) + 1);
    else resolve(config, spec, cwd, (database) => resolved.set(key, database), problems);
  }
  if (missing.size > 0) throw missingDatabases(missing, specs);
  if (problems.length > 0) throw new ConfigError([...new Set(problems)]);
  for (const item of items.others) {
    const spec = resolved.has(keyOf(item)) ? null : specOf(config, mapping, item);
    // Questions that are not selected need no database, so problems with theirs are not reported.
    if (spec !== null) resolve(config, spec, cwd, (database) => resolved.set(keyOf(item), database), []);
  }
  return {
    of: (item) => {
      const database = resolved.get(keyOf(item));
      if (database === undefined) throw new TypeError(`not resolved: ${keyOf(item)}`);
      return database;
    },
    find: (item) => resolved.get(keyOf(item)) ?? null,
    all: [...new Map([...resolved.values()].map((database) => [database.name, database])).values()],
  };
}

function parseSpecs(config: Config, specs: readonly string[], selected: readonly Named[]): Mapping {
  const named = new Map<string, string>();
  const templates: { spec: string; dialect: Dialect }[] = [];
  let single: string | null = null;
  // A configured name is that of its questions, and serves those that name none unless two could.
  const configured = specs.filter((spec) => config.databases[spec] !== undefined);
  for (const spec of specs) {
    const pair = /^([^=/\\:{}]+)=(.+)$/s.exec(spec);
    if (pair?.[1] !== undefined && pair[2] !== undefined) {
      const before = named.get(pair[1]);
      if (before !== undefined && before !== pair[2])
        throw new UsageError(`--db ${pair[1]} is given twice; leave one out`);
      named.set(pair[1], pair[2]);
    } else if (configured.includes(spec)) {
      named.set(spec, spec);
      if (specs.length === 1) single = spec;
    } else if (spec.includes(PLACEHOLDER)) {
      const dialect = dialectOf(spec);
      if (templates.some((one) => one.dialect === dialect)) {
        throw new UsageError(`two templates for ${dialect}: give one, and --db 'NAME=…' for the databases that differ`);
      }
      templates.push({ spec, dialect });
    } else if (single === null && selected.every(({ database }) => database === null)) single = spec;
    else
      throw new UsageError(
        `--db ${shown(spec)} needs a name: write NAME=… for one database, or put {database} where the name goes`,
      );
  }
  return { named, templates, single };
}

function specOf(config: Config, { named, templates, single }: Mapping, { database, engine }: Named): string | null {
  if (database === null) return single;
  const given = named.get(database);
  if (given !== undefined) return given;
  const fitting = engine === null ? templates : templates.filter(({ dialect }) => dialect === engine);
  const [template] = fitting;
  if (template !== undefined) return filled(template.spec, template.dialect, database);
  return config.databases[database] === undefined ? null : database;
}

/** A name comes from a file of questions: it must not lead out of the folder that the template names. */
function filled(spec: string, dialect: Dialect, name: string): string {
  if (/[/\\\0]/.test(name) || name === '..')
    throw new UsageError(`database '${name}' cannot be put into a template: name it with --db 'NAME=…'`);
  return spec.replaceAll(PLACEHOLDER, serverOfUrl(spec) === null ? name : encodeURIComponent(name));
}

function dialectOf(spec: string): Dialect {
  return serverOfUrl(spec) ?? dialectOfName(spec);
}

function resolve(
  config: Config,
  spec: string,
  cwd: string,
  found: (database: ResolvedDatabase) => void,
  problems: string[],
): void {
  try {
    found(resolveDatabase(config, spec, cwd));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.push(...error.problems);
  }
}

function missingDatabases(missing: ReadonlyMap<string, number>, specs: readonly string[]): UsageError {
  const names = [...missing]
    .filter(([name]) => name !== '')
    .map(([name, count]) => `${name} (${counted(count, 'question')})`);
  if (names.length === 0)
    return new UsageError('the file names no database: give it with --db, as a name, a file or a URL');
  const fix =
    specs.length === 0 ? "add --db 'NAME=…' for each, or one template with {database}" : "add --db 'NAME=…' for each";
  return new UsageError(`no database is given for ${names.join(', ')}: ${fix}`);
}

const keyOf = ({ database, engine }: Named): string => `${engine ?? ''} ${database ?? ''}`;
const shown = (spec: string): string => spec.replace(/(:\/\/[^\s:/@]*):[^\s/@]+@/, '$1:***@');
