/**
 * LiveSQLBench's scorer: the rows of a query against those of the gold query, after ROUND, DISTINCT and comments are taken
 * out of both.
 */
import type { Dialect, SqlResult } from '../../src/domain';
import type { SqlEngine, SqlOptions } from '../../src/domain/ports';
import { describeFailure } from '../../src/questions/execution-match';
import { normaliseSql } from '../../src/sql/body';
import type { Rows } from '../../src/sql/equal';
import { tokensOf } from '../../src/sql/lexer';
import type { BoardScore, Prediction } from '../benchmark';
import { scored, unanswered, whileConnected, wrong } from './execution';
import { cellText, sqliteType } from './livesqlbench-cells';
import { isQuery, type Line } from './livesqlbench-format';

/** Limits of the official scorer. */
const MAX_ROWS = 10_000;
const TIMEOUT_MS = 60_000;

export function scoreLine(
  line: Line,
  prediction: Prediction,
  engine: SqlEngine,
  options: SqlOptions,
): BoardScore | Promise<BoardScore> {
  if (!isQuery(line)) return scored('no-gold', 'Management: judged by programs on a database that may be written');
  if (line.sol_sql.length === 0) return scored('no-gold', 'no sol_sql: the publisher sends it by e-mail');
  if (prediction.kind !== 'sql')
    return unanswered(prediction) ?? scored('undecided', 'LiveSQLBench is scored from SQL, not from rows');
  if (line.preprocess_sql.length > 0)
    return scored('undecided', 'its preprocess_sql writes, and databases are read-only here');
  const { statements } = prediction;
  return whileConnected(() => compared(line, statements, engine, options));
}

async function compared(
  line: Line,
  predicted: readonly string[],
  engine: SqlEngine,
  options: SqlOptions,
): Promise<BoardScore> {
  const asked = { ...options, timeoutMs: Math.max(options.timeoutMs, TIMEOUT_MS), maxRows: MAX_ROWS };
  const split = (statements: readonly string[]): string[] => statements.flatMap((sql) => singly(sql, engine.dialect));
  const ours = split(predicted.map(withoutRounding));
  const theirs = split(line.sol_sql.map(withoutRounding));
  // The prediction has to run as it is, too.
  const whole = split(predicted);
  const first = whole.join(';') === ours.join(';') ? [] : whole;
  if (ours.length === 0) return wrong('there is no statement in the prediction');
  const { results } = await engine.run([...first, ...ours, ...theirs], asked);
  const failed = results.findIndex(({ kind }) => kind !== 'rows');
  const failure = results[failed];
  if (failure !== undefined && failure.kind !== 'rows') {
    const isGold = failed >= first.length + ours.length;
    return isGold ? scored('gold-failed', describeFailure(failure)) : wrong(describeFailure(failure));
  }
  const [mine, gold] = [results[first.length + ours.length - 1], results.at(-1)].map(rowsOf);
  if (mine === undefined || gold === undefined) return scored('infrastructure', 'the database gave no result');
  if (mine.rows.length === 0 || gold.rows.length === 0)
    return wrong(`${mine.rows.length === 0 ? 'the result' : 'the gold result'} is empty`);
  const texts = await Promise.all([
    rowTexts(mine, ours.at(-1) ?? '', engine, asked),
    rowTexts(gold, theirs.at(-1) ?? '', engine, asked),
  ]);
  return judged(texts[0], texts[1], line.conditions?.order === true);
}

/** psycopg2 runs the statements of a text one after another; here each is run by itself. */
function singly(sql: string, dialect: Dialect): string[] {
  const ends = tokensOf(sql, dialect).flatMap(({ raw, at }) => (raw === ';' ? [at] : []));
  return [0, ...ends.map((at) => at + 1)]
    .map((from, index) => normaliseSql(sql.slice(from, ends[index] ?? sql.length)))
    .filter((one) => one !== '');
}

const rowsOf = (result: SqlResult | undefined): Rows | undefined => (result?.kind === 'rows' ? result : undefined);

/** null: some value equals nothing. An error: what kinds of values these are is not known. */
async function rowTexts(
  { rows, columns }: Rows,
  sql: string,
  engine: SqlEngine,
  options: SqlOptions,
): Promise<string[] | null | SqlResult> {
  const types = engine.dialect === 'sqlite' ? [] : await typesOf(sql, columns.length, engine, options);
  if ('kind' in types) return types;
  const texts = rows.map((row) => row.map((value, index) => cellText(value, types[index] ?? sqliteType(value))));
  return texts.some((row) => row.includes(null)) ? null : texts.map((row) => JSON.stringify(row));
}

/** The names of the types, without running the statement. */
async function typesOf(
  sql: string,
  width: number,
  engine: SqlEngine,
  options: SqlOptions,
): Promise<string[] | SqlResult> {
  const columns = Array.from({ length: width }, (_, index) => `c${index}`);
  const types = columns.map((column) => `pg_typeof(q.${column})::text`).join(', ');
  const statement = `SELECT ${types} FROM (SELECT 1) AS one LEFT JOIN (\n${sql}\n) AS q(${columns.join(', ')}) ON false`;
  const [result] = (await engine.run([statement], options)).results;
  if (result === undefined || result.kind !== 'rows') return result ?? { kind: 'refused', message: 'no result' };
  return (result.rows[0] ?? []).map(String);
}

type Texts = Awaited<ReturnType<typeof rowTexts>>;

function judged(mine: Texts, gold: Texts, ordered: boolean): BoardScore {
  for (const side of [mine, gold])
    if (side !== null && 'kind' in side)
      return scored(
        'undecided',
        `the types of the columns are not known: ${side.kind === 'rows' ? '' : describeFailure(side)}`,
      );
  if (!Array.isArray(mine) || !Array.isArray(gold)) return wrong('a value is NaN, or has no form that is compared');
  const [ours, theirs] = ordered ? [mine, gold] : [[...new Set(mine)].sort(), [...new Set(gold)].sort()];
  const isSame = ours.length === theirs.length && ours.every((row, index) => row === theirs[index]);
  return isSame
    ? scored('correct', 'equal results', { ex: 1 })
    : wrong(ordered ? 'other rows, or another order' : 'other rows');
}

export function withoutRounding(sql: string): string {
  return withoutRound(withoutDistinct(withoutComments(sql)));
}

/** A comment on the last line, without a line break, stays. */
function withoutComments(sql: string): string {
  return sql
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/--[^\n]*?(\r\n|\r|\n)/g, '$1')
    .replace(/\n\s*\n+/g, '\n')
    .trim();
}

/** DISTINCT goes only where it stands between blanks: `COUNT(DISTINCT x)` keeps it, `DISTINCT ON (x)` does not. */
function withoutDistinct(sql: string): string {
  return sql
    .split(' ')
    .filter((word) => word.toLowerCase() !== 'distinct')
    .join(' ');
}

/** Each call becomes its first argument. Parentheses are counted in strings too, and any name that ends so is taken. */
function withoutRound(sql: string): string {
  let rest = sql;
  for (;;) {
    const call = /ROUND\s*\(/i.exec(rest);
    if (call === null) return rest;
    const from = call.index + call[0].length;
    const [argument, close] = endsOf(rest, from);
    if (close === -1) return rest;
    rest = rest.slice(0, call.index) + rest.slice(from, argument).trim() + rest.slice(close + 1);
  }
}

/** The places where the first argument ends, and where the parenthesis that was opened before `from` is closed; -1: nowhere. */
function endsOf(sql: string, from: number): readonly [number, number] {
  let depth = 0;
  let argument = -1;
  for (let at = from; at < sql.length; at += 1) {
    const char = sql.charAt(at);
    if (char === ',' && depth === 0 && argument === -1) argument = at;
    if (char === '(') depth += 1;
    if (char === ')' && depth === 0) return [argument === -1 ? at : argument, at];
    if (char === ')') depth -= 1;
  }
  return [argument, -1];
}
