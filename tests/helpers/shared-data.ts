/**
 * Questions with gold SQL and the databases they run on. With the development data (GATE_SHARED_DATA, else a folder
 * `shared/data` beside the checkout) its own `load.sh` loads it; without (or with GATE_SHARED_DATA=none) the tests run on the sprint example and the
 * questions in `examples/questions`, on both engines. Nothing is ever skipped.
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import Database from 'libsql';
import { loadQuestions, type GoldQuestion } from '../../simulated-model';
import { packageFolder } from '../../src/workers/package-folder';
import type { TestPostgres } from './postgres';
import { onceInRun } from './run-folder';

const run = promisify(execFile);
export const ROOT = packageFolder() ?? resolve(__dirname, '..', '..');
export const SAMPLE_QUESTIONS = join(ROOT, 'examples', 'questions', 'sprint.jsonl');
const SPRINT_SQL = join(ROOT, 'examples', 'sprint', 'sprint.sql');

export interface TestData {
  /** `shared`: the development data; `sample`: the committed example. */
  readonly source: 'shared' | 'sample';
  readonly questions: readonly GoldQuestion[];
  readonly questionFiles: readonly string[];
  /** `NAME=address`, as `--db` takes them. */
  readonly databases: readonly string[];
  address(question: Pick<GoldQuestion, 'engine' | 'database'>): string;
  close(): void;
}

export function sharedDataFolder(): string | null {
  const given = process.env['GATE_SHARED_DATA'];
  if (given === 'none') return null;
  if (given !== undefined && given !== '') {
    if (!existsSync(given)) throw new Error(`GATE_SHARED_DATA: no folder ${given}`);
    return given;
  }
  const beside = resolve(ROOT, '..', 'shared', 'data');
  return existsSync(join(beside, 'load.sh')) ? beside : null;
}

/** `only`: benchmark folders of the development data. */
export async function loadTestData(
  postgres: TestPostgres | null,
  options: { readonly sample?: boolean; readonly only?: readonly string[] } = {},
): Promise<TestData> {
  const shared = options.sample === true ? null : sharedDataFolder();
  if (shared !== null) return loadShared(shared, postgres, options.only);
  const folder = mkdtempSync(join(tmpdir(), 'gate-data-'));
  return loadSample(postgres, folder, () => rmSync(folder, { recursive: true, force: true }));
}

/** The sprint database as an SQLite file in the folder. */
export function sprintSqlite(folder: string): string {
  const path = join(folder, 'sprint.sqlite');
  const database = new Database(path);
  database.exec(readFileSync(SPRINT_SQL, 'utf8'));
  database.close();
  return path;
}

async function loadSample(postgres: TestPostgres | null, folder: string, close: () => void): Promise<TestData> {
  const addresses = new Map([['sqlite', sprintSqlite(folder)]]);
  if (postgres !== null) {
    const name = `gate_sprint_${randomUUID().slice(0, 8)}`;
    await postgres.createDatabase(name, readFileSync(SPRINT_SQL, 'utf8'));
    addresses.set('postgresql', postgres.url(name));
  }
  const questions = loadQuestions(SAMPLE_QUESTIONS).filter(({ engine }) => addresses.has(engine));
  return {
    source: 'sample',
    questions,
    questionFiles: [SAMPLE_QUESTIONS],
    databases: [...addresses].map(([engine, address]) => `${engine === 'sqlite' ? 'sprint' : 'sprint_pg'}=${address}`),
    address: ({ engine }) => found(addresses.get(engine), engine),
    close,
  };
}

/** Each benchmark is loaded once for all files of a run. */
async function loadShared(shared: string, postgres: TestPostgres | null, only?: readonly string[]): Promise<TestData> {
  const benchmarks = readdirSync(shared).filter(
    (name) => existsSync(join(shared, name, 'questions.jsonl')) && (only === undefined || only.includes(name)),
  );
  const server = postgres && { PGHOST: postgres.host, PGPORT: String(postgres.port), PGUSER: postgres.user };
  const env = { ...process.env, ...(server ?? { NO_PG: '1' }) };
  const inRun = process.env['GATE_TEST_FOLDER'] !== undefined;
  const folder = mkdtempSync(join(tmpdir(), 'gate-data-'));
  const addresses = new Map<string, string>();
  for (const benchmark of benchmarks) {
    const load = async (): Promise<{ readonly printed: string }> => ({
      printed: (await run('bash', [join(shared, benchmark, 'load.sh'), folder], { env })).stdout,
    });
    const { printed } = inRun ? await onceInRun(`${benchmark}-${server?.PGPORT ?? 'sqlite'}`, load) : await load();
    for (const [, engine = '', where = ''] of printed.matchAll(/^(postgresql|sqlite) (.+)$/gm)) {
      const name = engine === 'sqlite' ? (/([^/]+)\.sqlite$/.exec(where)?.[1] ?? where) : where;
      addresses.set(`${engine} ${name}`, engine === 'sqlite' ? where : found(postgres, 'PostgreSQL').url(where));
    }
  }
  const questionFiles = benchmarks.map((name) => join(shared, name, 'questions.jsonl'));
  const key = ({ engine, database }: Pick<GoldQuestion, 'engine' | 'database'>): string => `${engine} ${database}`;
  return {
    source: 'shared',
    questions: questionFiles.flatMap(loadQuestions).filter((question) => addresses.has(key(question))),
    questionFiles,
    databases: [...addresses].map(([name, address]) => `${name.split(' ')[1] ?? ''}=${address}`),
    address: (question) => found(addresses.get(key(question)), key(question)),
    // What a run shares is removed with the folder of the run.
    close: () => (inRun ? undefined : rmSync(folder, { recursive: true, force: true })),
  };
}

function found<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new Error(`the test data has no ${what}`);
  return value;
}
