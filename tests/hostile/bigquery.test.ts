/** BigQuery's guard: what it refuses, what it lets pass, and which relations it sees. No statement is run anywhere. */
import { createBigQueryEngine, createBigQueryInspector } from '../../src/adapters/bigquery';
import { startBigQuery } from '../helpers/bigquery-server';
import { ALLOWED, READS, REFUSED } from './bigquery/refused';

const inspector = createBigQueryInspector();

test('the corpus has at least 150 statements', () => {
  expect(new Set(REFUSED.map(([sql]) => sql)).size).toBeGreaterThanOrEqual(150);
});

test.each(REFUSED)('refused: %j', (sql, reason) => {
  const inspection = inspector.inspect(sql);
  expect(inspection).toMatchObject({ message: expect.stringMatching(reason) as string });
});

test.each([...READS, ...ALLOWED])('%j reads what it names', (sql, relations) => {
  expect(inspector.inspect(sql)).toMatchObject({ kind: 'select', relations: [...relations].sort() });
});

test('functions of the configuration may be called', () => {
  const own = createBigQueryInspector(['tools.clean', 'p.tools.rows']);
  expect(own.inspect('SELECT tools.clean(a) FROM t, p.tools.rows(1)')).toMatchObject({ kind: 'select' });
  expect(own.inspect('SELECT tools.other(a) FROM t')).toMatchObject({ kind: 'refused' });
});

test('the dry run alone keeps back what the server takes for no SELECT', async () => {
  const server = await startBigQuery({ onQuery: () => ({ fields: [], statementType: 'SCRIPT' }) });
  const load = async () => ({ ...(await import('@google-cloud/bigquery')), fetchImplementation: fetch });
  const options = { key: server.key, allowPrivilegedRole: true, load };
  const engine = createBigQueryEngine({ url: server.url('club'), options });
  try {
    const asked = { timeoutMs: 20_000, maxRows: 10, tag: 'hostile', signal: new AbortController().signal };
    const { results } = await engine.run(
      REFUSED.map(([sql]) => sql),
      asked,
    );
    expect(results.filter(({ kind }) => kind !== 'refused' && kind !== 'sql-error')).toEqual([]);
    expect(server.ran()).toEqual([]);
    expect(server.queries.length).toBeGreaterThan(40);
  } finally {
    await engine.close();
    await server.close();
  }
});
