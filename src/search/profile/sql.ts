/** The expressions of a profile in every dialect, over the relation `gate_rows` whose columns are `c0`, `c1`, … */
import type { Dialect } from '../../domain';
import type { ProfiledColumn, ProfileJoin } from './queries';

/** Fields of the wide row per column, in order; all of them exist in every dialect. */
export const WIDE_FIELDS = [
  'filled',
  'distinct',
  'min',
  'max',
  'shortest',
  'longest',
  'padded',
  'folded',
  'negative',
  'types',
] as const;

export function profileSql(dialect: Dialect) {
  const postgres = dialect === 'postgresql';
  const snowflake = dialect === 'snowflake';
  const text = (column: string): string => {
    // CAST would leave a VARIANT's text in quotes and fails on an array; a binary value becomes hex.
    if (snowflake) return `TO_VARCHAR(${column})`;
    return postgres ? `${column}::text` : `CAST(${column} AS TEXT)`;
  };
  const ordered = (column: string): string => (postgres ? `${column} COLLATE "C"` : column);
  const loose = (value: string): string =>
    snowflake ? `REGEXP_REPLACE(lower(trim(${value})), '^0+', '')` : `ltrim(lower(trim(${value})), '0')`;
  const digits = (value: string): string =>
    postgres || snowflake
      ? `translate(${value}, '0123456789', '9999999999')`
      : ['0', '1', '2', '3', '4', '5', '6', '7', '8'].reduce(
          (inner, digit) => `replace(${inner}, '${digit}', '9')`,
          value,
        );
  const top = (column: number, kind: string, value: string, where: string, limit: number): string =>
    `SELECT c, k, v, n FROM (SELECT ${column} AS c, '${kind}' AS k, substr(${value}, 1, 120) AS v, count(*) AS n FROM gate_rows WHERE ${where} GROUP BY ${value} ORDER BY count(*) DESC, ${ordered(value)} LIMIT ${limit}) AS q${kind}${column}`;
  const extreme = (index: number, kind: 'h' | 'l'): string =>
    `SELECT c, k, v, n FROM (SELECT ${index} AS c, '${kind}' AS k, ${text(`c${index}`)} AS v, count(*) AS n FROM gate_rows WHERE c${index} IS NOT NULL GROUP BY c${index} ORDER BY c${index} ${kind === 'h' ? 'DESC' : 'ASC'} LIMIT 2) AS q${kind}${index}`;

  return {
    wide(column: ProfiledColumn, index: number): string[] {
      const raw = `c${index}`;
      const value = text(raw);
      const comparable = column.class === 'number' || column.class === 'time';
      const textual = column.class === 'text';
      const edge = (name: 'min' | 'max'): string => {
        if (column.class === 'json' || column.class === 'binary') return 'NULL';
        return comparable ? text(`${name}(${raw})`) : `${name}(${ordered(`substr(${value}, 1, 80)`)})`;
      };
      return [
        `count(${raw})`,
        column.class === 'binary' ? 'NULL' : `count(DISTINCT ${value})`,
        edge('min'),
        edge('max'),
        textual ? `min(length(${value}))` : 'NULL',
        textual ? `max(length(${value}))` : 'NULL',
        textual ? `sum(CASE WHEN ${value} <> trim(${value}) THEN 1 ELSE 0 END)` : 'NULL',
        textual ? `count(DISTINCT lower(trim(${value})))` : 'NULL',
        column.class === 'number' ? `sum(CASE WHEN ${raw} < 0 THEN 1 ELSE 0 END)` : 'NULL',
        dialect === 'sqlite' ? `group_concat(DISTINCT typeof(${raw}))` : 'NULL',
      ];
    },
    same: (one: number, other: number): string =>
      `sum(CASE WHEN ${dialect !== 'sqlite' ? `${text(`c${one}`)} IS NOT DISTINCT FROM ${text(`c${other}`)}` : `c${one} IS c${other}`} THEN 1 ELSE 0 END)`,
    values(column: ProfiledColumn, index: number): string[] {
      if (column.class === 'binary' || column.class === 'json') return [];
      const value = text(`c${index}`);
      const filled = `c${index} IS NOT NULL`;
      const lists = [top(index, 't', value, filled, 12)];
      if (column.class === 'text')
        lists.push(top(index, 'm', digits(value), `${filled} AND length(${value}) <= 60`, 60));
      if (column.class === 'text' || column.class === 'time')
        lists.push(top(index, 's', value, `${filled} AND (${placeholder(value)})`, 6));
      if (column.class === 'number') lists.push(extreme(index, 'h'), extreme(index, 'l'));
      return lists;
    },
    /** Samples many values of usual length and a few long ones, which may have hundreds of keys. */
    json: (index: number): string =>
      [
        [0, 4_000, 300],
        [4_000, 64_000, 20],
      ]
        .map(([above, upTo, rows]) => {
          const length = `length(${text(`c${index}`)})`;
          const where = `c${index} IS NOT NULL AND ${length} > ${above} AND ${length} <= ${upTo}`;
          return `SELECT c, v FROM (SELECT ${index} AS c, ${text(`c${index}`)} AS v FROM gate_rows WHERE ${where} LIMIT ${rows}) AS q${index}_${above}`;
        })
        .join(' UNION ALL '),
    magnitude: (label: number, value: number, index: number): string =>
      `SELECT p, g, n, low, mean, high FROM (SELECT ${index} AS p, substr(${text(`c${label}`)}, 1, 60) AS g, count(c${value}) AS n, min(c${value}) AS low, avg(c${value}) AS mean, max(c${value}) AS high FROM gate_rows WHERE c${value} IS NOT NULL GROUP BY ${text(`c${label}`)} ORDER BY count(c${value}) DESC, ${ordered(text(`c${label}`))} LIMIT 9) AS q${index}`,
    join(join: ProfileJoin, index: number, position: number): string {
      const target = `FROM ${relation(join.table, dialect)} WHERE ${quote(join.references)} IS NOT NULL`;
      const key = text(quote(join.references));
      return `SELECT ${position} AS j, count(*) AS n, sum(CASE WHEN e.v IS NULL THEN 0 ELSE 1 END) AS exact, sum(CASE WHEN l.v IS NULL THEN 0 ELSE 1 END) AS loose
        FROM (SELECT DISTINCT ${text(`c${index}`)} AS v FROM gate_rows WHERE c${index} IS NOT NULL) AS a
        LEFT JOIN (SELECT DISTINCT ${key} AS v ${target}) AS e ON e.v = a.v
        LEFT JOIN (SELECT DISTINCT ${loose(key)} AS v ${target}) AS l ON l.v = ${loose('a.v')}`;
    },
  };
}

const WORDS = [
  '',
  'n/a',
  'na',
  'null',
  '(null)',
  'none',
  'nil',
  'nan',
  'unknown',
  'unk',
  'undefined',
  'missing',
  'not available',
  '#n/a',
  'tbd',
  '?',
  '-',
  '--',
  '.',
  '-1',
  '-999',
  '-9999',
  '9999',
  '99999',
];
const DATES = [
  '9999-12-31',
  '9999-01-01',
  '1970-01-01',
  '1900-01-01',
  '0001-01-01',
  '1753-01-01',
  '0000-00-00',
  '1899-12-30',
  '2999-12-31',
  '2099-12-31',
];

/** A text that stands for "no value". */
const placeholder = (value: string): string =>
  `lower(trim(${value})) IN (${WORDS.map(literal).join(', ')}) OR substr(${value}, 1, 10) IN (${DATES.map(literal).join(', ')})`;

/** A dot separates the schema in PostgreSQL and Snowflake; SQLite names have none. */
export function relation(name: string, dialect: Dialect): string {
  const dot = name.indexOf('.');
  return dialect === 'sqlite' || dot < 0 ? quote(name) : `${quote(name.slice(0, dot))}.${quote(name.slice(dot + 1))}`;
}

export const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const literal = (value: string): string => `'${value.replaceAll("'", "''")}'`;
