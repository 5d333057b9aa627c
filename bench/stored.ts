/**
 * What commands cost that look at the store, with 1,000 stored searches and with 100,000, of which 50 are old. Every search is one that
 * `gate batch run` answered with the simulated model, under an id and a time of its own; half of them are in batches. Those that no
 * command reads are hard links to its files, which saves the disk 4 GB. The commands are processes of their own and find no Temporal
 * server, as after a batch has ended.
 */
import {
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { putBatchResult, writeBatchManifest } from '../src/activities/batch';
import { keepAsked } from '../src/app/run/stored-batches';
import { buildSprintDatabase } from '../src/app/demo';
import { inputOf, recordOf } from '../src/app/services';
import { createLocalStore } from '../src/adapters/local/store';
import { toPathSegments } from '../src/adapters/local/keys';
import { userFolders } from '../src/config/folders';
import type { AnswerRecord, SearchInput } from '../src/domain';
import type { ObjectStore } from '../src/domain/ports';
import { envelopeOf } from '../src/record/envelope';
import { writeIndex } from '../src/record/search-index';
import { sha256 } from '../src/sha256';
import { findTemporalBinary } from '../src/workers/temporal-binary';
import { startServerProcess, stopServerProcess, TUNED_FLAGS } from '../src/workers/temporal-process';
import { bench, give, median, say, SHORT, type Figure } from './figure';
import { runGate, type CommandUse } from './world/gate-command';
import { startModel, stop } from './world/load-world';
import { QUESTIONS, SPRINT_SQL } from './world/searches';

const [FEW, MANY] = SHORT ? [1_000, 10_000] : [1_000, 100_000];
const RUNS = SHORT ? 3 : 5;
const OLD = 50;
const IN_BATCH = 500;
const DAY_MS = 86_400_000;

/** A search as it is stored. */
interface Template {
  readonly store: string;
  readonly input: SearchInput;
  readonly record: AnswerRecord;
  /** By key. */
  readonly texts: ReadonlyMap<string, string>;
}

interface Filled {
  readonly folder: string;
  /** Of a young search and of a batch. */
  readonly search: string;
  readonly batch: string;
}

async function measureStored(): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gate-bench-stored-'));
  try {
    const template = await answered(folder);
    const stores: Filled[] = [];
    for (const count of [FEW, MANY]) {
      const started = performance.now();
      stores.push(await filled(join(folder, String(count)), template, count));
      say(`${count} searches stored in ${((performance.now() - started) / 1000).toFixed(0)} s`);
    }
    const gc = ['ops', 'gc', '--older-than', '30d'];
    const commands: readonly (readonly [string, (at: Filled) => readonly string[]])[] = [
      ['gate list', () => ['list', '--limit', '30']],
      ['gate show', ({ search }) => ['show', search]],
      ['gate batch status', () => ['batch', 'status', '--limit', '1']],
      ['gate batch status ID', ({ batch }) => ['batch', 'status', batch]],
      ['gate ops gc --dry-run', () => [...gc, '--dry-run']],
      ['gate ops gc', () => gc],
    ];
    for (const [name, args] of commands) {
      const used = stores.map((): CommandUse[] => []);
      for (let run = 0; run < RUNS; run += 1)
        for (const [n, at] of stores.entries()) {
          const use = await ran(args(at), folder, { GATE_STORE: at.folder });
          if (
            name.includes('gc') &&
            !use.said.includes(`remove${args(at).includes('--dry-run') ? '' : 'd'} ${OLD} searches`)
          )
            throw new Error(`gate ops gc did not find ${OLD} searches: ${use.said}`);
          used[n]?.push(use);
          if (name === 'gate ops gc') await storeOld(at.folder, template);
        }
      give(...ratios(name, used));
    }
    return [];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function ratios(name: string, used: readonly (readonly CommandUse[])[]): Figure[] {
  return (['wallSeconds', 'cpuSeconds'] as const).map((of) => {
    const [few = NaN, many = NaN] = used.map((uses) => median(uses.map((use) => use[of])));
    const how = `${many.toFixed(2)} s with ${MANY} searches over ${few.toFixed(2)} s with ${FEW}, medians of ${RUNS}`;
    return {
      name: `${name}: ${of === 'cpuSeconds' ? 'processor' : 'wall'} time`,
      value: many / few,
      unit: 'x',
      atMost: 2,
      how,
    };
  });
}

function ran(args: readonly string[], cwd: string, more: Readonly<Record<string, string>>): Promise<CommandUse> {
  return runGate(args, { cwd, env: { PATH: process.env['PATH'], HOME: join(cwd, 'home'), CI: '1', ...more } });
}

/** The smallest of some searches of the sprint example. */
async function answered(folder: string): Promise<Template> {
  const [store, database, questions] = ['template', 'sprint.sqlite', 'some.jsonl'].map((name) => join(folder, name));
  if (store === undefined || database === undefined || questions === undefined) throw new Error('no places');
  mkdirSync(join(folder, 'home'));
  buildSprintDatabase(SPRINT_SQL, database);
  writeFileSync(questions, readFileSync(QUESTIONS, 'utf8').split('\n').slice(0, 6).join('\n'));
  const binary = await findTemporalBinary({ env: process.env, cacheFolder: userFolders(process.env).cache });
  const server = await startServerProcess({
    ...{ binary, uiPort: null, databaseFile: join(folder, 'temporal.sqlite'), detached: false },
    ...{ logFile: join(folder, 'temporal.log'), flags: TUNED_FLAGS },
  });
  const model = await startModel(`sprint=${database}`, { modelMs: 0, rates: {} });
  try {
    await ran(['batch', 'run', questions, '--db', `sprint=${database}`, '--out', join(folder, 'out')], folder, {
      ...{ GATE_STORE: store, GATE_MEMORY: 'off', TEMPORAL_ADDRESS: `127.0.0.1:${String(server.port)}` },
      ...{ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'none', GATE_MODEL: 'simulated' },
    });
  } finally {
    await stop(model.child);
    await stopServerProcess(server.pid);
  }
  const stored = createLocalStore(store);
  const all = await Promise.all(
    readdirSync(join(store, 'runs')).map(async (id) => ({ id, keys: await stored.list(`runs/${id}/`) })),
  );
  const [smallest] = all.sort((a, b) => a.keys.length - b.keys.length);
  const [input, record] = await Promise.all([
    inputOf(stored, smallest?.id ?? ''),
    recordOf(stored, smallest?.id ?? ''),
  ]);
  if (smallest === undefined || input === null || record === null) throw new Error('no search was answered');
  const texts = await Promise.all(smallest.keys.map(async (key) => [key, (await stored.get(key)) ?? ''] as const));
  const bytes = texts.reduce((sum, [, text]) => sum + text.length, 0);
  say(`a search is ${texts.length} objects of ${(bytes / 1024).toFixed(0)} KB in total`);
  return { store, input, record, texts: new Map(texts) };
}

/** Its searches were asked over 29 days, and the old ones 60 days ago. */
async function filled(folder: string, template: Template, count: number): Promise<Filled> {
  mkdirSync(folder);
  cpSync(join(template.store, 'format.json'), join(folder, 'format.json'));
  if (existsSync(join(template.store, 'objects')))
    cpSync(join(template.store, 'objects'), join(folder, 'objects'), { recursive: true });
  const store = quickStore(folder);
  const young = count - OLD;
  const ids: string[] = [];
  for (let n = 0; n < young; n += 1) {
    // A file may have 65,000 names.
    const like = ids[n - (n % 50_000)];
    const askedMs = Date.now() - (n / young) * 29 * DAY_MS;
    await storeCopy({ store, folder, like }, template, idOf(n), askedMs);
    ids.push(idOf(n));
  }
  const { question, settings } = template.input;
  let batch = '';
  for (let first = 0; first < young / 2; first += IN_BATCH) {
    batch = `b-${sha256(String(first)).slice(0, 16)}`;
    const plan = { name: 'bench', questions: 'bench', method: settings.spec, seed: settings.seed };
    await keepAsked(store, batch, { ...plan, options: {}, overrides: {}, base: folder, cwd: folder, out: null });
    const some = ids.slice(first, first + IN_BATCH);
    const label = `${question.database}: ${question.text}`;
    const entries = some.map((searchId, n) => ({ n, searchId, label, taskQueues: { workflow: 'bench' } }));
    await writeBatchManifest(store, batch, entries, 50);
    for (const { n, searchId } of entries)
      await putBatchResult(store, batch, { n, searchId, outcome: { kind: 'answer', status: 'answered' } });
  }
  await storeOld(folder, template);
  return { folder, search: ids[0] ?? '', batch };
}

async function storeOld(folder: string, template: Template): Promise<void> {
  const ageMs = 60 * DAY_MS;
  const store = quickStore(folder, ageMs);
  for (let n = 0; n < OLD; n += 1) await storeCopy({ store, folder }, template, idOf(-n - 1), Date.now() - ageMs);
}

interface Place {
  readonly store: ObjectStore;
  readonly folder: string;
  /** The search whose files it shares. */
  readonly like?: string | undefined;
}

async function storeCopy(place: Place, template: Template, id: string, askedMs: number): Promise<void> {
  const { store, folder, like } = place;
  const { input, record, texts } = template;
  const askedAt = new Date(askedMs).toISOString();
  const { status, usage, answer } = record;
  const own = (text: string): string =>
    text.replaceAll(input.searchId, id).replaceAll(input.askedAt ?? record.startedAt, askedAt);
  await writeIndex(store, { ...input, searchId: id, askedAt }, { status, answer, costUsd: usage.costUsd });
  const pathOf = (key: string): string => join(folder, ...toPathSegments(key));
  for (const [key, text] of texts) {
    if (like !== undefined) {
      mkdirSync(dirname(pathOf(own(key))), { recursive: true });
      linkSync(pathOf(key.replaceAll(input.searchId, like)), pathOf(own(key)));
      continue;
    }
    const [, kind = '', data = ''] = /^\{"kind":"([^"]+)","sha256":"[^"]+","data":(.*)\}$/s.exec(text) ?? [];
    await store.put(own(key), envelopeOf(kind, own(data)));
  }
}

function idOf(n: number): string {
  return `q-${sha256(`search ${n}`).slice(0, 16)}`;
}

/** Writes as fast as it can what nobody reads yet. */
function quickStore(folder: string, ageMs = 0): ObjectStore {
  const made = new Set<string>();
  // eslint-disable-next-line @typescript-eslint/require-await -- as the port has it
  const put = async (key: string, text: string): Promise<void> => {
    const path = join(folder, ...toPathSegments(key));
    if (!made.has(dirname(path))) mkdirSync(dirname(path), { recursive: true });
    made.add(dirname(path));
    writeFileSync(path, text);
    const at = (Date.now() - ageMs) / 1000;
    if (ageMs > 0) utimesSync(path, at, at);
  };
  return { ...createLocalStore(folder), put };
}

bench(measureStored);
