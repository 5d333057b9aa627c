import { createHash } from 'node:crypto';
import type { Operator } from '../../../src/domain';
import { operatorShape, toOperatorView } from '../../../src/sql/body';

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
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
