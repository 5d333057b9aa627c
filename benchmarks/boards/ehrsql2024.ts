/**
 * EHRSQL-2024 (MIMIC-IV demo): questions about patients, a fifth of them unanswerable. Both queries are run, after the
 * scorer's changes to them, and their first hundred sorted rows have to be equal. `null` abstains.
 *
 * 1. The folder is the publisher's repository or its `data/mimic_iv`, or `questions.jsonl` of half of its valid split.
 * 2. Ids in a predictions file are the publisher's: without the `ehrsql24-valid-` that such a `questions.jsonl` puts before.
 * 3. The official scorer runs whatever SQLite runs and waits for ever. Here a prediction that writes, or that has no result
 *    in time, is wrong; a gold query that fails, or a result that is too large to compare, is counted apart.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import * as z from 'zod';
import { someOf } from '../../src/counted';
import type { SqlResult } from '../../src/domain';
import type { SqlEngine, SqlOptions } from '../../src/domain/ports';
import { runAsWritten } from '../../src/questions/double-quoted';
import { describeFailure } from '../../src/questions/execution-match';
import { COMPARED_ROWS, officialAnswerMatch } from '../../src/questions/official-answer';
import { parseRows } from '../../src/questions/python';
import { type BenchmarkItem, type Gold, loadQuestions } from '../../src/questions/question-file';
import type { Rows } from '../../src/sql/equal';
import { tokensOf } from '../../src/sql/lexer';
import {
  type Benchmark,
  BenchmarkDataError,
  type BoardScore,
  type OpenBenchmark,
  type OpenOptions,
  type Prediction,
  type PredictionFormat,
} from '../benchmark';
import { processedSql } from './ehrsql2024-sql';
import { subset } from './ehrsql2024-subset';
import { boardScore, judged, reliabilityMetrics, resultOf, whileConnected } from './execution';
import { firstPath, jsonIn, repeatedKeys, textIn } from './files';

const SPLITS = ['test', 'valid', 'paper-100'] as const;
/** Questions of the split, which paper-100 is drawn from. */
const VALID = 1163;
const NULL = 'null';
const CONTEXT =
  "The current time is 2100-12-31 23:59:00 (records after it do not exist; 'today', 'this year', 'last month' are relative to it).";

const Texts = z.record(z.string(), z.string());
const Data = z.object({ data: z.array(z.object({ id: z.string(), question: z.string() })) });
const Annotated = z.array(z.object({ id: z.string(), template: z.string() }));

async function open(
  folder: string,
  { split = 'test', seed = 0, hiddenKnowledge = false }: OpenOptions,
): Promise<OpenBenchmark> {
  if (!(SPLITS as readonly string[]).includes(split))
    throw new BenchmarkDataError(`ehrsql2024 has no split "${split}": choose one of ${SPLITS.join(', ')}`);
  const part = split === 'paper-100' ? 'valid' : split;
  const data = firstPath(folder, `${part}/data.json`, `mimic_iv/${part}/data.json`, `data/mimic_iv/${part}/data.json`);
  const lines = firstPath(folder, 'questions.jsonl');
  if (data === null && (lines === null || part !== 'valid'))
    throw new BenchmarkDataError(
      lines === null
        ? `${folder} is no folder of EHRSQL-2024: it has neither data/mimic_iv/${part}/data.json nor questions.jsonl`
        : `${lines} holds questions of the split valid, not of ${split}: give --split valid or paper-100, or the publisher's folder`,
    );
  const whole = data === null ? await loadQuestions(lines ?? '', { hiddenKnowledge }) : await official(dirname(data));
  const items = split === 'paper-100' ? subset(whole, seed) : whole;
  const base = data === null ? folder : dirname(dirname(data));
  const file = firstPath(base, 'mimic_iv.sqlite', 'db/mimic_iv.sqlite');
  const golds = new Map(items.map(({ id, gold }) => [id, gold]));
  const isPart = split === 'paper-100' && whole.length !== VALID;
  return {
    items,
    remarks: isPart
      ? [`paper-100 is drawn from ${whole.length} of the ${VALID} questions of valid: it is another one`]
      : [],
    database: () => file,
    score: async (id, prediction, engine, options) => {
      const gold = golds.get(id) ?? null;
      return judged(prediction, gold, (answer) =>
        gold?.answerable === false
          ? Promise.resolve(boardScore('wrong-answered', 'the question cannot be answered from this database'))
          : compare(answer, gold?.sql ?? [], engine, options),
      );
    },
    metrics: reliabilityMetrics,
  };
}

/** The files of one split as they are published; `answer.json` and `annotated.json` may be missing. */
async function official(folder: string): Promise<BenchmarkItem[]> {
  const { data } = await jsonIn(join(folder, 'data.json'), Data);
  const labels = await jsonIn(join(folder, 'label.json'), Texts);
  const optional = async <T>(name: string, schema: z.ZodType<T>): Promise<T | null> =>
    firstPath(folder, name) === null ? null : jsonIn(join(folder, name), schema);
  const answers = await optional('answer.json', Texts);
  const annotated = new Map((await optional('annotated.json', Annotated))?.map(({ id, template }) => [id, template]));
  const ids = new Set<string>();
  for (const { id } of data) {
    if (ids.has(id)) throw new BenchmarkDataError(`${join(folder, 'data.json')}: the id "${id}" stands there twice`);
    ids.add(id);
  }
  const lacking = [...ids].filter((id) => labels[id] === undefined);
  if (lacking.length > 0)
    throw new BenchmarkDataError(`${join(folder, 'label.json')} lacks the gold of ${someOf(lacking)}`);
  return data.map(({ id, question }) => {
    const label = processedSql(labels[id] ?? '');
    const answerable = label !== NULL;
    const answer = answers?.[id];
    const gold: Gold = {
      sql: answerable ? [labels[id] ?? ''] : [],
      answer: answerable && answer !== undefined && answer !== NULL ? parseRows(answer) : null,
      text: null,
      answerable,
      abstainText: null,
      category: annotated.get(id) ?? null,
      difficulty: null,
    };
    const about = { context: CONTEXT, instructions: null, engine: 'sqlite', database: 'mimic_iv' } as const;
    return { id, question, ...about, gold };
  });
}

function compare(
  prediction: Extract<Prediction, { kind: 'sql' | 'rows' }>,
  [label = '']: readonly string[],
  engine: SqlEngine,
  options: SqlOptions,
): Promise<BoardScore> {
  return whileConnected(async () => {
    const sql = prediction.kind === 'sql' ? onlyStatement(processedSql(prediction.statements.join('; '))) : '';
    if (sql === null) return boardScore('wrong', 'there are several statements, and one is run');
    const run = sql === '' ? [] : [sql];
    const { results } = await runAsWritten([...run, processedSql(label)], engine, options, 0);
    const gold = results.at(-1);
    if (gold?.kind !== 'rows')
      return boardScore('gold-failed', gold === undefined ? 'no result' : describeFailure(gold));
    const none = { kind: 'rows', columns: [], rows: [] } as const;
    const given = resultOf(prediction.kind === 'rows' ? prediction : none);
    return match((sql === '' ? null : results[0]) ?? given, gold);
  });
}

/** The statement that Python's SQLite runs of a text: nothing, to no rows, where there is no statement; null: it refuses it. */
function onlyStatement(sql: string): string | null {
  const tokens = tokensOf(sql, 'sqlite');
  const start = tokens.findIndex(({ raw }) => raw !== ';');
  if (start < 0) return '';
  const end = tokens.findIndex(({ raw }, index) => index > start && raw === ';');
  return end >= 0 && end < tokens.length - 1 ? null : sql.slice(tokens[start]?.at, tokens[end]?.at);
}

function match(predicted: SqlResult, gold: Rows): BoardScore {
  if (gold.truncated && predicted.kind === 'rows')
    return !predicted.truncated && predicted.rows.length < COMPARED_ROWS
      ? boardScore('wrong', 'fewer rows than the gold result')
      : boardScore('undecided', 'the gold result is larger than the row cap');
  const found = officialAnswerMatch(predicted, gold.rows);
  switch (found.kind) {
    case 'match':
      return boardScore('correct', 'equal results');
    case 'different':
      return boardScore('wrong', found.reason);
    default:
      return boardScore(found.kind, found.reason);
  }
}

/** `prediction.json`: a map from every id to a query, or to the text `null`. The board takes it zipped, alone. */
const format: PredictionFormat = {
  file: 'prediction.json',
  async read(path, items) {
    const file = await jsonIn(path, z.record(z.string(), z.unknown(), 'has to be one object, from ids to queries'));
    const known = new Map(items.map(({ id }) => [officialId(id), id]));
    const refuse = (ids: readonly string[], problem: string): void => {
      if (ids.length > 0) throw new BenchmarkDataError(`${path}: ${someOf(ids)}: ${problem}`);
    };
    refuse(repeatedKeys(await textIn(path)), 'twice: leave one of each');
    refuse(
      Object.keys(file).filter((id) => !known.has(officialId(id))),
      'no question of the split has this id',
    );
    return new Map(
      Object.entries(file).map(([id, text]) => {
        if (typeof text !== 'string') refuse([id], 'not a text; write the query, or "null" where there is none');
        return [known.get(officialId(id)) ?? id, predictionOf(String(text))];
      }),
    );
  },
  async write(to, items, predictions) {
    const path = extname(to) === '.json' ? to : join(to, 'prediction.json');
    const file = Object.fromEntries(
      items.map(({ id }) => [officialId(id), textOf(id, predictions.get(id) ?? { kind: 'none' })]),
    );
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, `${JSON.stringify(file, null, 2)}\n`);
    return [path];
  },
};

const officialId = (id: string): string => id.replace(/^ehrsql24-(?:test|valid)-/, '');

function predictionOf(text: string): Prediction {
  return processedSql(text) === NULL ? { kind: 'abstained' } : { kind: 'sql', statements: [text] };
}

function textOf(id: string, prediction: Prediction): string {
  if (prediction.kind === 'rows') throw new BenchmarkDataError(`"${id}" has rows, and EHRSQL-2024 takes queries alone`);
  return prediction.kind === 'sql' ? prediction.statements.join('; ') : NULL;
}

export const ehrsql2024: Benchmark = {
  name: 'ehrsql2024',
  title: 'EHRSQL 2024: questions about patients (MIMIC-IV demo), some of them unanswerable',
  source: 'glee4810/ehrsql-2024@46597893d9ffc6b9e67785b9c6dcbb06f1b62568',
  licence: 'questions CC-BY-4.0, data ODbL-1.0',
  splits: SPLITS,
  open,
  format,
};
