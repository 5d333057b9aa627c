import Database from 'libsql';
import fc from '../../helpers/property';
import { compilePlan, compileSelect, type PlanOperator } from '../../../src/sql/compile';
import { quoteIdentifier } from '../../../src/sql/dialects';

const operator = (
  name: string,
  sql: string,
  reads: string[] = [],
  bindings: Record<string, string> = {},
  relations = reads,
): PlanOperator => ({
  name,
  body: { sql, reads, relations, hasWith: /^with\b/i.test(sql) },
  bindings,
});

function sqlite(setup = ''): { all: (sql: string) => unknown[]; exec: (sql: string) => void; close: () => void } {
  const database = new Database(':memory:');
  database.exec(setup);
  return {
    all: (sql) => database.prepare(sql).raw(true).all(),
    exec: (sql) => database.exec(sql),
    close: () => database.close(),
  };
}
const evaluate = (sql: string, setup?: string): unknown[] => {
  const database = sqlite(setup);
  try {
    return database.all(sql);
  } finally {
    database.close();
  }
};

describe('S8: the plan becomes one WITH query', () => {
  test('the last body is the main query, so its order holds', () => {
    const plan = [
      operator('op_a', 'SELECT 1 AS n UNION SELECT 2'),
      operator('op_z', 'SELECT n FROM op_a ORDER BY n DESC', ['op_a']),
    ];
    const sql = compilePlan(plan, 'sqlite');
    expect(sql).toBe('WITH op_a AS (\nSELECT 1 AS n UNION SELECT 2\n)\nSELECT n FROM op_a ORDER BY n DESC');
    expect(evaluate(sql)).toEqual([[2], [1]]);
  });

  test('the order holds when the last body brings its own WITH', () => {
    const last = operator('op_z', 'WITH t AS (SELECT n FROM op_a) SELECT n FROM t ORDER BY n DESC', ['op_a']);
    const plan = [operator('op_a', 'SELECT 1 AS n UNION SELECT 3 UNION SELECT 2'), last];
    expect(evaluate(compilePlan(plan, 'sqlite'))).toEqual([[3], [2], [1]]);
    expect(compilePlan(plan, 'postgresql')).toContain(')\nSELECT * FROM (\nWITH t AS');
  });

  test('where a subquery with a WITH sees no CTE around it, the lists become one, or the query a CTE', () => {
    const a = operator('op_a', 'SELECT 1 AS n');
    const own = (sql: string): string => compilePlan([a, operator('op_z', sql, ['op_a'])], 'mysql');
    expect(own('WITH t AS (SELECT n FROM op_a) SELECT n FROM t ORDER BY n')).toBe(
      'WITH op_a AS (\nSELECT 1 AS n\n),\nt AS (SELECT n FROM op_a) SELECT n FROM t ORDER BY n',
    );
    expect(own('with recursive t AS (SELECT n FROM op_a) SELECT n FROM t')).toBe(
      'WITH RECURSIVE op_a AS (\nSELECT 1 AS n\n),\nt AS (SELECT n FROM op_a) SELECT n FROM t',
    );
    const shadows = 'WITH t AS (SELECT n FROM op_a), op_a AS (SELECT 2 AS n) SELECT t.n FROM t, op_a';
    expect(own(shadows)).toBe(
      `WITH op_a AS (\nSELECT 1 AS n\n),\ngate_body AS (\n${shadows}\n)\nSELECT * FROM gate_body`,
    );
  });

  test('there a subquery with a WITH that reads an operator becomes a CTE after it, and no other one does', () => {
    const a = operator('op_a', 'SELECT 1 AS n');
    const sql = 'SELECT n, (WITH t AS (SELECT 2 AS m) SELECT m FROM t) FROM (WITH t AS (SELECT n FROM op_a) SELECT n FROM t) AS u';
    const [own, read] = ['(WITH t AS (SELECT 2 AS m) SELECT m FROM t)', 'WITH t AS (SELECT n FROM op_a) SELECT n FROM t'];
    expect(compilePlan([a, operator('op_z', sql, ['op_a'])], 'mysql')).toBe(
      `WITH op_a AS (\nSELECT 1 AS n\n),\ngate_with_1 AS (\n${read}\n)\nSELECT n, ${own} FROM (SELECT * FROM gate_with_1) AS u`,
    );
    expect(compilePlan([a, operator('op_z', sql, ['op_a'])], 'sqlite')).not.toContain('gate_with_1');
  }); // prettier-ignore

  test('there other names for operators stand in the text, and a CTE that would hide what an operator reads is refused', () => {
    const [a, b] = [operator('op_a', "SELECT 'a' AS v"), operator('op_b', "SELECT 'b' AS v")];
    const swapped = operator('op_c', "SELECT op_a.v, 'op_a' FROM op_a, \"OP_B\" y", ['op_a', 'op_b'], { op_a: 'op_b', op_b: 'op_a' });
    expect(compilePlan([a, b, swapped], 'mysql')).toContain("\nSELECT op_b.v, 'op_a' FROM op_b, op_a y");
    const table = operator('op_t', 'SELECT n FROM orders', [], {}, ['orders']);
    const hiding = 'WITH more (n) AS (SELECT 1), Orders AS (SELECT 2 AS n) SELECT op_t.n FROM op_t, orders';
    const last = operator('op_z', hiding, ['op_t']);
    const refused = /has a CTE called orders and reads op_t, .* give the CTE another name/;
    expect(() => compilePlan([table, last], 'mysql')).toThrow(refused);
    expect(() => compilePlan([table, last, operator('op_zz', 'SELECT 1 FROM op_z', ['op_z'])], 'mysql')).toThrow(refused);
    expect(() => compilePlan([table, last], 'sqlite')).not.toThrow();
    const harmless = operator('op_y', 'WITH t AS (SELECT n FROM orders) SELECT t.n FROM t, op_t', ['op_t'], {}, ['orders', 'op_t']);
    expect(compilePlan([table, harmless], 'mysql')).toMatch(/^WITH op_t AS/);
  }); // prettier-ignore

  test('only the ancestors of the asked operator are compiled', () => {
    const plan = [
      operator('op_a', 'SELECT 1 AS n'),
      operator('op_b', 'SELECT 2 AS n'),
      operator('op_c', 'SELECT n FROM op_a', ['op_a']),
    ];
    expect(compilePlan(plan, 'sqlite')).not.toContain('op_b');
    expect(compilePlan(plan, 'sqlite', 'op_b')).toBe('SELECT 2 AS n');
  });

  test('two names may change places between the text and the plan', () => {
    const plan = [
      operator('op_a', "SELECT 'a' AS v"),
      operator('op_b', "SELECT 'b' AS v"),
      operator('op_c', 'SELECT x.v, y.v FROM op_a x, op_b y', ['op_a', 'op_b'], { op_a: 'op_b', op_b: 'op_a' }),
    ];
    expect(evaluate(compilePlan(plan, 'sqlite'))).toEqual([['b', 'a']]);
  });

  test('names may change places in a body that brings its own WITH, below another operator', () => {
    const plan = [
      operator('op_a', "SELECT 'a' AS v"),
      operator('op_b', "SELECT 'b' AS v"),
      operator('op_c', 'WITH t AS (SELECT x.v || y.v AS v FROM op_a x, op_b y) SELECT * FROM t', ['op_a', 'op_b'], {
        op_a: 'op_b',
        op_b: 'op_a',
      }),
      operator('op_d', 'SELECT v || p.w FROM op_c, (SELECT v AS w FROM op_a) p', ['op_c', 'op_a']),
    ];
    expect(evaluate(compilePlan(plan, 'sqlite'))).toEqual([['baa']]);
  });

  test('a body may be bound to an operator whose name another of its names uses', () => {
    const plan = [
      operator('op_x', 'SELECT 1 AS n'),
      operator('op_y', 'SELECT n + 10 AS n FROM op_x', ['op_x']),
      operator('op_z', 'SELECT a.n, b.n FROM op_x a, op_w b', ['op_w', 'op_x'], { op_x: 'op_y', op_w: 'op_x' }),
    ];
    expect(evaluate(compilePlan(plan, 'sqlite'))).toEqual([[11, 1]]);
  });

  test('a body that reads itself becomes WITH RECURSIVE, last or not, under any name', () => {
    const text = 'SELECT 1 AS n UNION ALL SELECT n + 1 FROM op_n WHERE n < 4';
    const count = operator('op_m', 'SELECT count(*) FROM op_n', ['op_n']);
    expect(evaluate(compilePlan([operator('op_n', text, ['op_n'])], 'sqlite'))).toHaveLength(4);
    expect(evaluate(compilePlan([operator('op_n', text, ['op_n']), count], 'sqlite'))).toEqual([[4]]);
    const renamed = operator('op_k', text, ['op_n'], { op_n: 'op_k' });
    expect(
      evaluate(compilePlan([renamed, operator('op_m', count.body.sql, ['op_n'], { op_n: 'op_k' })], 'sqlite')),
    ).toEqual([[4]]);
  });

  test('neutral alias names step aside for names in the texts', () => {
    const swap = { op_a: 'op_b', op_b: 'op_a' };
    const plan = [
      operator('op_a', "SELECT 'a' AS v"),
      operator('op_b', "SELECT 'b' AS v"),
      operator('op_c', 'SELECT x.v, y.v, z.v FROM op_a x, op_b y, gate_alias_1 z', ['op_a', 'op_b'], swap),
    ];
    expect(evaluate(compilePlan(plan, 'sqlite'), "CREATE TABLE gate_alias_1 AS SELECT 't' AS v")).toEqual([
      ['b', 'a', 't'],
    ]);
  });

  test('a probe compiles with the operators it reads and their ancestors only', () => {
    const plan = [
      operator('op_a', 'SELECT 1 AS n'),
      operator('op_b', 'SELECT n + 1 AS n FROM op_a', ['op_a']),
      operator('op_c', 'SELECT 9 AS n'),
    ];
    const sql = compileSelect(
      plan,
      { sql: 'WITH t AS (SELECT n FROM op_b) SELECT n FROM t', relations: ['op_b'], hasWith: true },
      'sqlite',
    );
    expect(sql).not.toContain('op_c');
    expect(evaluate(sql)).toEqual([[2]]);
    expect(compileSelect(plan, { sql: 'SELECT 5', relations: ['t'], hasWith: false }, 'sqlite')).toBe('SELECT 5');
  });

  test('reading an unwritten operator, or a circle, is said by name', () => {
    expect(() => compilePlan([operator('op_b', '…', ['op_a'])], 'sqlite')).toThrow(
      'op_a is read but is not a written operator',
    );
    const circle = [operator('op_a', '…', ['op_b']), operator('op_b', '…', ['op_a'])];
    expect(() => compilePlan(circle, 'sqlite')).toThrow('op_b, op_a');
  });

  test.each([
    ['orders', 'orders'],
    ['Order Lines', '"Order Lines"'],
    ['order', '"order"'],
    ['a"b', '"a""b"'],
  ])('identifiers are quoted where the engine needs it: %s', (name, expected) =>
    expect(quoteIdentifier(name, 'postgresql')).toBe(expected),
  );
});

/** Random plans: each operator is arithmetic over base rows or over two earlier operators, in one of several texts. */
interface Step {
  readonly left: number;
  readonly right: number;
  readonly form: number;
}
const steps = fc.array(fc.record({ left: fc.nat(9), right: fc.nat(9), form: fc.nat(4) }), {
  minLength: 1,
  maxLength: 6,
});
const BASE = 'CREATE TABLE base (n INTEGER); INSERT INTO base VALUES (1), (2), (3)';

function bodyText({ form }: Step, left: string | null, right: string | null): string {
  if (left === null || right === null) return 'SELECT n, n * 2 AS m FROM base';
  // Small domains and DISTINCT, so that joins of joins stay small.
  const core = `SELECT DISTINCT (l.n + ${form}) % 5 AS n, (r.m + 2 * l.m) % 7 AS m FROM ${left} l JOIN ${right} r ON l.n <= r.n + 1`;
  if (form === 1) return `WITH own AS (${core}) SELECT n, m FROM own ORDER BY n, m`;
  if (form === 2) return `${core} ORDER BY 1, 2`;
  if (form === 3) return `SELECT n, max(m) AS m FROM (${core}) GROUP BY n`;
  return core;
}

/** `name` gives the operator's name in the plan, `local` the name by which the text of step `at` reads operator `index`. */
function buildPlan(
  made: readonly Step[],
  name: (index: number) => string,
  local: (at: number, index: number) => string,
): PlanOperator[] {
  return made.map((step, at) => {
    if (at === 0) return operator(name(0), bodyText(step, null, null));
    const [left, right] = [step.left % at, step.right % at];
    const [a, b] = [local(at, left), local(at, right)];
    return operator(name(at), bodyText(step, a, b), [...new Set([a, b])], { [a]: name(left), [b]: name(right) });
  });
}

const sorted = (rows: unknown[]): string[] => rows.map((row) => JSON.stringify(row)).sort();

test('a compiled plan gives what its operators give one by one, in temporary tables', () =>
  fc.assert(
    fc.property(steps, (made) => {
      const plan = buildPlan(
        made,
        (index) => `op_${index}`,
        (_, index) => `op_${index}`,
      );
      const database = sqlite(BASE);
      for (const each of plan) database.exec(`CREATE TEMP TABLE ${each.name} AS ${each.body.sql}`);
      const stepwise = database.all(`SELECT * FROM ${plan.at(-1)?.name}`);
      database.close();
      expect(sorted(evaluate(compilePlan(plan, 'sqlite'), BASE))).toEqual(sorted(stepwise));
    }),
    { numRuns: 60 },
  ));

test('renaming operators, and the names that texts use for them, does not change the result', () =>
  fc.assert(
    fc.property(steps, fc.shuffledSubarray([0, 1, 2, 3, 4, 5], { minLength: 6 }), fc.nat(5), (made, names, shift) => {
      const plain = buildPlan(
        made,
        (index) => `op_${index}`,
        (_, index) => `op_${index}`,
      );
      const renamed = buildPlan(
        made,
        (index) => `op_${names[index]}`,
        (at, index) => `op_${(index + at + shift) % 6}`,
      );
      expect(sorted(evaluate(compilePlan(renamed, 'sqlite'), BASE))).toEqual(
        sorted(evaluate(compilePlan(plain, 'sqlite'), BASE)),
      );
    }),
    { numRuns: 80 },
  ));
