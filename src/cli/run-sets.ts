/** The sets of questions of a run: a file, or a benchmark with its official scorer, each with its databases. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { BenchmarkItem, OpenBenchmark, Prediction } from '../benchmarks';
import { BENCHMARKS } from '../benchmarks/boards';
import type { Config } from '../config';
import type { ResolvedDatabase } from '../config/databases';
import type { AnswerRecord, Dialect } from '../domain';
import type { RunSet } from '../report/run';
import { withoutComments } from '../sql/lexer';
import { checkWeb } from './ask-input';
import { batchDatabases, type BatchDatabases } from './batch-databases';
import { selectItems } from './batch-plan';
import type { Scorer } from './batch-results';
import { questionsOf } from './batch-run';
import type { Asked, Comparing } from './compare-arms';
import {
  askedWith,
  limitFlags,
  nameOf,
  type MethodSeed,
  type RunConfig,
  type RunQuestions,
  type RunSettings,
} from './run-config';
import { specsOf } from './score-run';

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

export interface SetToRun {
  readonly asked: Asked;
  readonly askedWith: readonly MethodSeed[];
  readonly flags: Comparing['flags'];
  readonly file: string;
  readonly note: string | null;
  readonly benchmark: RunSet['benchmark'];
  readonly board: OpenBenchmark | null;
}

interface Opening {
  readonly config: Config;
  readonly run: RunConfig;
  readonly flags: RunFlags;
  /** Where relative paths of the file begin. */
  readonly base: string;
  readonly cwd: string;
}

export async function openSet(entry: RunQuestions, at: Opening): Promise<SetToRun> {
  const { config, run, flags, base, cwd } = at;
  const name = nameOf(entry);
  const settings: RunSettings = { ...run, ...entry };
  const { docs, web, memory, knowledge, judge, output = 'sql' } = settings;
  const [limit, model] = [flags.limit ?? settings.limit, flags.model ?? run.model];
  const maxTotalCost = flags.maxTotalCost ?? run['max-total-cost'];
  const own: Comparing['flags'] = {
    ...{
      methods: '',
      seeds: 1,
      concurrency: flags.concurrency ?? run.concurrency,
      ...limitFlags(run),
    },
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
  const { items, benchmark, board } = await readSet(entry, base, knowledge ?? false);
  const ids = entry.ids === undefined ? {} : { ids: entry.ids };
  const selected = selectItems(items, { ...ids, ...(limit !== undefined && { limit }) });
  const names = new Set(selected.map(({ database }) => database));
  const typed = (flags.db ?? []).filter((spec) => {
    const named = /^([\w.-]+)=/.exec(spec)?.[1];
    return named === undefined || names.has(named);
  });
  const given = typed.length > 0 ? typed : (settings.databases ?? []);
  const specs = board === null ? given : specsOf(board, selected, given);
  const found = batchDatabases(config, specs, { selected, others: [] }, typed.length > 0 ? cwd : base);
  const databases = board === null ? found : documented(found, board, selected);
  const asked = { name, items: selected, databases, output };
  return {
    asked: board === null ? asked : { ...asked, score: scorerOf(board) },
    ...{ flags: own, benchmark, board, note: entry.note ?? null, file: entry.file ?? entry.data ?? '' },
    askedWith: askedWith(run, entry, flags.seed),
  };
}

async function readSet(
  { file, benchmark: wanted, data, split, draw }: RunQuestions,
  base: string,
  hiddenKnowledge: boolean,
) {
  if (file !== undefined)
    return {
      items: await questionsOf(resolve(base, file), { knowledge: hiddenKnowledge }),
      benchmark: null,
      board: null,
    };
  const opened = await BENCHMARKS[wanted ?? '']?.();
  if (opened === undefined || data === undefined) throw new TypeError('neither a file nor a benchmark');
  const board = await opened.open(resolve(base, data), {
    hiddenKnowledge,
    ...(split !== undefined && { split }),
    ...(draw !== undefined && { seed: draw }),
  });
  const { name, title, source, licence, splits } = opened;
  return { items: board.items, board, benchmark: { name, title, source, licence, split: split ?? splits[0] ?? '' } };
}

/** What the benchmark says of a database stands where a configuration would say it. */
function documented(found: BatchDatabases, board: OpenBenchmark, items: readonly BenchmarkItem[]): BatchDatabases {
  const docs = new Map(
    items.map((item) => {
      const path = board.docs?.(item) ?? null;
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

function scorerOf(board: OpenBenchmark): Scorer {
  return async (item, record, engine, options) => {
    const prediction = predictionOf(record, engine.dialect);
    const { status, reason } = record;
    if (prediction === null)
      return { verdict: status === 'cancelled' ? 'cancelled' : 'infrastructure', points: {}, reason: reason ?? status };
    return board.score(item.id, prediction, engine, options);
  };
}

/** As it would be submitted. null: it ended for a reason outside the search, which says nothing of an answer. */
function predictionOf({ status, endedBy, sql }: AnswerRecord, dialect: Dialect): Prediction | null {
  switch (status) {
    case 'answered':
      return sql === null || sql.trim() === ''
        ? { kind: 'none' }
        : { kind: 'sql', statements: [withoutComments(sql, dialect)] };
    case 'abstained':
    case 'unanswerable':
      return { kind: 'abstained' };
    case 'failed':
      return endedBy === 'unusable' ? { kind: 'none' } : null;
    case 'cancelled':
      return null;
    default:
      return status satisfies never;
  }
}
