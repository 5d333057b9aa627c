/**
 * JSON files into a table of texts: one row an object, one column a member. What is nested stays JSON, which is asked with
 * `->` and `->>`, whatever shape other objects have there.
 */
import { cut, visibleLine } from '../../../clip';
import { SqlEngineError } from '../../../domain/ports/sql-engine';
import { identifier, literal } from '../../kit/engine';
import type { Query } from './column-types';
import { MAX_REJECTS, pathLiteral } from './csv';
import { convert, readText } from './encoding';
import { unique, type SourceFile } from './sources';

const MAX_OBJECT_BYTES = 64 * 1024 * 1024;
const MAX_COLUMNS = 2000;

/** Reads a file into the new table `stage`, one JSON value a column; null: the file has no text. */
export async function stageJson(query: Query, file: SourceFile, stage: string, scratch: string) {
  const text = await readText(file.path);
  if (text.head.trim() === '') return null;
  if (text.isForeign) await convert(file.path, text, scratch);
  const path = text.isForeign ? scratch : file.path;
  const format = formatOf(file.name, text.head.trim());
  const options = [
    `format = '${format}', maximum_object_size = ${MAX_OBJECT_BYTES}, ignore_errors = ${format === 'newline_delimited'}`,
  ];
  await query(
    `CREATE TABLE ${stage}_all AS SELECT json FROM read_json_objects(${pathLiteral(path)}, ${options.join(', ')})`,
  ).catch((error: unknown) => {
    const where = /at byte .*?: .*?(?=[.]? *\n|$)/.exec((error as Error).message)?.[0] ?? '';
    throw new SqlEngineError('not-found', `${file.name} is no whole JSON ${where}`.trim(), { cause: error });
  });
  const all = `${stage}_all`;
  const isObject = `coalesce(json_type(json) = 'OBJECT', false)`;
  const [[rejected] = []] = await query(`SELECT count(*) FROM ${all} WHERE NOT ${isObject}`);
  const bad = await query(
    `SELECT rowid + 1, CAST(json AS VARCHAR) FROM ${all} WHERE NOT ${isObject} ORDER BY 1 LIMIT ${MAX_REJECTS}`,
  );
  const found = await query(
    `SELECT key FROM (SELECT unnest(keys) AS key, unnest(range(len(keys))) AS n, place FROM
      (SELECT json_keys(json) AS keys, rowid AS place FROM ${all} WHERE ${isObject})) GROUP BY key ORDER BY min(place), min(n)`,
  );
  const keys = found.map(([key]) => key ?? '');
  if (keys.length > MAX_COLUMNS)
    throw new SqlEngineError(
      'not-found',
      `${file.name} has ${keys.length} names of members, and a table at most ${MAX_COLUMNS} columns`,
    );
  const columns = unique(keys.map((key) => key.replace(/\s+/g, ' ').trim() || 'column'));
  const members = columns.map((name, index) => `${member(keys[index] ?? '')} AS ${identifier(name)}`);
  if (members.length > 0)
    await query(`CREATE TABLE ${stage} AS SELECT ${members.join(', ')} FROM ${all} WHERE ${isObject}`);
  await query(`DROP TABLE ${all}`);
  const rejects = bad.map(([line, shown]) => ({
    ...{ file: file.name, line: Number(line) },
    reason: shown === null ? 'no JSON' : 'no JSON object',
    text: cut(visibleLine(shown ?? ''), 60),
  }));
  return { columns, rejected: Number(rejected), rejects };
}

function member(key: string): string {
  return `json -> ${literal(`$."${key.replace(/["\\]/g, '\\$&')}"`)}`;
}

/** One array, a value a line, or values of several lines. */
function formatOf(name: string, text: string): 'array' | 'newline_delimited' | 'unstructured' {
  if (text.startsWith('[')) return 'array';
  if (/\.(jsonl|ndjson)(\.gz)?$/i.test(name)) return 'newline_delimited';
  try {
    JSON.parse(text.split('\n', 1)[0] ?? '');
    return 'newline_delimited';
  } catch {
    return 'unstructured'; // an object of several lines
  }
}

const NUMBERS = ['BIGINT', 'UBIGINT', 'HUGEINT', 'DOUBLE'];

/** Makes the table of texts `texts` in place of `from`, and gives the kinds that each column may have. */
export async function jsonTexts(query: Query, from: string, columns: readonly string[], texts: string) {
  const types = columns.map((name) => `array_to_string(list(DISTINCT json_type(${identifier(name)})), ',')`);
  const [row = []] = await query(`SELECT ${types.join(', ')} FROM ${from}`);
  const kinds = new Map(columns.map((name, index) => [name, kindsOf((row[index] ?? '').split(','))]));
  const cells = columns.map(
    (name) => `${identifier(name)}${kinds.get(name) === null ? '' : ` ->> '$'`} AS ${identifier(name)}`,
  );
  await query(`CREATE OR REPLACE TABLE ${texts} AS SELECT ${cells.join(', ')} FROM ${from}`);
  await query(`DROP TABLE ${from}`);
  return (name: string): readonly string[] => kinds.get(name) ?? [];
}

/** Null: it stays JSON. */
function kindsOf(types: readonly string[]): readonly string[] | null {
  const values = types.filter((type) => type !== 'NULL' && type !== '');
  if (values.every((type) => NUMBERS.includes(type))) return ['an integer', 'a decimal', 'any number'];
  if (values.every((type) => type === 'BOOLEAN')) return ['true or false'];
  if (values.every((type) => type === 'VARCHAR')) return ['yyyy-mm-dd', 'a time of a day', 'a time with its zone'];
  return null;
}
