/**
 * Tables, columns, keys, comments and samples, by requests that cost nothing: lists, tables and their first rows. A table of the
 * address's dataset has its bare name, unless another project pays: then names are whole paths, which mean the same everywhere.
 * Tables that differ in a date at the end of their names are shown as one, as a wildcard reads them.
 */
import type bigquery from '@google-cloud/bigquery/build/src/types';
import { cut } from '../../clip';
import type { DatabaseDescription, SqlValue, TableDescription } from '../../domain';
import { groupBy } from '../../group-by';
import { each } from '../../limiter';
import { sha256 } from '../../sha256';
import { described, SAMPLE_LENGTH, sampled, type Sampled } from '../kit/schema';
import { path, type Call } from './client';
import { gone, isGone } from './errors';
import type { Target } from './target';
import { typeText, valuesOf, type Field, type Row } from './values';

type Details = bigquery.ITable;
type TableReference = Required<bigquery.ITableReference>;
/** A table of a list. */
interface Listed {
  readonly tableReference: TableReference;
  readonly type?: string;
}

/** One table, or the shards of one, of which the newest stands for all. */
interface Relation {
  readonly name: string;
  readonly newest: Listed;
  readonly suffixes: readonly string[];
}

const MAX_TABLES = 5_000;
const AT_ONCE = 8;
const SAMPLED_ROWS = 100;
const SAMPLING_MS = 10_000;
const MAX_TYPE_CHARS = 2_000;
const MAX_FIELD_NOTES_CHARS = 600;

/** A relation as the server tells of it. */
interface Found extends Relation {
  readonly details: Details;
}

/** What the server tells of each table: one request a table. */
export async function readTables(call: Call, target: Target, schemas: readonly string[]): Promise<readonly Found[]> {
  const listed = (await datasetsOf(call, target, schemas)).flat();
  const read = async (relation: Relation): Promise<Found[]> => {
    const place = placeOf(relation.newest.tableReference);
    const details = await gone(call<Details>(place, { query: { fields: DETAILS } }));
    return details === null ? [] : [{ ...relation, details }];
  };
  return (await each(relationsOf(listed, namesFor(target)), read, AT_ONCE)).flat();
}

/** A hash of what the server tells, each table's number of rows to a power of two. */
export function revisionOfTables(found: readonly Found[]): string {
  const power = (rows = '0'): number => Math.round(Math.log2(Number(rows) + 1));
  const told = found.map(({ details, ...one }) => ({
    ...one,
    details: { ...details, numRows: power(details.numRows) },
  }));
  return sha256(JSON.stringify(told));
}

export async function describeBigQuery(
  call: Call,
  target: Target,
  found: readonly Found[],
): Promise<DatabaseDescription> {
  const nameOf = namesFor(target);
  const foundOf = new Map(found.map((one) => [one.name, one]));
  const tables = found.map((one) => {
    const table = tableOf(one, nameOf);
    // Only keys to tables that are described.
    return { ...table, foreignKeys: table.foreignKeys.filter((key) => foundOf.has(key.table)) };
  });
  const sample = async ({ name }: TableDescription): Promise<Sampled> => {
    const { newest, details } = foundOf.get(name) ?? {};
    if (newest === undefined || details?.type !== 'TABLE') return { rows: [], count: null };
    const fields = details.schema?.fields ?? [];
    const query = { maxResults: SAMPLED_ROWS, 'formatOptions.useInt64Timestamp': true };
    const place = `${placeOf(newest.tableReference)}/data`;
    const { rows = [] } = await call<{ readonly rows?: readonly Row[] }>(place, { query });
    return { rows: rows.map((row) => valuesOf(fields, row).map(short)), count: null };
  };
  const samples = await sampled(tables, sample, { withinMs: SAMPLING_MS, atOnce: AT_ONCE, isOwn: isGone });
  return described('bigquery', 'BigQuery', tables, samples);
}

const short = (value: SqlValue): SqlValue => (typeof value === 'string' ? cut(value, SAMPLE_LENGTH + 1) : value);

const DETAILS =
  'type,schema,description,numRows,timePartitioning,rangePartitioning,clustering,requirePartitionFilter,tableConstraints';

/** The tables of the address's dataset, and of each further one, `dataset` of the same project or `project.dataset`. */
export function datasetsOf(
  call: Call,
  { project, dataset }: Target,
  schemas: readonly string[],
): Promise<readonly Listed[][]> {
  const tablesOf = async (schema: string): Promise<Listed[]> => {
    const dot = schema.lastIndexOf('.');
    const place = path`projects/${dot < 0 ? project : schema.slice(0, dot)}/datasets/${schema.slice(dot + 1)}/tables`;
    const found: Listed[] = [];
    for (let pageToken: string | undefined; found.length < MAX_TABLES;) {
      const query = { maxResults: 1000, pageToken };
      const page = await call<{ tables?: Listed[]; nextPageToken?: string }>(place, { query });
      found.push(...(page.tables ?? []).filter(({ type }) => type !== 'MODEL'));
      pageToken = page.nextPageToken;
      if (pageToken === undefined) break;
    }
    return found;
  };
  return each([`${project}.${dataset}`, ...schemas], tablesOf, AT_ONCE);
}

export const placeOf = ({ projectId, datasetId, tableId }: TableReference): string =>
  path`projects/${projectId}/datasets/${datasetId}/tables/${tableId}`;

type NameOf = (table: TableReference) => string;

function namesFor({ project, dataset, billing }: Target): NameOf {
  return ({ projectId, datasetId, tableId }) => {
    if (billing !== project || projectId !== project) return `${projectId}.${datasetId}.${tableId}`;
    return datasetId === dataset ? tableId : `${datasetId}.${tableId}`;
  };
}

const SHARD = /^(.*\D)(\d{8})$/;

function relationsOf(listed: readonly Listed[], nameOf: NameOf): Relation[] {
  const groups = groupBy(listed, ({ tableReference: table }) =>
    nameOf({ ...table, tableId: table.tableId.replace(SHARD, '$1*') }),
  );
  return [...groups].flatMap(([name, tables]): Relation[] => {
    const suffixes = tables.flatMap(({ tableReference: { tableId } }) => SHARD.exec(tableId)?.[2] ?? []).sort();
    const [newest] = [...tables].sort((a, b) => (a.tableReference.tableId < b.tableReference.tableId ? 1 : -1));
    if (tables.length > 1 && newest !== undefined) return [{ name, newest, suffixes }];
    return tables.map((table) => ({ name: nameOf(table.tableReference), newest: table, suffixes: [] }));
  });
}

function tableOf({ name, suffixes, details }: Found, nameOf: NameOf): TableDescription {
  const { primaryKey, foreignKeys = [] } = details.tableConstraints ?? {};
  const rows = Number(details.numRows ?? NaN);
  return {
    name,
    kind: details.type === 'TABLE' || details.type === 'EXTERNAL' || details.type === 'SNAPSHOT' ? 'table' : 'view',
    comment: commentOf(details, suffixes),
    rowEstimate: Number.isFinite(rows) && details.type !== 'VIEW' ? rows * Math.max(1, suffixes.length) : null,
    columns: (details.schema?.fields ?? []).map((field) => ({
      name: field.name ?? '',
      type: cut(typeText(field), MAX_TYPE_CHARS),
      nullable: field.mode !== 'REQUIRED',
      comment:
        [field.description, cut(fieldNotes(field).join('; '), MAX_FIELD_NOTES_CHARS)].filter(Boolean).join('; ') ||
        null,
      samples: [],
    })),
    primaryKey: [...(primaryKey?.columns ?? [])],
    uniqueKeys: [],
    foreignKeys: foreignKeys.map(({ referencedTable, columnReferences = [] }) => ({
      columns: columnReferences.map(({ referencingColumn = '' }) => referencingColumn),
      table: nameOf(referencedTable as TableReference),
      references: columnReferences.map(({ referencedColumn = '' }) => referencedColumn),
    })),
  };
}

function commentOf(
  { description, timePartitioning, rangePartitioning, clustering, requirePartitionFilter }: Details,
  suffixes: readonly string[],
): string | null {
  const by = timePartitioning ?? rangePartitioning;
  const unit = timePartitioning?.type === undefined ? '' : ` (${timePartitioning.type})`;
  const partitions = by && `partitioned by ${by.field ?? '_PARTITIONTIME'}${unit}`;
  const parts = [
    description,
    suffixes.length > 0 &&
      `${suffixes.length} tables, _TABLE_SUFFIX from '${suffixes[0] ?? ''}' to '${suffixes.at(-1) ?? ''}'; the rows of the newest times their number are estimated`,
    partitions && `${partitions}${requirePartitionFilter === true ? ', which a WHERE must compare' : ''}`,
    clustering?.fields && `clustered by ${clustering.fields.join(', ')}`,
  ];
  return parts.filter(Boolean).join('; ') || null;
}

/** What is said of fields inside of a column, by their paths. */
function fieldNotes({ name = '', fields = [] }: Field): string[] {
  return fields.flatMap((field) => {
    const at = `${name}.${field.name ?? ''}`;
    const own = field.description === undefined || field.description === '' ? [] : [`${at}: ${field.description}`];
    return [...own, ...fieldNotes({ ...field, name: at })];
  });
}
