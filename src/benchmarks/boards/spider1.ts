/**
 * Spider 1 by its test suites (taoyds/test-suite-sql-eval `evaluation.py --etype exec`): a prediction is right if it gives the
 * gold result on every database in the folder of its database. As there, DISTINCT is dropped from both queries, the word
 * `value` of a prediction becomes 1, and only the first statement counts. Values have to be predicted.
 */
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { SqlEngine } from '../../ports';
import { rewritten, tokensOf } from '../../sql/lexer';
import {
  BenchmarkDataError,
  type Benchmark,
  type BoardScore,
  type Metrics,
  type OpenBenchmark,
  type Prediction,
  type ScoreOptions,
} from '../benchmark';
import { differInSize } from '../execution-match';
import type { BenchmarkItem } from '../question-file';
import {
  comparable,
  meanOf,
  resultOf,
  runBoth,
  scored,
  statementOf,
  tooLarge,
  unanswered,
  whileConnected,
  wrong,
} from './execution';
import { FileName, firstPath, jsonIn } from './files';
import { spiderFormat } from './spider1-format';
import { hardnessOf, LEVELS } from './spider1-hardness';
import { sameDenotation } from './spider1-match';
import { assureDatabases, pairedGolds } from './gold-file';

const Entry = z.object({
  db_id: FileName,
  question: z.string().trim().min(1),
  query: z.string().nullish(),
  sql: z.unknown().optional(),
});

/** Where the databases of a split are. */
const SPLITS = { dev: 'database', test: 'test_database' } as const;

export const spider1: Benchmark = {
  name: 'spider1',
  title: 'Spider 1 (test-suite accuracy)',
  source: 'taoyds/test-suite-sql-eval@e97acc5',
  licence: 'CC-BY-SA-4.0',
  splits: Object.keys(SPLITS),
  format: spiderFormat,
  open(folder, { split = 'dev' }) {
    if (split !== 'dev' && split !== 'test')
      return Promise.reject(new BenchmarkDataError(`spider1 has no split "${split}": it is one of dev, test`));
    return openSpider(folder, split);
  },
};

async function openSpider(folder: string, split: keyof typeof SPLITS): Promise<OpenBenchmark> {
  const path = firstPath(folder, `${split}.json`);
  if (path === null) throw new BenchmarkDataError(`${folder} is incomplete: ${split}.json is missing`);
  const entries = await jsonIn(path, z.array(Entry).min(1, 'holds no questions'));
  const written = entries.map(({ query }) => query ?? null);
  const databases = entries.map(({ db_id }) => db_id);
  const golds = await pairedGolds(firstPath(folder, `${split}_gold.sql`), databases, path, written);
  const root = assureDatabases(folder, [SPLITS[split]], databases);
  const items = entries.map(({ db_id, question, sql }, at): BenchmarkItem => {
    const gold = golds[at] ?? null;
    const known = { answer: null, text: null, answerable: true, abstainText: null, category: null };
    return {
      ...{ id: String(at), question, context: null, instructions: null, engine: 'sqlite', database: db_id },
      gold: gold === null ? null : { ...known, sql: [gold], difficulty: hardnessOf(sql) },
    };
  });
  const byId = new Map(items.map((item) => [item.id, item]));
  const database = (item: BenchmarkItem): string => join(root, item.database ?? '', `${item.database ?? ''}.sqlite`);
  return {
    items,
    database,
    score: async (id, prediction, engine, options) => {
      const item = byId.get(id);
      return scoreSpider(item, item === undefined ? '' : database(item), prediction, engine, options);
    },
    metrics: (scores) => spiderMetrics(items, scores),
  };
}

function scoreSpider(
  item: BenchmarkItem | undefined,
  path: string,
  prediction: Prediction,
  engine: SqlEngine,
  options: ScoreOptions,
): Promise<BoardScore> {
  return whileConnected(async () => {
    const [gold] = item?.gold?.sql ?? [];
    if (gold === undefined) return scored('no-gold', 'the benchmark has no gold for this question');
    const settled = unanswered(prediction);
    if (settled !== null) return settled;
    const others = siblingsOf(path);
    const { open } = options;
    if (others.length > 0 && open === undefined)
      return scored('infrastructure', `${dirname(path)} is a test suite, and only one database of it was opened`);
    // Rows are of one database alone.
    const engines = [engine, ...(prediction.kind === 'rows' || open === undefined ? [] : others.map(open))];
    for (const [at, each] of engines.entries()) {
      const score = await scoreOn(each, gold, prediction, options);
      const where = at === 0 ? '' : ` (on ${others[at - 1] ?? ''})`;
      if (score.verdict !== 'correct') return { ...score, reason: `${score.reason}${where}` };
    }
    return scored('correct', `equal results on ${String(engines.length)} databases`, { ex: 1 });
  });
}

async function scoreOn(
  engine: SqlEngine,
  gold: string,
  prediction: Prediction,
  options: ScoreOptions,
): Promise<BoardScore> {
  const statement = prediction.kind === 'sql' ? predictedStatement(statementOf(prediction.statements)) : 'SELECT 1';
  const ran = await runBoth(statement, [executed(gold)], engine, options);
  const compared = comparable(prediction.kind === 'rows' ? resultOf(prediction) : ran.predicted, ran.golds[0]);
  if ('verdict' in compared) return compared;
  const [ours, theirs] = compared;
  if (ours.truncated || theirs.truncated)
    return differInSize(ours, theirs) ? wrong('more rows on one side than on the other') : tooLarge();
  // "order by" anywhere in the gold query, even in a part of it.
  const isSame = sameDenotation(theirs.rows, ours.rows, gold.toLowerCase().includes('order by'));
  if (isSame === null) return scored('undecided', 'too many orders of columns to try');
  const sizes = `${String(ours.rows.length)} rows, gold ${String(theirs.rows.length)}`;
  return isSame ? scored('correct', 'equal results', { ex: 1 }) : wrong(`other results (${sizes})`);
}

/** The databases beside this one: the suite. */
function siblingsOf(path: string): string[] {
  const folder = dirname(path);
  const files = readdirSync(folder).filter((name) => name.includes('.sqlite'));
  return files.map((name) => join(folder, name)).filter((file) => file !== path);
}

function predictedStatement(sql: string): string {
  return executed(sql.replaceAll('value', '1'));
}

/** What the official scorer runs of a query: its first statement, repaired and without DISTINCT. */
function executed(sql: string): string {
  const repaired = sql.replaceAll('> =', '>=').replaceAll('< =', '<=').replaceAll('! =', '!=');
  const end = tokensOf(repaired, 'sqlite').find(({ raw }) => raw === ';')?.at;
  const first = rewritten(repaired.slice(0, end), 'sqlite', ({ kind, text, raw }) =>
    kind === 'word' && text === 'distinct' ? '' : raw,
  );
  return first.replace(/YEAR\s*\(\s*CURDATE\s*\(\s*\)\s*\)\s*/gi, '2020');
}

function spiderMetrics(items: readonly BenchmarkItem[], scores: ReadonlyMap<string, BoardScore>): Metrics {
  const levels = new Map(items.map(({ id, gold }) => [id, gold?.difficulty ?? null]));
  const ofLevel = (level: string): BoardScore[] =>
    [...scores].flatMap(([id, score]) => (levels.get(id) === level ? score : []));
  return {
    ex: meanOf([...scores.values()], 'ex'),
    ...Object.fromEntries(
      LEVELS.map((level) => [`ex${level.charAt(0).toUpperCase()}${level.slice(1)}`, meanOf(ofLevel(level), 'ex')]),
    ),
  };
}
