/**
 * What a batch is: its questions with their searches, and its id. The same file, settings, databases and name are the
 * same batch and the same searches, so that a command run again goes on and pays nothing twice (design D4).
 *
 * 1. A search's namespace is the batch's name, not its id: the first ten of a file are not paid again by all of it.
 * 2. Questions that ask the same of the same database are one search.
 * 3. `--fresh` begins a new generation of the searches; later runs without it go on with that one.
 */
import { randomBytes } from 'node:crypto';
import { basename, extname } from 'node:path';
import type { BenchmarkItem } from '../questions';
import type { Config } from '../config';
import type { ResolvedDatabase } from '../config/databases';
import type { Question, SearchInput, Settings } from '../domain';
import { each } from '../limiter';
import type { ObjectStore } from '../ports';
import { canonical } from '../domain/canonical';
import { documentationOf, searchInput, toolsOf } from '../app/question-input';
import type { BatchDatabases } from './batch-databases';
import type { Documentation } from '../app/documentation';
import { UsageError } from '../app/errors';
import { limitsOf, type SearchFlags } from './options';
import { sha256 } from '../app/services';

export interface BatchFlags extends SearchFlags {
  readonly db?: readonly string[];
  readonly out?: string;
  readonly concurrency: number;
  readonly name?: string;
  readonly limit?: number;
  readonly ids?: readonly string[];
  readonly knowledge?: boolean;
  readonly docs?: readonly string[] | false;
  readonly output: Question['outputMode'];
  readonly web?: boolean;
  readonly maxTotalCost?: number;
  readonly dryRun?: boolean;
  readonly detach?: boolean;
  readonly fresh?: boolean;
  /** The results hold the rows of each answer. */
  readonly rows?: boolean;
  readonly json?: boolean;
  readonly events?: boolean;
  /** The batch whose failures alone are asked again (`gate batch retry`). */
  readonly retryOf?: string;
  /** With it: what was cancelled as well. */
  readonly undecided?: boolean;
  readonly debug?: boolean;
}

export interface BatchQuestion {
  readonly item: BenchmarkItem;
  readonly database: ResolvedDatabase;
  readonly input: SearchInput;
}

export interface Batch {
  readonly batchId: string;
  /** Name of the task queue of its questions, the same whichever of them are selected. */
  readonly scope: string;
  readonly name: string;
  readonly settings: Settings;
  /** In the file's order. */
  readonly questions: readonly BatchQuestion[];
  /** Distinct, in the file's order: position n is entry n of the manifest. */
  readonly searches: readonly SearchInput[];
}

export function selectItems(
  items: readonly BenchmarkItem[],
  flags: Pick<BatchFlags, 'ids' | 'limit'>,
): BenchmarkItem[] {
  const ids = new Set(
    (flags.ids ?? [])
      .flatMap((text) => text.split(','))
      .map((id) => id.trim())
      .filter((id) => id !== ''),
  );
  const known = new Set(items.map(({ id }) => id));
  const unknown = [...ids].filter((id) => !known.has(id));
  if (unknown.length > 0)
    throw new UsageError(
      `--ids: not in the file: ${unknown.slice(0, 10).join(', ')}${unknown.length > 10 ? ' …' : ''}`,
    );
  const chosen = ids.size === 0 ? [...items] : items.filter(({ id }) => ids.has(id));
  return chosen.slice(0, flags.limit ?? chosen.length);
}

export function batchName(file: string, flags: Pick<BatchFlags, 'name'>): string {
  const name = (flags.name ?? basename(file, extname(file))).trim();
  if (name === '' || name.length > 100) throw new UsageError('--name: give a name of 1 to 100 characters');
  return name;
}

interface PlanBatch {
  readonly config: Config;
  readonly store: ObjectStore;
  readonly flags: BatchFlags;
  readonly name: string;
  readonly items: readonly BenchmarkItem[];
  readonly databases: BatchDatabases;
  readonly models: Settings['models'];
  /** Where `--docs` begins; default: the process's folder. */
  readonly cwd?: string;
}

export async function planBatch(plan: PlanBatch): Promise<Batch> {
  const { store, flags, name, items, databases } = plan;
  const inputOf = inputsOf(plan);
  const [first] = items;
  if (first === undefined) throw new UsageError('no question is selected');
  const { settings } = inputOf(first, databases.of(first), null);
  const told = { knowledge: flags.knowledge ?? false, ...(flags.web ? { web: true } : {}) };
  const line = sha256(canonical({ namespace: namespaceOf(plan), settings, ...told })).slice(0, 16);
  const nonces = await generations(store, { line, databases: databases.all, flags });
  const questions = items.map((item): BatchQuestion => {
    const database = databases.of(item);
    return { item, database, input: inputOf(item, database, nonces.get(database.identity) ?? null) };
  });
  const searches = [...new Map(questions.map(({ input }) => [input.searchId, input])).values()];
  return {
    batchId: `b-${sha256(searches.map(({ searchId }) => searchId).join(' ')).slice(0, 16)}`,
    scope: `s-${sha256(line).slice(0, 16)}`,
    ...{ name, settings, questions, searches },
  };
}

const namespaceOf = ({ name }: PlanBatch): string => `batch ${name}`;

/** The search of each question. */
function inputsOf(plan: PlanBatch) {
  const { config, flags, models, cwd = '.' } = plan;
  const documentation = documentationBy(flags, cwd);
  return (item: BenchmarkItem, resolved: ResolvedDatabase, nonce: string | null): SearchInput => {
    const { name: database, docs: configured } = resolved;
    const { documents, notes } = documentation(item.database ?? database, configured);
    const question: Question = {
      text: item.question,
      database,
      outputMode: flags.output,
      tools: toolsOf(flags),
      context: item.context,
      instructions: item.instructions,
      documents: [...documents],
      ...(notes.length === 0 ? {} : { notes: [...notes] }),
    };
    return searchInput(config, { ...flags, budgets: limitsOf(flags) }, question, {
      ...{ models, namespace: namespaceOf(plan), identity: resolved.identity, memory: 'off' },
      ...(nonce === null ? {} : { nonce }),
    });
  };
}

const PLACE = '{database}';
const isTemplate = (path: string): boolean => path.includes(PLACE);

/** What explains each database, read once; `{database}` in a path stands for the name that the questions give it. */
function documentationBy(
  { docs }: Pick<BatchFlags, 'docs'>,
  cwd: string,
): (name: string, configured: readonly string[]) => Documentation {
  const read = new Map<string, Documentation>();
  return (name, configured) => {
    const key = JSON.stringify([name, configured]);
    // A name comes from a file of questions: it must not lead out of the folder that the template names.
    if (docs !== undefined && docs !== false && docs.some(isTemplate) && /[/\\\0]|^\.\.?$/.test(name))
      throw new UsageError(`--docs: the database '${name}' cannot be put into a path: give its folder by name`);
    const given = docs === undefined || docs === false ? docs : docs.map((path) => path.replaceAll(PLACE, name));
    const found = read.get(key) ?? documentationOf(given, cwd, configured);
    read.set(key, found);
    return found;
  };
}

interface Generations {
  /** Of these settings. */
  readonly line: string;
  readonly databases: readonly Pick<ResolvedDatabase, 'identity'>[];
  readonly flags: BatchFlags;
}

/** What `--fresh` began last, by the identity of each database: the same batch in another folder goes on as it was. */
async function generations(
  store: ObjectStore,
  { line, databases, flags: { fresh, dryRun } }: Generations,
): Promise<ReadonlyMap<string, string | null>> {
  const nonce = randomBytes(8).toString('hex');
  const found = await each(databases, async ({ identity }) => {
    const key = `batches/generations/${sha256(`${line} ${identity}`).slice(0, 16)}.json`;
    if (!fresh) {
      const text = await store.get(key);
      return [identity, text === null ? null : (JSON.parse(text) as { nonce: string }).nonce] as const;
    }
    if (!dryRun) await store.put(key, JSON.stringify({ nonce }), { overwrite: true });
    return [identity, nonce] as const;
  });
  return new Map(found);
}
