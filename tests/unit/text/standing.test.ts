/** Zero claims is unchecked: the best stamp must not go to the model that claims least. */
import type { Claim } from '../../../src/domain';
import { provedShare, standingOf, type Standable } from '../../../src/text/standing';

const claim = (state: Claim['state'], operator: string | null = 'op_a'): Claim => ({
  ...{ operator, statement: `${state} of ${String(operator)}`, rows: 'orders', check: 'SELECT 20, 20', reason: null },
  ...{ state, matching: 20, examined: 20, rivals: [] },
});
const step = (state: 'proved' | 'assumed' | 'immaterial'): Standable['evidence'][number] => ({
  ...{ operator: 'op_a', intent: 'orders', state, updateId: null, reading: '', summary: '', sql: 'SELECT 1' },
  ...{ probe: null, observed: null, rejected: [], reusedFrom: null },
});
const answered: Standable = {
  ...{ status: 'answered', method: 'gate', sql: 'SELECT count(*) FROM orders', evidence: [step('assumed')] },
  ...{ openAssumptions: [], candidates: [] },
};
const assumption = {
  operator: 'op_a',
  kind: 'assumption' as const,
  statement: 'all count',
  risk: 0.1,
  alternative: null,
};
const wording = { ...assumption, kind: 'open-by-wording' as const };
const coverage = (used: number) => ({ asked: 100, used, sql: 'SELECT 100, 90' });
const chosen = {
  ...{ id: 'c1', kind: 'unanswerable' as const, sql: null, outcome: 'rows', rowCount: 0, preview: '' },
  ...{ agreesWith: [], chosen: true },
};
const decline: Standable = { ...answered, status: 'unanswerable', sql: null, evidence: [] };

test.each<[string, Partial<Standable>, ReturnType<typeof standingOf>, number | null]>([
  ['no claim', { claims: [] }, 'unchecked', 0],
  ['one proved', { claims: [claim('proved')] }, 'proved', 1],
  ['one proved, the words open', { claims: [claim('proved')], openAssumptions: [wording] }, 'proved', 1],
  ['one proved, one without difference', { claims: [claim('proved'), claim('immaterial')] }, 'proved', 1],
  ['one proved, one assumed', { claims: [claim('proved')], openAssumptions: [assumption] }, 'partly proved', 0.5],
  ['one proved, one failed', { claims: [claim('proved'), claim('failed')] }, 'partly proved', 0.5],
  ['one proved, one open', { claims: [claim('proved'), claim('open')] }, 'partly proved', 0.5],
  [
    'one proved, one known and not used',
    { claims: [claim('proved')], notUsed: [{ id: 'e0', statement: 'x' }] },
    'partly proved',
    0.5,
  ],
  ['one proved of a part', { claims: [claim('proved')], coverage: coverage(90) }, 'partly proved', 0.5],
  ['one proved of nearly all', { claims: [claim('proved')], coverage: coverage(96) }, 'proved', 1],
  ['exceptions', { claims: [claim('exceptions')] }, 'partly proved', 0],
  ['only one without difference', { claims: [claim('immaterial')] }, 'unchecked', 0],
  ['only one assumed', { claims: [], openAssumptions: [assumption] }, 'unchecked', 0],
  ['no test (react)', { evidence: [] }, 'unchecked', 0],
  ['a step that lists no assumption', {}, 'unchecked', 0],
  ['one step proved', { evidence: [step('proved')] }, 'proved', 1],
  ['a step proved, a step assumed', { evidence: [step('proved'), step('assumed')] }, 'partly proved', 0.5],
])('the standing of an answer: %s', (_, over, standing, share) => {
  expect(standingOf({ ...answered, ...over })).toBe(standing);
  expect(provedShare({ ...answered, ...over })).toBe(share);
});

test.each<[string, Partial<Standable>, ReturnType<typeof standingOf>]>([
  ['no count', { claims: [] }, 'unchecked'],
  ['counts of SQL that was given up', { claims: [claim('proved')] }, 'unchecked'],
  ['a count that holds', { claims: [claim('proved', null)] }, 'proved'],
  ['one that holds, one that does not', { claims: [claim('proved', null), claim('open', null)] }, 'partly proved'],
  ['a reply alone', { candidates: [{ ...chosen, proved: false }] }, 'unchecked'],
  ['shown by a probe', { candidates: [{ ...chosen, proved: true }] }, 'proved'],
])('the standing of a decline: %s', (_, over, standing) => {
  expect(standingOf({ ...decline, ...over })).toBe(standing);
  expect(provedShare({ ...decline, ...over })).toBeNull();
});

test('without an answer there is no standing', () => {
  expect(standingOf({ ...answered, status: 'abstained', sql: null })).toBeNull();
  expect(standingOf({ ...answered, status: 'answered', method: 'learn', sql: null })).toBeNull();
});
