/**
 * What a batch is: its questions with their searches, and its id. The same file, settings, databases and name are the
 * same batch and the same searches, so that a command run again goes on and pays nothing twice (design D4).
 *
 * 1. A search's namespace is the batch's name, not its id: the first ten of a file are not paid again by all of it.
 * 2. Questions that ask the same of the same database are one search.
 * 3. A question that follows another comes after it, because its search id covers the other's.
 * 4. `--fresh` begins a new generation of the searches; later runs without it go on with that one.
 */
import { randomBytes } from 'node:crypto';
import { chainsOf, type BenchmarkItem } from '../../questions';
import type { Config } from '../../config';
import type { ResolvedDatabase } from '../../config/databases';
import type { Question, SearchInput, Settings } from '../../domain';
import { each } from '../../limiter';
import type { ObjectStore } from '../../domain/ports';
import { canonical } from '../../domain/canonical';
import { following, searchInput, toolsOf, type SearchChoices } from '../question-input';
import type { QuestionDatabases } from './question-databases';
import { documentationOf, type Documentation } from '../documentation';
import { UsageError } from '../errors';
import { earlierSearch } from '../searches';
import { sha256 } from '../../sha256';

/** How the questions of a batch are asked. */
export interface AskedWith extends SearchChoices {
  readonly docs?: readonly string[] | false;
  readonly output: Question['outputMode'];
  readonly web?: boolean;
  /** The file's hidden knowledge is given. */
  readonly knowledge?: boolean;
  readonly fresh?: boolean;
  /** Nothing is asked: `fresh` begins no new searches. */
  readonly dryRun?: boolean;
}

export interface BatchQuestion {
  readonly item: BenchmarkItem;
  readonly database: ResolvedDatabase;
  readonly input: SearchInput;
}

export interface Batch {
  readonly batchId: string;
  readonly name: string;
  readonly settings: Settings;
  /** In the file's order. */
  readonly questions: readonly BatchQuestion[];
  /** Distinct, in the file's order, but each after the one that it follows: position n is entry n of the manifest. */
  readonly searches: readonly SearchInput[];
}

export function selectItems(
  items: readonly BenchmarkItem[],
  { ids = [], limit = items.length }: { readonly ids?: readonly string[]; readonly limit?: number },
): BenchmarkItem[] {
  const known = new Set(items.map(({ id }) => id));
  const unknown = ids.filter((id) => !known.has(id));
  if (unknown.length > 0)
    throw new UsageError(
      `--ids: not in the file: ${unknown.slice(0, 10).join(', ')}${unknown.length > 10 ? ' …' : ''}`,
    );
  const selected = items.filter(({ id }) => ids.length === 0 || ids.includes(id)).slice(0, limit);
  const chosen = new Set(selected.map(({ id }) => id));
  const orphan = selected.find(({ after }) => after !== undefined && known.has(after) && !chosen.has(after));
  if (orphan !== undefined)
    throw new UsageError(
      `${orphan.id} follows ${orphan.after}, which is not selected: select both (--ids, --limit), or neither`,
    );
  return selected;
}

interface PlanBatch {
  readonly config: Config;
  readonly store: ObjectStore;
  readonly asked: AskedWith;
  readonly name: string;
  readonly items: readonly BenchmarkItem[];
  readonly databases: QuestionDatabases;
  readonly models: Settings['models'];
  /** Where paths of documentation begin. */
  readonly cwd: string;
}

export async function planBatch(plan: PlanBatch): Promise<Batch> {
  const { store, asked, name, items, databases } = plan;
  const inputOf = inputsOf(plan);
  const [first] = items;
  if (first === undefined) throw new UsageError('no question is selected');
  const { settings } = inputOf(first, { database: databases.of(first), nonce: null, earlier: null });
  const stored = await storedEarlier(store, items);
  const told = { knowledge: asked.knowledge ?? false, web: asked.web ?? false };
  const line = sha256(canonical({ namespace: namespaceOf(plan), settings, ...told })).slice(0, 16);
  const nonces = await generations(store, { line, databases: databases.all, asked });
  const chains = chainsOf(items);
  const planned = new Map<BenchmarkItem, BatchQuestion>();
  for (const item of [...items].sort((a, b) => chains(a).length - chains(b).length)) {
    const database = databases.of(item);
    const [parent] = chains(item);
    const earlier = (parent === undefined ? stored.get(item.after) : planned.get(parent)?.input) ?? null;
    if (earlier !== null && earlier.identity !== database.identity)
      throw new UsageError(
        `${item.id} asks ${database.name}, but ${item.after}, which it follows, asked another database (${earlier.question.database})`,
      );
    const nonce = nonces.get(database.identity) ?? null;
    planned.set(item, { item, database, input: inputOf(item, { database, nonce, earlier }) });
  }
  const questions = items.flatMap((item) => planned.get(item) ?? []);
  const searches = [...new Map([...planned.values()].map(({ input }) => [input.searchId, input])).values()];
  return {
    batchId: `b-${sha256(searches.map(({ searchId }) => searchId).join(' ')).slice(0, 16)}`,
    ...{ name, settings, questions, searches },
  };
}

const namespaceOf = ({ name }: PlanBatch): string => `batch ${name}`;

/** The stored searches that questions follow, by their ids. */
async function storedEarlier(
  store: ObjectStore,
  items: readonly BenchmarkItem[],
): Promise<ReadonlyMap<string | undefined, SearchInput>> {
  const inFile = new Set(items.map(({ id }) => id));
  const wanted = new Set(items.flatMap(({ after }) => (after === undefined || inFile.has(after) ? [] : [after])));
  return new Map(await each([...wanted], async (id) => [id, await earlierSearch(store, id, `after ${id}`)] as const));
}

interface AskedAs {
  readonly database: ResolvedDatabase;
  readonly nonce: string | null;
  /** The search that it follows. */
  readonly earlier: SearchInput | null;
}

/** The search of each question. */
function inputsOf(plan: PlanBatch) {
  const { config, asked, models, cwd } = plan;
  const documentation = documentationBy(asked.docs, cwd);
  return (item: BenchmarkItem, { database: resolved, nonce, earlier }: AskedAs): SearchInput => {
    const { name: database, docs: configured } = resolved;
    const { documents, notes } = documentation(item.database ?? database, configured);
    const question: Question = {
      text: item.question,
      database,
      outputMode: asked.output,
      tools: toolsOf(asked),
      ...(earlier === null ? { context: item.context, instructions: item.instructions } : following(earlier, item)),
      documents: [...documents],
      ...(notes.length === 0 ? {} : { notes: [...notes] }),
    };
    return searchInput(config, asked, question, {
      models,
      namespace: namespaceOf(plan),
      identity: resolved.identity,
      memory: 'off',
      ...(nonce === null ? {} : { nonce }),
    });
  };
}

const PLACE = '{database}';
const isTemplate = (path: string): boolean => path.includes(PLACE);

/** What explains each database, read once; `{database}` in a path stands for the name that the questions give it. */
function documentationBy(
  docs: AskedWith['docs'],
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
  readonly asked: AskedWith;
}

/** What `--fresh` began last, by the identity of each database: the same batch in another folder goes on as it was. */
async function generations(
  store: ObjectStore,
  { line, databases, asked: { fresh, dryRun } }: Generations,
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
