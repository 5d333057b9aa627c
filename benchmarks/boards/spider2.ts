/**
 * Spider 2.0 lite and snow: analyses in BigQuery, SQLite and Snowflake, judged by the published results. The folder is the
 * publisher's repository, or its `spider2-lite` or `spider2-snow`.
 *
 * 1. A prediction is right if each gold column that counts equals one of its columns; any of the gold results may match.
 * 2. The board has two figures: the share right of all questions (`ex`), and of those with a prediction (`exSubmitted`).
 * 3. What could not be run is in neither figure.
 * 4. The official scorer of lite does not run SQL for Snowflake questions and gives it no points; CSV can have them.
 */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod';
import { someOf } from '../../src/counted';
import { CONTEXT_CHARS } from '../../src/input-limits';
import type { BenchmarkItem, Gold } from '../../src/questions/question-file';
import { type Benchmark, BenchmarkDataError, type BoardScore, type Metrics, type OpenBenchmark } from '../benchmark';
import { whileConnected } from './execution';
import { FileName, firstPath, linesIn, textIn } from './files';
import { spider2Format } from './spider2-format';
import { engineOf, isUnrun, scored, Standard, type Suite } from './spider2-score';

/** Lite and snow differ in these. */
const Named = z.object({ instance_id: FileName, external_knowledge: FileName.nullish() });
const Line = z.union([
  Named.extend({ question: z.string(), db: FileName }),
  Named.extend({ instruction: z.string(), db_id: FileName }).transform(
    ({ instruction: question, db_id: db, ...line }) => ({ ...line, question, db }),
  ),
]);
type Line = z.infer<typeof Line>;

/** The longest document: a context may not be longer. */
const KNOWLEDGE_CHARS = CONTEXT_CHARS - 1_000;
const LETTERS = Array.from('abcdefghijklmnopqrstuvwxyz');

async function open(suite: Suite, folder: string): Promise<OpenBenchmark> {
  const name = `spider2-${suite}`;
  const file = firstPath(folder, `${name}.jsonl`, `${name}/${name}.jsonl`);
  if (file === null) throw new BenchmarkDataError(`${folder} is no folder of Spider 2.0: it has no ${name}.jsonl`);
  const [base, gold] = [dirname(file), join(dirname(file), 'evaluation_suite', 'gold')];
  const lines = await linesIn(file, Line);
  const rules = join(gold, `spider2${suite}_eval.jsonl`);
  const standards = new Map((await linesIn(rules, Standard)).map((standard) => [standard.instance_id, standard]));
  const lacking = lines.filter(({ instance_id: id }) => !standards.has(id));
  if (lacking.length > 0)
    throw new BenchmarkDataError(`${rules} has no line for ${someOf(lacking.map((line) => line.instance_id))}`);
  const results = await goldResults(
    join(gold, 'exec_result'),
    lines.map((line) => line.instance_id),
  );
  const unread = lines.flatMap(({ external_knowledge: name }) => {
    const file = documentOf(base, name);
    return file === null || existsSync(file) ? [] : [basename(file)];
  });
  const items = await Promise.all(lines.map((line) => itemOf(line, results, base)));
  const database = ({ database: named, engine }: BenchmarkItem): string | null =>
    engine === 'sqlite'
      ? firstPath(join(base, 'resource', 'databases'), `${named ?? ''}.sqlite`, `spider2-localdb/${named ?? ''}.sqlite`)
      : null;
  return {
    items,
    remarks: [...remarksOn(items, database), ...missing('resource/documents', unread)],
    database,
    isUnrun: ({ id }) => isUnrun(suite, id),
    score: async (id, prediction, engine, options) => {
      const standard = standards.get(id);
      if (standard === undefined) throw new TypeError(`no question ${id}`);
      return whileConnected(() => scored(suite, standard, prediction, results.get(id) ?? [], engine, options));
    },
    metrics: metricsOf,
  };
}

/** The gold results of each id: `ID.csv`, or else `ID_a.csv`, `ID_b.csv`, … */
async function goldResults(folder: string, ids: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  if (!existsSync(folder)) throw new BenchmarkDataError(`${folder} is missing: it holds the gold results`);
  const names = new Set(await readdir(folder));
  const lettered = (id: string): string[] => LETTERS.map((letter) => `${id}_${letter}.csv`);
  const namesOf = (id: string): string[] =>
    names.has(`${id}.csv`) ? [`${id}.csv`] : lettered(id).filter((name) => names.has(name));
  return new Map(ids.map((id) => [id, namesOf(id).map((name) => join(folder, name))]));
}

async function itemOf(
  line: Line,
  results: ReadonlyMap<string, readonly string[]>,
  base: string,
): Promise<BenchmarkItem> {
  const { instance_id: id, question, db } = line;
  const file = join(base, 'evaluation_suite', 'gold', 'sql', `${id}.sql`);
  const sql = existsSync(file) ? [await textIn(file)] : [];
  const about = { answer: null, text: null, answerable: true, abstainText: null, category: null, difficulty: null };
  const gold: Gold | null = (results.get(id) ?? []).length === 0 ? null : { sql, ...about };
  const context = await knowledgeFor(line, base);
  return { id, question, context, instructions: null, engine: engineOf(id), database: db, gold };
}

/** The document that the benchmark gives with the question; null: none, or the folder lacks it. */
async function knowledgeFor({ external_knowledge: name }: Line, base: string): Promise<string | null> {
  const file = documentOf(base, name);
  if (file === null || !existsSync(file)) return null;
  const text = (await textIn(file)).trim();
  return `External knowledge (${name ?? ''}):\n${text.length > KNOWLEDGE_CHARS ? `${text.slice(0, KNOWLEDGE_CHARS)}\n…` : text}`;
}

const documentOf = (base: string, name: string | null | undefined): string | null =>
  typeof name === 'string' ? join(base, 'resource', 'documents', name) : null;

function remarksOn(items: readonly BenchmarkItem[], database: (item: BenchmarkItem) => string | null): string[] {
  const ungraded = items.filter(({ gold }) => gold === null).map(({ id }) => id);
  const closed = items.filter((item) => item.engine === 'sqlite' && database(item) === null);
  const absent = closed.map((item) => `${item.database ?? ''}.sqlite`);
  return [
    ...(ungraded.length === 0 ? [] : [`the publisher gives no gold result for ${someOf(ungraded)}`]),
    ...missing('resource/databases', absent),
  ];
}

function missing(folder: string, names: readonly string[]): string[] {
  return names.length === 0 ? [] : [`${folder} lacks ${someOf([...new Set(names)])}`];
}

/** Figures in per cent, both of what could be run; `unscored` counts the rest. An id without a prediction has a score of 0. */
function metricsOf(scores: ReadonlyMap<string, BoardScore>): Metrics {
  const points = [...scores.values()].map((one) => one.points);
  const sum = (name: string): number => points.reduce((total, one) => total + (one[name] ?? 0), 0);
  const percent = (of: number): number | null => (of === 0 ? null : (100 * sum('ex')) / of);
  const unscored = points.filter(({ ex }) => ex === undefined).length;
  return { ex: percent(scores.size - unscored), exSubmitted: percent(sum('submitted')), correct: sum('ex'), unscored };
}

const suite = (name: Suite, title: string): Benchmark => ({
  name: `spider2-${name}`,
  title,
  source: 'xlang-ai/Spider2@e12c5f1',
  licence: 'MIT',
  splits: ['all'],
  async open(folder, { split = 'all' }) {
    if (split !== 'all') throw new BenchmarkDataError(`spider2-${name} has no split "${split}": leave --split out`);
    return open(name, folder);
  },
  format: spider2Format,
});

export const spider2Lite = suite('lite', 'Spider 2.0 lite: 547 analyses in BigQuery, SQLite and Snowflake');
export const spider2Snow = suite('snow', 'Spider 2.0 snow: 547 analyses in Snowflake');
