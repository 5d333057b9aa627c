import { createSqliteInspector } from '../../../src/adapters/sqlite';
import { buildTests } from '../../../src/roles/shared/tests';
import { computingMs } from '../../helpers/computing';

const operator = {
  name: 'op_a',
  purpose: '',
  intent: '',
  relations: ['t'],
  inputs: [],
  columns: [{ name: 'n', type: 'integer', description: '' }],
  grain: [],
  body: { kind: 'unresolved', mapping: '', risk: 1 },
} as unknown as Parameters<typeof buildTests>[1]['operators'][number];

const scope: Parameters<typeof buildTests>[1] = {
  operators: [operator],
  written: [],
  relations: ['t'],
  inspector: createSqliteInspector(),
  description: { dialect: 'sqlite' },
};
const reading = (id: string, sql: string | null, predicates: string[] = []) => ({
  ...{ id, mapping: '', expectation: '', predicates, agreement: null, sql, notStored: null },
});

function problemsOf(predicate: string): readonly string[] {
  const reply = { operator: 'op_a', probe: 'SELECT n FROM t', hypotheses: [reading('h1', null, [predicate])] };
  return buildTests([reply], scope).problems;
}

describe('the reading h1 of an operator that has SQL', () => {
  const bodiesOf = (bodyId: string | null, ...sql: (string | null)[]) => {
    const hypotheses = sql.map((each, at) => reading(`h${at + 1}`, each));
    const { built } = buildTests([{ operator: 'op_a', probe: 'SELECT n FROM t', hypotheses }], {
      ...scope,
      written: [{ name: 'op_a', bodyId }],
    });
    return { ids: built[0]?.test.hypotheses.map((each) => each.bodyId), written: built[0]?.bodies.length };
  };
  const own = expect.stringMatching(/^b[0-9a-f]/) as string;

  test('is that SQL where the reply leaves it out, and no other reading is', () =>
    expect(bodiesOf('current', null, null)).toEqual({ ids: ['current', null], written: 0 }));
  test('is what the reply writes where it does', () =>
    expect(bodiesOf('current', 'SELECT n FROM t', null)).toEqual({ ids: [own, null], written: 1 }));
  test('is none where the operator is proved, or its own SQL does not fit', () => {
    expect(bodiesOf(null, null).ids).toEqual([null]);
    expect(bodiesOf('current', 'SELECT n FROM nowhere').ids).toEqual([null]);
  });
});

test.each([
  `${'('.repeat(50_000)}SELECT n > 0 FROM observation${')'.repeat(50_000)}`,
  `SELECT (${' from '.repeat(20_000)}`,
])('a predicate without end is refused at once, in few words', (predicate) => {
  let problem: string | undefined;
  expect(computingMs(() => void ([problem] = problemsOf(predicate)))).toBeLessThan(2_000);
  expect(problem).toMatch(/^the predicate ".{499}…" of h1 for op_a has \d+ characters: .* write at most 10000$/s);
});

test('a list of hundreds of codes is none', () => {
  const codes = Array.from({ length: 800 }, (_, at) => `'C${at}'`).join(', ');
  expect(problemsOf(`(SELECT count(*) FROM observation WHERE n IN (${codes})) > 0`)).toEqual([]);
});
