import { createHash } from 'node:crypto';
import { createSqliteInspector } from '../../../src/adapters/sqlite';
import { buildTests } from '../../../src/steps/build-tests';

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

function problemsOf(predicate: string): readonly string[] {
  const hypothesis = { id: 'h1', mapping: '', expectation: '', predicates: [predicate], agreement: null, sql: null };
  const reply = { operator: 'op_a', probe: 'SELECT n FROM t', hypotheses: [hypothesis] };
  return buildTests([reply], {
    operators: [operator],
    written: [],
    relations: ['t'],
    inspector: createSqliteInspector(),
    hash: (text) => createHash('sha256').update(text).digest('hex'),
  }).problems;
}

test.each([
  `${'('.repeat(50_000)}SELECT n > 0 FROM observation${')'.repeat(50_000)}`,
  `SELECT (${' from '.repeat(20_000)}`,
])('a predicate without end is refused at once, in few words', (predicate) => {
  const startedMs = performance.now();
  const [problem] = problemsOf(predicate);
  expect(performance.now() - startedMs).toBeLessThan(1_000);
  expect(problem).toMatch(/^the predicate ".{499}…" of h1 for op_a has \d+ characters: .* write at most 10000$/s);
});

test('a list of hundreds of codes is none', () => {
  const codes = Array.from({ length: 800 }, (_, at) => `'C${at}'`).join(', ');
  expect(problemsOf(`(SELECT count(*) FROM observation WHERE n IN (${codes})) > 0`)).toEqual([]);
});
