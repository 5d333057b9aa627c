/** Tables, columns, keys, comments, row counts and sample values of a DuckDB file, from its catalogue in one snapshot. */
import { clip } from '../../clip';
import type { DatabaseDescription, SqlValue, TableDescription } from '../../domain';
import { groupBy } from '../../group-by';
import { relationOf } from '../../sql/dialects';
import { identifier } from '../kit/engine';
import { samplesOf, type Read, type Rows } from '../kit/file-schema';
import { described, SAMPLE_LENGTH } from '../kit/schema';
import { VERSION } from './errors';

const SAMPLED_ROWS = 200;
/** An enumeration lists all of its values. */
const MAX_TYPE_CHARS = 300;

const CATALOGUE = [
  `SELECT ${VERSION}`,
  `SELECT schema_name, table_name, 'table', comment FROM duckdb_tables WHERE NOT internal AND NOT temporary UNION ALL
   SELECT schema_name, view_name, 'view', comment FROM duckdb_views WHERE NOT internal AND NOT temporary ORDER BY 1, 2`,
  `SELECT schema_name, table_name, column_name, lower(data_type), is_nullable, comment FROM duckdb_columns
   WHERE NOT internal ORDER BY schema_name, table_name, column_index`,
  `SELECT schema_name, table_name, constraint_type, constraint_column_names, referenced_table, referenced_column_names
   FROM duckdb_constraints ORDER BY schema_name, table_name, constraint_index`,
];

export async function describeDuckdb(read: Read): Promise<DatabaseDescription> {
  const [versions, names, columns, constraints] = await read(CATALOGUE);
  const columnsOf = groupBy(columns ?? [], keyOf);
  const constraintsOf = groupBy(constraints ?? [], keyOf);
  const tables = (names ?? []).map((row) =>
    tableOf(row, columnsOf.get(keyOf(row)) ?? [], constraintsOf.get(keyOf(row)) ?? []),
  );
  const readable = tables.filter((table) => table.columns.length > 0);
  const sampled = await samplesOf(read, readable, sampleSql);
  return described('duckdb', `DuckDB ${String(versions?.[0]?.[0])}`, readable, sampled);
}

const keyOf = ([schema, table]: Rows[number]): string => JSON.stringify([schema, table]);

/** As statements name it: without the schema `main`, unless a dot in the name would then look like one. */
function nameOf(schema: SqlValue | undefined, table: SqlValue | undefined): string {
  const name = String(table);
  return schema === 'main' && !name.includes('.') ? name : `${String(schema)}.${name}`;
}

function tableOf([schema, table, kind, comment]: Rows[number], columns: Rows, constraints: Rows): TableDescription {
  const keys = (type: string): string[][] =>
    constraints.flatMap(([, , is, names]) => (is === type ? [parsed(names)] : []));
  const [primaryKey = []] = keys('PRIMARY KEY');
  return {
    name: nameOf(schema, table),
    kind: kind === 'view' ? 'view' : 'table',
    comment: textOf(comment),
    rowEstimate: null,
    columns: columns.map(([, , column, type, nullable, note]) => ({
      ...{ name: String(column), type: clip(String(type), MAX_TYPE_CHARS), comment: textOf(note), samples: [] },
      nullable: nullable === true,
    })),
    primaryKey,
    uniqueKeys: keys('UNIQUE'),
    // DuckDB has none across schemas.
    foreignKeys: constraints.flatMap(([, , is, names, target, references]) =>
      is === 'FOREIGN KEY'
        ? [{ columns: parsed(names), table: nameOf(schema, target), references: parsed(references) }]
        : [],
    ),
  };
}

const textOf = (comment: SqlValue | undefined): string | null => (typeof comment === 'string' ? comment : null);
const parsed = (json: SqlValue | undefined): string[] => JSON.parse(String(json)) as string[];

/** DuckDB knows the count without reading the table. */
function sampleSql({ name, kind, columns }: TableDescription, index: number): string {
  const relation = relationOf(name.includes('.') ? name : `main.${name}`, 'duckdb');
  const values = columns.map((column) =>
    column.type === 'blob' ? 'NULL' : `substr(CAST(${identifier(column.name)} AS VARCHAR), 1, ${SAMPLE_LENGTH + 1})`,
  );
  const counted = kind === 'view' ? 'NULL' : `(SELECT count(*) FROM ${relation})`;
  return `SELECT * FROM (SELECT ${index}, ${counted}, [${values.join(', ')}] FROM ${relation} LIMIT ${SAMPLED_ROWS})`;
}
