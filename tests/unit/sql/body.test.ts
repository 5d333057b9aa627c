import fc from '../../helpers/property';
import { createHash } from 'node:crypto';
import {
  bodyId,
  textOf,
  makeBody,
  makeOperatorBody,
  normaliseSql,
  plainSql,
  operatorShape,
  toOperatorView,
} from '../../../src/sql/body';
import type { Operator } from '../../../src/domain';

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
const inspection = (relations: string[]) => ({ kind: 'select' as const, relations, ctes: [], hasWith: false });

test.each([
  ['  SELECT 1 ;; \n', 'SELECT 1'],
  ['SELECT 1 -- the end', 'SELECT 1'],
  ['SELECT 1; /* a; */ -- b\n ;', 'SELECT 1'],
  ["SELECT '; -- no comment'", "SELECT '; -- no comment'"],
  ["SELECT 'it''s -- ;' ; -- x", "SELECT 'it''s -- ;'"],
  ["SELECT E'it\\'s; -- ' ; -- x", "SELECT E'it\\'s; -- '"],
  ['SELECT "a;--b" FROM t -- x', 'SELECT "a;--b" FROM t'],
  ['SELECT $q$ ; -- $q$ ; ', 'SELECT $q$ ; -- $q$'],
  ['SELECT 1 -- one\n + 1', 'SELECT 1 -- one\n + 1'],
])('only what follows the last token is dropped: %j', (sql, expected) => expect(normaliseSql(sql)).toBe(expected));

test.each([
  ['SELECT  A -- b\n FROM ( t ) , U', 'select a from(t),u'],
  ["E'it\\'s'  || N'A' || 'it''s'", "e'it\\'s' || n'A' || 'it''s'"],
  ['"A ""B"""  `C` [D]', '"A ""B""" `C` [d]'],
  ['$q$ A -- $q$ a$Q$ B  C $q$', '$q$ A -- $q$ a$q$ b c $q$'],
  ['/* a /* b */ C */ É𐐀', 'c */ é𐐀'],
  ["'not  CLOSED", "'not  CLOSED"],
])('ids are hashes of one form of a text, which never changes: %j', (sql, expected) =>
  expect(plainSql(sql)).toBe(expected),
);

test('normalising twice changes nothing', () =>
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('SELECT 1', "'", '"', ';', ' ', '--', '\n', '/*', '*/', '$$', 'x')),
      (parts) => {
        const once = normaliseSql(parts.join(''));
        expect(normaliseSql(once)).toBe(once);
      },
    ),
  ));

test('the id of a body covers its text and the operators it reads, not what stands after the text', () => {
  const one = makeBody('SELECT * FROM op_a', ['op_a'], inspection(['op_a']), hash);
  expect(makeBody('SELECT * FROM op_a; -- x', ['op_a'], inspection(['op_a']), hash).bodyId).toBe(one.bodyId);
  expect(makeBody('SELECT * FROM op_a', [], inspection(['op_a']), hash).bodyId).not.toBe(one.bodyId);
  expect(one.bodyId).toMatch(/^b[0-9a-f]{16}\.[0-9a-f]{8}$/);
  expect(makeBody('SELECT 1', [], inspection([]), hash).bodyId).toMatch(/^b[0-9a-f]{16}$/);
});

test('S4: the same inputs in exchanged places make another body', () => {
  const id = (one: string, two: string) =>
    bodyId(`SELECT ${one}.n - ${two}.n AS n FROM ${one} CROSS JOIN ${two}`, ['op_a', 'op_b'], hash);
  expect(id('op_a', 'op_b')).not.toBe(id('op_b', 'op_a'));
});

test('S4: the names of the operators that it reads make another body of the same text', () => {
  const id = (sql: string, ...reads: string[]) => bodyId(sql, reads.sort(), hash);
  const one = id('SELECT op_rows.n FROM op_rows JOIN "op_more" m ON m.n = op_rows.n', 'op_rows', 'op_more');
  const two = id('SELECT op_x.n FROM OP_X JOIN op_y m ON m.n = op_x.n', 'op_x', 'op_y');
  expect(one).not.toBe(two);
  expect(textOf(one)).toBe(textOf(two));
  for (const other of [
    id('SELECT op_y.n FROM op_x JOIN op_y m ON m.n = op_x.n', 'op_x', 'op_y'),
    id('SELECT op_x.n FROM op_x JOIN op_y m ON m.n = op_x.n', 'op_x'),
    id("SELECT op_x.n FROM op_x JOIN op_y m ON m.n = op_x.n WHERE m.t = 'op_x'", 'op_x', 'op_y'),
  ])
    expect(textOf(other)).not.toBe(textOf(one));
  const said = (name: string) => textOf(id(`SELECT n FROM ${name} WHERE t = 'op_rows'`, name));
  expect(said('op_rows')).toBe(said('op_x'));
});

test('S4: another layout, case or comment is the same body; another text, name or sign is not', () => {
  const id = (sql: string) => bodyId(sql, [], hash);
  const one = id("SELECT DISTINCT a, Count(b) FROM t WHERE c = 'X ( y' AND d IN (1, 2)");
  expect(id("select distinct a,count( b )\n  from T -- rows\n where c = 'X ( y' /* ! */ and d in(1,2)")).toBe(one);
  expect(id("SELECT DISTINCT a, Count(b) FROM t WHERE c = 'X (y' AND d IN (1, 2)")).not.toBe(one);
  expect(id("SELECT DISTINCT a, Count(b) FROM t WHERE c = 'x ( y' AND d IN (1, 2)")).not.toBe(one);
  expect(id('SELECT "A" FROM t')).not.toBe(id('SELECT "a" FROM t'));
  expect(id('SELECT a - -b FROM t')).not.toBe(id('SELECT a --b FROM t'));
  expect(id('SELECT a b FROM t')).not.toBe(id('SELECT ab FROM t'));
});

test('a body records only the operators that its text reads, apart from base relations', () => {
  const body = makeBody('…', ['op_b', 'op_a', 'op_c'], inspection(['orders', 'op_b', 'op_a']), hash);
  expect(body).toMatchObject({ reads: ['op_a', 'op_b'], relations: ['orders'], recursive: false });
});

test('a body that reads its own operator is recursive', () => {
  const operator = { name: 'op_n', inputs: ['op_a'] };
  expect(makeOperatorBody('…', operator, inspection(['op_n']), hash)).toMatchObject({
    recursive: true,
    reads: ['op_n'],
  });
  expect(makeOperatorBody('…', operator, inspection(['op_a']), hash).recursive).toBe(false);
});

const operator: Operator = {
  name: 'op_gap',
  purpose: 'gaps',
  intent: 'gap of each car in seconds',
  relations: ['results', 'Races'],
  inputs: ['op_races'],
  columns: [
    { name: 'car', type: 'integer', meaning: 'the car' },
    { name: 'gap', type: 'number', meaning: 'seconds' },
  ],
  grain: ['car', 'race'],
  body: { kind: 'assumed', bodyId: 'b1', assumptions: [{ kind: 'unit', statement: 'seconds', risk: 0.4 }] },
};

test('S3: the shape ignores case, the order of relations and grain, meanings, name and intent', () => {
  const other: Operator = {
    ...operator,
    name: 'op_other',
    intent: 'x',
    relations: ['races', 'RESULTS'],
    grain: ['RACE', 'car'],
    columns: operator.columns.map((column) => ({ ...column, name: column.name.toUpperCase(), meaning: '' })),
  };
  expect(operatorShape(other, hash)).toBe(operatorShape(operator, hash));
});

test.each<[string, Partial<Operator>]>([
  ['relations', { relations: ['results'] }],
  ['column order', { columns: [...operator.columns].reverse() }],
  ['column types', { columns: operator.columns.map((column) => ({ ...column, type: 'text' as const })) }],
  ['grain', { grain: ['car'] }],
])('S3: another %s is another shape', (_, change) =>
  expect(operatorShape({ ...operator, ...change }, hash)).not.toBe(operatorShape(operator, hash)),
);

test('the view of an operator carries its state, its highest risk and no text', () => {
  expect(toOperatorView(operator, hash)).toMatchObject({
    state: 'assumed',
    bodyId: 'b1',
    risk: 0.4,
    assumptions: 1,
    readsBase: true,
  });
  const open = toOperatorView({ ...operator, relations: [], body: { kind: 'unresolved', mapping: 'unit?' } }, hash);
  expect(open).toMatchObject({ state: 'unresolved', bodyId: null, risk: 0, assumptions: 0, readsBase: false });
});
