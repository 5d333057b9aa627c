/** The check made of a probe, as SQLite counts it and as the parsers of both databases read it. */
import type { Dialect, HypothesisOutcome, Test, TestOutcome } from '../../../src/domain';
import { createPostgresInspector } from '../../../src/adapters/postgres/inspector';
import { createSqliteInspector } from '../../../src/adapters/sqlite';
import { readClaim, readCounts } from '../../../src/sql/claims';
import { groundingCheck } from '../../../src/sql/grounding-check';
import { vacuousCheck } from '../../../src/sql/checks';
import { sqliteEngine } from '../roles/fixtures';

const SETUP = `CREATE TABLE lap (device TEXT, gap REAL, behind_s REAL);
${Array.from({ length: 10 }, (_, at) => `INSERT INTO lap VALUES ('${at < 4 ? 'A' : 'B'}', ${at < 4 ? at + 1 : (at + 1) * 1000}, ${at + 1});`).join('\n')}`;

type Counts = Test['hypotheses'][number]['agreement'];
type Agreement = HypothesisOutcome['agreement'];
interface Reading {
  readonly counts: Counts;
  readonly seen: Agreement;
  readonly refuted?: boolean;
  readonly notStored?: boolean;
  /** Its own run of the probe. */
  readonly run?: string;
}

const by = (matching: string, examined: string): Counts => ({ matching, examined });
const of = (matching: number, examined: number): Agreement => ({ matching, examined });

function made(probe: string, readings: readonly Reading[], dialect: Dialect = 'sqlite') {
  const hypotheses = readings.map(({ counts, notStored = false }, at) => ({
    ...{ id: `h${at + 1}`, mapping: `reading ${at + 1}`, expectation: '', predicates: [], agreement: counts },
    ...{ bodyId: 'b', notStored },
  }));
  const outcomes = readings.map(({ seen, refuted, run }, at): HypothesisOutcome => ({
    ...{ id: `h${at + 1}`, agreement: seen },
    predicates: refuted === true ? [{ sql: 'p', outcome: 'false', note: null }] : [],
    ...(run === undefined ? {} : { run: { probeSql: run, result: { kind: 'refused', message: '' } } }),
  }));
  const seen: Pick<TestOutcome, 'probeSql' | 'hypotheses'> = { probeSql: probe, hypotheses: outcomes };
  return groundingCheck(hypotheses, seen, 'h1', dialect);
}

async function counted(sql: string) {
  const { results } = await sqliteEngine(SETUP).run([sql], {
    timeoutMs: 1_000,
    maxRows: 10,
    signal: new AbortController().signal,
    tag: '',
  });
  return readCounts(results[0], 2);
}

const ROWS = 'SELECT device, gap, behind_s FROM lap';
const where = (condition: string) => `(SELECT count(*) FROM observation WHERE ${condition})`;
const ALL = '(SELECT count(*) FROM observation)';
const SECONDS = "CASE WHEN device = 'B' THEN gap / 1000 ELSE gap END = behind_s";
const OWN: Reading = { counts: by(where(SECONDS), ALL), seen: of(10, 10) };
const RIVAL: Reading = { counts: by(where('gap = behind_s'), ALL), seen: of(4, 10) };

const SUMS = `SELECT count(*) AS n, sum(${SECONDS}) AS fits, sum(gap = behind_s) AS plain FROM lap`;
const column = (name: string) => by(`(SELECT ${name} FROM observation)`, '(SELECT n FROM observation)');

test.each<[string, string, readonly Reading[]]>([
  ['counts over the rows of the probe', ROWS, [OWN, RIVAL]],
  [
    'bare counts',
    ROWS,
    [
      { ...OWN, counts: by(`count(*) FILTER (WHERE ${SECONDS})`, 'count(*)') },
      { ...RIVAL, counts: by('count(*) FILTER (WHERE gap = behind_s)', 'count(*)') },
    ],
  ],
  ['columns of a probe that counts', SUMS, [{ ...OWN, counts: column('fits') }, { ...RIVAL, counts: column('plain') }]],
  ['a probe with CTEs', `WITH laps AS (${ROWS}) SELECT * FROM laps`, [OWN, RIVAL]],
  ['a probe with a semicolon and a comment', `${ROWS}; -- all`, [OWN, RIVAL]],
])('counts the reading and its rivals in one row: %s', async (_, probe, readings) => {
  const check = made(probe, readings);
  expect(check).toMatchObject({ counts: [10, 10, 4], rivals: [{ id: 'h2', mapping: 'reading 2' }] });
  expect(await counted(check?.sql ?? '')).toEqual(check?.counts);
  expect(createSqliteInspector().inspect(check?.sql ?? '')).toMatchObject({ kind: 'select', relations: ['lap'] });
  expect(vacuousCheck(check?.sql ?? '', [true], 'sqlite')).toBeNull();
}); // prettier-ignore

test('a probe that ran with the SQL of each reading is counted for each of them', async () => {
  const over = (gap: string) => `WITH op_gap AS (\nSELECT ${gap} AS s, behind_s FROM lap\n)\nSELECT * FROM op_gap`;
  const counts = by(where('s = behind_s'), ALL);
  const check = made('unused', [
    { counts, seen: of(10, 10), run: over("CASE WHEN device = 'B' THEN gap / 1000 ELSE gap END") },
    { counts, seen: of(4, 10), run: over('gap') },
  ]);
  expect(check?.counts).toEqual([10, 10, 10, 4]);
  const seen = await counted(check?.sql ?? '');
  expect(seen).toEqual(check?.counts);
  expect(readClaim(seen, 1)).toEqual({ agreement: of(10, 10), rivals: [of(4, 10)] });
});

test('PostgreSQL reads it, also where the probe reads a table called observation', async () => {
  const inspector = await createPostgresInspector();
  const probe = "SELECT device, gap, behind_s FROM observation WHERE at > now() - interval '1 year'";
  const plain = made(probe, [OWN, RIVAL], 'postgresql');
  expect(inspector.inspect(plain?.sql ?? '')).toMatchObject({ kind: 'select', relations: ['observation'] });
  const filtered = (condition: string) => by(`count(*) FILTER (WHERE ${condition})`, 'count(*)');
  const bare = made(
    ROWS,
    [
      { ...OWN, counts: filtered('gap = behind_s') },
      { ...RIVAL, counts: filtered('gap::int = 1') },
    ],
    'postgresql',
  );
  expect(bare?.sql).toBe(
    `WITH observation AS (\n${ROWS}\n)\nSELECT count(*) AS examined_1,\n  count(*) FILTER (WHERE gap = behind_s) AS matching_1,\n  count(*) FILTER (WHERE gap::int = 1) AS rival_1_1\nFROM observation`,
  );
  expect(inspector.inspect(bare?.sql ?? '')).toMatchObject({ kind: 'select', relations: ['lap'] });
});

test('a rival that lost by a predicate, or says that nothing is stored, is left out; another has to be counted', () => {
  const uncounted: Reading = { counts: null, seen: null, refuted: true };
  const notStored: Reading = { counts: by(where('gap IS NOT NULL'), ALL), seen: of(0, 10), notStored: true };
  expect(made(ROWS, [OWN, uncounted, RIVAL, notStored])).toMatchObject({ counts: [10, 10, 4], rivals: [{ id: 'h3' }] });
  expect(made(ROWS, [OWN, uncounted])).toBeNull();
  expect(made(ROWS, [OWN, notStored])).toBeNull();
});

test.each<[string, string, readonly Reading[]]>([
  ['the reading has no counts', ROWS, [{ counts: null, seen: null }, RIVAL]],
  ['its counts were worth nothing', ROWS, [{ ...OWN, seen: null }, RIVAL]],
  ['the reading is that nothing is stored', ROWS, [{ ...OWN, notStored: true }, RIVAL]],
  ['a rival is left standing without counts', ROWS, [OWN, RIVAL, { counts: null, seen: null }]],
  ['the rivals were counted over other rows', ROWS, [OWN, { ...RIVAL, seen: of(4, 9) }]],
  ['a value is one of several rows', ROWS, [{ ...OWN, counts: by(where(SECONDS), '(SELECT gap FROM observation)') }, RIVAL]],
  ['a value of a row stands beside a count of rows', SUMS, [{ ...OWN, counts: by('(SELECT fits FROM observation)', ALL) }, RIVAL]],
])('there is none where %s', (_, probe, readings) => expect(made(probe, readings)).toBeNull()); // prettier-ignore
