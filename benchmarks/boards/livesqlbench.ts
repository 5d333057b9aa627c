/**
 * LiveSQLBench (base-lite, base-full, large), and LS-Hard: its lite questions that read, without the knowledge base. The
 * folder is the publisher's data set: `livesqlbench_data.jsonl` beside a folder for each database.
 *
 * 1. A query is right if its rows and those of the gold query are the same set, or the same list where `conditions.order`
 *    says so, after ROUND, DISTINCT and comments are taken out of both. An empty side is never right.
 * 2. Questions of the category Management write, and are judged by programs on a copy that may be written. Databases are
 *    read-only here: such questions are counted apart. So are those that need `preprocess_sql`.
 * 3. The publisher sends gold by e-mail. Its file (`…gt….jsonl`) is read if it lies in the folder; where a question has no
 *    gold, that is said.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { someOf } from '../../src/counted';
import type { Dialect } from '../../src/domain';
import type { BenchmarkItem, Gold } from '../../src/questions/question-file';
import {
  type Benchmark,
  BenchmarkDataError,
  type BoardScore,
  type Metrics,
  type OpenBenchmark,
  type OpenOptions,
} from '../benchmark';
import { meanOf } from './execution';
import { firstPath, linesIn } from './files';
import { isQuery, Line, lineOf, livesqlbenchFormat, Statements } from './livesqlbench-format';
import { scoreLine } from './livesqlbench-score';

const GoldLine = z.looseObject({ instance_id: z.string(), sol_sql: Statements });

interface Board {
  readonly name: string;
  readonly title: string;
  readonly splits: readonly string[];
  /** LS-Hard: questions that read, without the knowledge base. */
  readonly hard?: true;
}

async function open(board: Board, folder: string, options: OpenOptions): Promise<OpenBenchmark> {
  const { split = board.splits[0] ?? '', hiddenKnowledge = false } = options;
  if (!board.splits.includes(split))
    throw new BenchmarkDataError(`${board.name} has no split "${split}": choose one of ${board.splits.join(', ')}`);
  const dialect: Dialect = split === 'sqlite' ? 'sqlite' : 'postgresql';
  const name = dialect === 'sqlite' ? 'livesqlbench_data_sqlite.jsonl' : 'livesqlbench_data.jsonl';
  const file = firstPath(folder, name);
  if (file === null) throw new BenchmarkDataError(`${folder} is no folder of LiveSQLBench: it has no ${name}`);
  const lines = await withGold(await linesIn(file, Line), folder);
  const chosen = board.hard ? lines.filter(isQuery) : lines;
  const items = chosen.map((line) => itemOf(line, dialect, split === 'normal'));
  for (const [index, item] of items.entries()) lineOf.set(item, chosen[index] as Line);
  const byId = new Map(chosen.map((line) => [line.instance_id, line]));
  const shown = board.hard !== true || hiddenKnowledge;
  const docs = ({ database }: BenchmarkItem): string | null => {
    const name = database ?? '';
    return firstPath(folder, shown ? name : `${name}/${name}_column_meaning_base.json`);
  };
  return {
    items,
    remarks: [...remarksOn(chosen), ...undocumented(items, docs)],
    database: ({ database }) =>
      dialect === 'sqlite' && database !== null
        ? firstPath(folder, `${database}/${database}.sqlite`, `database/${database}/${database}.sqlite`)
        : null,
    isUnrun: ({ gold }) => gold === null,
    docs,
    score: async (id, prediction, engine, asked) => {
      const line = byId.get(id);
      if (line === undefined) throw new TypeError(`no question ${id}`);
      return scoreLine(line, prediction, engine, asked);
    },
    metrics: (scores) => metricsOf(byId, scores),
  };
}

/** Gold is added as the publisher's script does it: these fields of the line with the same id. */
async function withGold(lines: readonly Line[], folder: string): Promise<readonly Line[]> {
  const [name, ...others] = (await readdir(folder)).filter((one) => /gt.*\.jsonl$/i.test(one)).sort();
  if (name === undefined) return lines;
  if (others.length > 0)
    throw new BenchmarkDataError(`${folder} has more than one gold file: leave ${name} or another`);
  const golds = new Map((await linesIn(join(folder, name), GoldLine)).map((gold) => [gold.instance_id, gold]));
  return lines.map((line) => {
    const gold = golds.get(line.instance_id);
    if (gold === undefined) return line;
    const { test_cases = line['test_cases'], external_knowledge = line['external_knowledge'] } = gold;
    return { ...line, sol_sql: gold.sol_sql, test_cases, external_knowledge };
  });
}

function itemOf(line: Line, engine: Dialect, normal: boolean): BenchmarkItem {
  const { instance_id: id, selected_database: database, category, difficulty_tier: difficulty } = line;
  const question = normal ? line.normal_query : line.query;
  if (question === undefined || question === null)
    throw new BenchmarkDataError(`"${id}" has no normal_query: take the split colloquial`);
  const about = { answer: null, text: null, answerable: true, abstainText: null };
  const gold: Gold | null =
    isQuery(line) && line.sol_sql.length > 0
      ? { ...about, sql: [line.sol_sql.join(';\n')], category, difficulty: difficulty ?? null }
      : null;
  return { id, question, context: null, instructions: null, engine, database, gold };
}

/** Documents belong to the benchmark: without them the questions are another one. */
function undocumented(items: readonly BenchmarkItem[], docs: (item: BenchmarkItem) => string | null): string[] {
  const lacking = new Set(items.flatMap((item) => (docs(item) === null ? [item.database ?? ''] : [])));
  return lacking.size === 0
    ? []
    : [`the folder lacks the documents of ${someOf([...lacking])}: gate-bench data list tells where they are`];
}

function remarksOn(lines: readonly Line[]): string[] {
  const queries = lines.filter(isQuery);
  const ungraded = queries.filter((line) => line.sol_sql.length === 0).map((line) => line.instance_id);
  const management = lines.length - queries.length;
  return [
    ...(management === 0
      ? []
      : [`${management} of ${lines.length} questions are of the category Management, which writes: not scored here`]),
    ...(ungraded.length === 0
      ? []
      : [
          `no sol_sql for ${someOf(ungraded)}: the publisher sends gold by e-mail (bird.bench25@gmail.com); put its file here`,
        ]),
  ];
}

/** Figures in per cent. `ex` is the board's, over all questions: there is none unless each could be scored. */
function metricsOf(lines: ReadonlyMap<string, Line>, scores: ReadonlyMap<string, BoardScore>): Metrics {
  const found = [...scores.values()];
  const percent = meanOf(found, 'ex');
  const unscored = found.filter(({ points }) => points['ex'] === undefined).length;
  const management = [...lines.values()].filter((line) => !isQuery(line)).length;
  return { ex: found.length - unscored === lines.size ? percent : null, exQuery: percent, management, unscored };
}

const benchmark = (board: Board): Benchmark => ({
  ...board,
  source: 'bird-bench/livesqlbench@59d7bd0',
  licence: 'CC-BY-SA-4.0',
  open: (folder, options) => open(board, folder, options),
  format: livesqlbenchFormat,
});

const WORDINGS = ['colloquial', 'normal'] as const;

export const livesqlbenchBaseLite = benchmark({
  name: 'livesqlbench-base-lite',
  title: 'LiveSQLBench base-lite: 270 questions on 18 databases, with their knowledge base',
  splits: ['postgresql', 'sqlite'],
});
export const livesqlbenchBaseFull = benchmark({
  name: 'livesqlbench-base-full',
  title: 'LiveSQLBench base-full v1: 600 questions on 22 databases, in two wordings',
  splits: WORDINGS,
});
export const livesqlbenchLarge = benchmark({
  name: 'livesqlbench-large',
  title: 'LiveSQLBench large v1: 480 questions on 18 databases of a thousand columns',
  splits: WORDINGS,
});
/** The paper's 180 questions on 18 databases (Table 5): those of base-lite that read. */
export const lsHard = benchmark({
  name: 'ls-hard',
  title: 'LS-Hard: the 180 questions of LiveSQLBench base-lite that read, without its knowledge base',
  splits: ['postgresql', 'sqlite'],
  hard: true,
});
