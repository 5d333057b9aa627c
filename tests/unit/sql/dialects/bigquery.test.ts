/** SQL that is made for BigQuery is SQL that BigQuery can read. */
import type { TableDescription } from '../../../../src/domain';
import { createBigQueryInspector } from '../../../../src/adapters/bigquery';
import { firstRows, rowsQueries, rowsWith } from '../../../../src/database/profile/table-rows';
import { conditionOf, countingParts, selectParts } from '../../../../src/sql/checks';
import { clockOperator } from '../../../../src/sql/clock';
import { compilePlan, type PlanOperator } from '../../../../src/sql/compile';
import { isOneValue } from '../../../../src/sql/expression';
import { predicateStatements } from '../../../../src/sql/proof';
import { quotedText } from '../../../../src/sql/dialects';
import { readExpression, textOf } from '../../../../src/sql/tree';
import { readAsBigQuery } from '../../../helpers/bigquery-sql';

const table = (name: string, rowEstimate: number): TableDescription => ({
  ...{ name, kind: 'table', comment: null, rowEstimate, primaryKey: [], uniqueKeys: [], foreignKeys: [] },
  columns: ['id', 'contains', 'über uns'].map((column) => ({
    ...{ name: column, type: 'STRING', nullable: true, comment: null, samples: [] },
  })),
});
const EVENTS = table('own-project.club.events_*', 1e9);

const operator = (name: string, sql: string, reads: readonly string[] = [], bindings = {}): PlanOperator => ({
  ...{ name, body: { sql, reads: [...reads], relations: [...reads], hasWith: false }, bindings },
});
const hypothesis = (matching: string, examined: string) => ({
  ...{ id: 'h1', mapping: '', expectation: '', predicates: ['(SELECT n FROM observation) > 0'], bodyId: null },
  agreement: { matching, examined },
});
const CHECK = [
  { name: 'claim_1', columns: ['examined_1', 'matching_1'], sql: 'SELECT COUNT(*), COUNTIF(ok) FROM team' },
];

const MADE: readonly (readonly [string, readonly string[]])[] = [
  ['a profile', rowsQueries(EVENTS, 'bigquery')],
  ['first rows', [firstRows(EVENTS, 'bigquery', 5)]],
  ['rows with a value', [rowsWith(EVENTS, { column: 'contains', values: ["it's", 'a\\', 'b\nc"`'] }, 'bigquery', 5)]],
  ['a check', [selectParts(CHECK, 'bigquery')]],
  ['predicates', predicateStatements('SELECT 1 AS n', { hypotheses: [hypothesis('(SELECT n AS x FROM observation)', '(SELECT COUNT(*) AS x FROM observation)')] }, 'bigquery')], // prettier-ignore
  ['a predicate of several rows', predicateStatements('SELECT * FROM observation', { hypotheses: [hypothesis('(SELECT n FROM observation) + (SELECT n FROM t)', '1')] }, 'bigquery')], // prettier-ignore
  ['a plan with a clock', [compilePlan([clockOperator('2026-11-22 09:30:00', 'bigquery'), operator('late', 'SELECT id FROM t, gate_clock WHERE t.at < now', ['gate_clock'])], 'bigquery')]], // prettier-ignore
  ['a plan that recurses', [compilePlan([operator('tree', 'SELECT 1 AS n UNION ALL SELECT n + 1 FROM tree WHERE n < 3', ['tree'])], 'bigquery')]], // prettier-ignore
  ['a plan whose names are swapped', [compilePlan([operator('a', 'SELECT 1 AS n'), operator('b', 'SELECT 2 AS n'), operator('at', 'SELECT * FROM a, b', ['a', 'b'], { a: 'b', b: 'a' })], 'bigquery')]], // prettier-ignore
];

test.each(MADE)('%s', (_, statements) => {
  expect(statements).not.toEqual([]);
  for (const sql of statements) {
    expect(() => readAsBigQuery(sql)).not.toThrow();
    expect(createBigQueryInspector().inspect(sql)).toMatchObject({ kind: 'select' });
  }
});

test('a text is one literal, whatever is in it', () => {
  expect(quotedText("a'b\\c\nd", 'bigquery')).toBe("'a\\'b\\\\c\\nd'");
  expect(quotedText("a'b\\c", 'snowflake')).toBe("'a\\'b\\\\c'");
  expect(quotedText("a'b\\c", 'duckdb')).toBe("'a''b\\c'");
});

test('the query that a check counts by is found without the row that names its columns', () => {
  expect(countingParts(selectParts(CHECK, 'bigquery'), 'bigquery')).toEqual(CHECK.map(({ sql }) => sql));
});

test('COUNTIF is a count', () => {
  const count = readExpression('COUNTIF(city IS NULL)', 'bigquery');
  expect(count === null ? null : textOf(conditionOf(count, 'bigquery') ?? count)).toBe('city is null');
  expect(isOneValue('COUNTIF(city IS NULL) = 0', 'bigquery')).toBe(true);
});
