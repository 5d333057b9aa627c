import { validateBody, validateExpression, validateSelect } from '../../../src/sql/validate';

const select = (...relations: string[]) => ({ kind: 'select' as const, relations, ctes: [], hasWith: false });
const operator = { name: 'op_b', relations: ['orders', 'sales.items'], inputs: ['op_a'] };

test('S8: a body may read its relations in any case and with or without their schema, its inputs and itself', () => {
  expect(validateBody(select('public.ORDERS', 'items', 'op_a', 'op_b'), operator)).toBeNull();
});

test('S8: a body that reads an undeclared relation or another operator is told which', () => {
  expect(validateBody(select('customers'), operator)).toContain('reads customers, not among its relations');
  expect(validateBody(select('other.items'), operator)).toContain('reads other.items');
  expect(validateBody(select('op_c'), operator)).toContain('reads op_c, not among its inputs');
});

test('S8: what the parser refuses is passed on in its words', () => {
  expect(validateBody({ kind: 'refused', message: 'two statements; write one SELECT' }, operator)).toContain(
    'two statements',
  );
});

test('a probe may not read the operator under test or one without SQL', () => {
  const known = { relations: ['orders'], operators: ['op_a'] };
  expect(validateSelect(select('orders', 'op_a'), 'the probe of op_b', known)).toBeNull();
  expect(validateSelect(select('op_b'), 'the probe of op_b', known)).toContain(
    'op_b, which has no SQL yet or is under test',
  );
  expect(validateSelect(select('nothing'), 'the probe of op_b', known)).toContain('which the schema does not have');
});

test('S2: a predicate must read the observation and nothing else', () => {
  expect(validateExpression(select('observation'), 'a predicate of h1')).toBeNull();
  expect(validateExpression(select('observation', 'orders'), 'a predicate of h1')).toContain('reads orders');
  expect(validateExpression(select(), 'a predicate of h1')).toContain('says nothing about the data');
});
