/** The sets of questions of a run: a file, or a benchmark with its official scorer, each with its databases. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { BenchmarkItem } from '../questions';
import type { Config } from '../config';
import type { ResolvedDatabase } from '../config/databases';
import { checkWeb } from '../app/question-input';
import { batchDatabases, type BatchDatabases } from './batch-databases';
import { selectItems } from './batch-plan';
import { questionsOf } from './batch-run';
import type { Asked, Comparing } from './compare-arms';
import { UsageError } from '../app/errors';
import type { Board, Laboratory } from './laboratory';
import {
  askedWith,
  limitFlags,
  nameOf,
  type MethodSeed,
  type RunConfig,
  type RunQuestions,
  type RunSettings,
} from './run-config';

export interface RunFlags {
  readonly out?: string;
  readonly db?: readonly string[];
  readonly data?: string;
  readonly model?: NonNullable<Comparing['flags']['model']>;
  readonly concurrency?: number;
  readonly limit?: number;
  readonly seed?: number;
  readonly maxTotalCost?: number;
  readonly dryRun?: boolean;
  readonly fresh?: boolean;
  readonly json?: boolean;
  readonly events?: boolean;
  readonly debug?: boolean;
}

const FLAGS: readonly string[] = [
  ...['out', 'db', 'data', 'model', 'concurrency', 'limit', 'seed', 'maxTotalCost', 'dryRun', 'fresh', 'json'],
  ...['events', 'debug', 'record', 'replay'],
];

/** What may be typed beside the file of a run; everything else is said in the file. */
export function runFlags(typed: Readonly<Record<string, unknown>>): RunFlags {
  const other = Object.keys(typed).find((name) => !FLAGS.includes(name));
  if (other === undefined) return typed;
  if (other === 'detach')
    throw new UsageError(
      '--detach: leave it out; a run is followed until it ends, and goes on where it was interrupted',
    );
  const option = `--${other.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  throw new UsageError(`${option}: leave it out; the file of a run says what is asked`);
}

export interface SetToRun {
  readonly asked: Asked;
  readonly askedWith: readonly MethodSeed[];
  readonly flags: Comparing['flags'];
  readonly file: string;
  readonly note: string | null;
  /** null: a file of questions. */
  readonly board: Board | null;
}

interface Opening {
  readonly config: Config;
  readonly run: RunConfig;
  readonly flags: RunFlags;
  /** Where relative paths of the file begin. */
  readonly base: string;
  readonly cwd: string;
  readonly laboratory: Laboratory | null;
}

export async function openSet(entry: RunQuestions, at: Opening): Promise<SetToRun> {
  const { config, run, flags, base, cwd, laboratory } = at;
  const name = nameOf(entry);
  const settings: RunSettings = { ...run, ...entry };
  const { docs, web, memory, knowledge, judge, output = 'sql' } = settings;
  const [limit, model] = [flags.limit ?? settings.limit, flags.model ?? run.model];
  const maxTotalCost = flags.maxTotalCost ?? run['max-total-cost'];
  const own: Comparing['flags'] = {
    concurrency: flags.concurrency ?? run.concurrency,
    ...limitFlags(run),
    ...(model && { model }),
    ...(knowledge !== undefined && { knowledge }),
    ...(docs !== undefined && { docs }),
    ...(web !== undefined && { web }),
    ...(memory !== undefined && { memory }),
    ...(judge && { judge: judge.mode, ...(judge.model !== undefined && { judgeModel: judge.model }) }),
    ...(maxTotalCost !== undefined && { maxTotalCost }),
    ...(flags.fresh && { fresh: true }),
    // With --fresh it must begin no new searches.
    ...(flags.dryRun && { dryRun: true }),
    ...(flags.debug && { debug: true }),
  };
  checkWeb(config, own);
  const board = entry.file === undefined ? ((await laboratory?.board(entry, base, knowledge ?? false)) ?? null) : null;
  const items = board?.items ?? (await questionsOf(resolve(base, entry.file ?? ''), { knowledge: knowledge ?? false }));
  const ids = entry.ids === undefined ? {} : { ids: entry.ids };
  const selected = selectItems(items, { ...ids, ...(limit !== undefined && { limit }) });
  const names = new Set(selected.map(({ database }) => database));
  const typed = (flags.db ?? []).filter((spec) => {
    const named = /^([\w.-]+)=/.exec(spec)?.[1];
    return named === undefined || names.has(named);
  });
  const given = typed.length > 0 ? typed : (settings.databases ?? []);
  const specs = board === null ? given : board.databases(selected, given);
  const found = batchDatabases(config, specs, { selected, others: [] }, typed.length > 0 ? cwd : base);
  const databases = board === null ? found : documented(found, board, selected);
  const asked = { name, items: selected, databases, output };
  return {
    asked: board === null ? asked : { ...asked, score: board.score },
    ...{ flags: own, board, note: entry.note ?? null, file: entry.file ?? entry.data ?? '' },
    askedWith: askedWith(run, entry, flags.seed),
  };
}

/** What the benchmark says of a database stands where a configuration would say it. */
function documented(found: BatchDatabases, board: Board, items: readonly BenchmarkItem[]): BatchDatabases {
  const docs = new Map(
    items.map((item) => {
      const path = board.docs(item);
      return [found.of(item).name, path !== null && existsSync(path) ? path : null];
    }),
  );
  const withDocs = (database: ResolvedDatabase): ResolvedDatabase => {
    const path = docs.get(database.name) ?? null;
    return path === null || database.docs.length > 0 ? database : { ...database, docs: [path] };
  };
  return {
    of: (item) => withDocs(found.of(item)),
    find: (item) => {
      const database = found.find(item);
      return database && withDocs(database);
    },
    all: found.all.map(withDocs),
  };
}
