/**
 * JSON files into a table of texts: one row an object, one column a member. What is nested stays JSON, which is asked with
 * `->` and `->>`, whatever shape other objects have there.
 */
import { cut, visibleLine } from '../../../clip';
import { counted } from '../../../counted';
import { identifier, literal } from '../../kit/engine';
import type { Query } from './column-types';
import { pathLiteral, type Staged } from './csv';
import { piecesOf, writeText, type Text } from './encoding';
import { MAX_REJECTS } from './report';
import { unique, unreadable } from './sources';

const MAX_OBJECT_BYTES = 64 * 1024 * 1024;
const MAX_COLUMNS = 2000;

/**
 * Reads a file into the new table `stage`, one JSON value a column. `scratch`: where it is written as UTF-8. `lists`: the members
 * whose objects are the rows of other files of the table.
 */
export async function stageJson(
  query: Query,
  file: string,
  text: Text,
  scratch: string,
  lists: ReadonlySet<string>,
): Promise<Staged> {
  await writeText(scratch, piecesOf(text));
  const format = formatOf(file, text.head.trim());
  await query(
    `CREATE OR REPLACE TABLE objects AS SELECT json, coalesce(json_type(json) = 'OBJECT', false) AS is_object FROM read_json_objects(
      ${pathLiteral(scratch)}, format = '${format}', maximum_object_size = ${MAX_OBJECT_BYTES}, ignore_errors = ${format === 'newline_delimited'})`,
  ).catch((error: unknown) => {
    const where = /at byte .*?: .*?(?=[.]? *\n|$)/.exec((error as Error).message)?.[0] ?? '';
    throw unreadable(`it is no whole JSON ${where}`.trim(), error);
  });
  const changes = await changesIn(query, true);
  const inside = isLines(file) ? null : await rowsInside(query, lists);
  const notes = [...(inside?.notes ?? []), ...changes];
  const bad = await query(
    `SELECT rowid + 1, CAST(json AS VARCHAR), count(*) OVER () FROM objects WHERE NOT is_object ORDER BY 1 LIMIT ${MAX_REJECTS}`,
  );
  const found = await query(
    `SELECT key FROM (SELECT unnest(keys) AS key, unnest(range(len(keys))) AS n, place FROM
      (SELECT json_keys(json) AS keys, rowid AS place FROM objects WHERE is_object)) GROUP BY key ORDER BY min(place), arg_min(n, place)`,
  );
  const keys = found.map(([key]) => key ?? '');
  if (keys.length === 0)
    throw unreadable(
      bad.length > 0 ? 'it has no JSON object, and each row is one' : 'it is empty: name a file with a header or rows',
    );
  if (keys.length > MAX_COLUMNS)
    throw unreadable(`it has ${keys.length} names of members, and a table at most ${MAX_COLUMNS} columns`);
  // Their numbers are rounded now.
  if (inside !== null) notes.push(...(await changesIn(query, false)));
  const columns = unique(keys.map((key) => key.replace(/\s+/g, ' ').trim() || 'column'));
  const members = columns.map((name, index) => `${member(keys[index] ?? '')} AS ${identifier(name)}`);
  await query(`CREATE TABLE stage AS SELECT ${members.join(', ')} FROM objects WHERE is_object`);
  await query('DROP TABLE objects');
  const rejects = bad.map(([place, shown]) => ({
    file,
    line: null,
    reason: `value ${place} is no JSON${shown === null ? '' : ' object'}`,
    text: cut(visibleLine(shown ?? ''), 60),
  }));
  return { columns, list: inside?.list ?? null, rejected: Number(bad[0]?.[2] ?? 0), rejects, notes };
}

/** A pointer takes any name. */
const pointer = (key: string): string => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
const member = (key: string): string => `json -> ${literal(pointer(key))}`;

/** Where the file is one object with one list of objects in it, those are the rows: as services answer, and GeoJSON. Null: it is not. */
async function rowsInside(query: Query, lists: ReadonlySet<string>) {
  const members = await query(
    `SELECT key, json_type(value, '/0') = 'OBJECT', substr(CAST(value AS VARCHAR), 1, 100) FROM objects, json_each(json)
      WHERE is_object AND (SELECT count(*) FROM objects) = 1 ORDER BY id`,
  );
  const [[key = null] = [], second] = members.filter(([, isList]) => isList === 'true');
  const empty = members.find(([name, , text]) => lists.has(name ?? '') && text === '[]');
  // As the last page of many has no rows.
  if (key === null && empty !== undefined)
    throw unreadable(`its list ${empty[0]} is empty${besideOf(members, empty[0] ?? '')}`);
  if (key === null || second !== undefined) return null;
  await query(`CREATE OR REPLACE TABLE objects AS SELECT json, coalesce(json_type(json) = 'OBJECT', false) AS is_object
    FROM (SELECT unnest(from_json(${member(key)}, '["JSON"]')) AS json FROM objects)`);
  return { list: key, notes: [`the rows are the objects in ${key}${besideOf(members, key)}`] };
}

function besideOf(members: readonly (readonly (string | null)[])[], key: string): string {
  const beside = members.filter(([name]) => name !== key).map(([name, , text]) => `${name} ${text}`);
  return beside.length > 0 ? `; left out beside: ${cut(beside.join(', '), 300)}` : '';
}

const isLines = (name: string): boolean => /\.(jsonl|ndjson)(\.gz)?$/i.test(name);

/** One array, a value a line, or values of several lines. */
function formatOf(name: string, text: string): 'array' | 'newline_delimited' | 'unstructured' {
  if (text.startsWith('[')) return 'array';
  if (isLines(name)) return 'newline_delimited';
  try {
    JSON.parse(text.split('\n', 1)[0] ?? '');
    return 'newline_delimited';
  } catch {
    return 'unstructured'; // an object of several lines
  }
}

/** What a double keeps of any number. */
const DIGITS = 15;

/** DuckDB reads numbers with a fraction or an exponent as doubles, and of members with the same name the first. */
async function changesIn(query: Query, areNumbersAsWritten: boolean): Promise<string[]> {
  const outside = `regexp_replace(CAST(json AS VARCHAR), '"([^"\\\\]|\\\\.)*"', '', 'g')`;
  const numbers = `regexp_extract_all(${outside}, '[0-9]+[.][0-9]*|[0-9]+[eE]')`;
  const longest = `list_max(list_transform(${numbers}, lambda x: strlen(ltrim(x, '0.'))))`;
  const isLong = `CASE WHEN regexp_matches(CAST(json AS VARCHAR), '[0-9.eE]{${DIGITS + 2}}') THEN ${longest} > ${DIGITS + 1} END`;
  const [[rounded, doubled] = []] = await query(
    `SELECT count(*) FILTER (${isLong}), count(*) FILTER (len(json_keys(json)) > len(list_distinct(json_keys(json))))
      FROM objects WHERE is_object`,
  );
  const told = (count: string | null | undefined, what: string): string[] =>
    Number(count) > 0 ? [`${counted(Number(count), 'object')} ${what}`] : [];
  const long = `with numbers of more than ${DIGITS} digits and a fraction or an exponent, rounded to what a double keeps`;
  return [
    ...(areNumbersAsWritten ? told(rounded, long) : []),
    ...told(doubled, 'with two members of one name, of which the first is read'),
  ];
}

const NUMBERS = ['BIGINT', 'UBIGINT', 'HUGEINT', 'DOUBLE'];

/** Makes texts of the JSON in a table, and gives the kinds that each column may have. */
export async function jsonTexts(query: Query, from: string, columns: readonly string[]) {
  const types = columns.map((name) => `array_to_string(list(DISTINCT json_type(${identifier(name)})), ',')`);
  const [row = []] = await query(`SELECT ${types.join(', ')} FROM ${from}`);
  const kinds = new Map(columns.map((name, index) => [name, kindsOf((row[index] ?? '').split(','))]));
  const cells = columns.map((each) => {
    const name = identifier(each);
    // The null of JSON is NULL.
    return `${kinds.get(each) === null ? `CAST(nullif(CAST(${name} AS VARCHAR), 'null') AS JSON)` : `${name} ->> '$'`} AS ${name}`;
  });
  await query(`CREATE OR REPLACE TABLE ${from} AS SELECT ${cells.join(', ')} FROM ${from}`);
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
