/** The claims of an answer in its report. */
import type { AnswerRecord, Claim } from '../../../src/domain';
import { renderReport, type Trace } from '../../../src/report';
import { doubtsOf } from '../../../src/report/doubts';
import { headlineText } from '../../../src/text/answer-text';
import { HOSTILE, hostile, record, trace } from './fixture';

const proved: Claim = {
  ...{
    operator: 'op_times',
    statement: 'All but winners store their gap.',
    rows: 'riders',
    check: 'SELECT 162, 162, 18',
  },
  ...{ state: 'proved', reason: null, matching: 162, examined: 162 },
  rivals: [
    { reading: 'everyone stores a time', matching: 18, examined: 162, verdict: 'refuted' },
    { reading: 'gaps are rounded', matching: 162, examined: 162, verdict: 'same-answer' },
    { reading: 'gaps to the rider before', matching: null, examined: null, verdict: 'open' },
  ],
};
const exceptions: Claim = {
  ...{ operator: 'op_close', statement: 'Positions have no gaps.', rows: 'sprints', check: 'SELECT 420, 412, 3' },
  ...{ state: 'exceptions', reason: '8 of 420 are exceptions', matching: 412, examined: 420 },
  rivals: [{ reading: 'they begin at 0', matching: 3, examined: 420, verdict: 'refuted' }],
};
const failed: Claim = {
  ...{ ...exceptions, statement: 'No sprint was cancelled.', state: 'failed', matching: 10, examined: 20 },
  reason: 'it holds for 10 of 20 (50 %) only',
};
const absent: Claim = {
  ...{ operator: null, statement: 'No rider has a licence.', rows: 'riders', check: 'SELECT 1340, 0, 312', rivals: [] },
  ...{ state: 'proved', reason: null, matching: 1340, examined: 1340, control: 312 },
};

const [times, close] = record.evidence;
const claimed = (claims: Claim[], over: Partial<AnswerRecord> = {}): Trace => {
  const evidence = [{ ...times! }, { ...close!, state: 'assumed' as const }];
  const made = { ...record, evidence, openAssumptions: [], claims, sentence: '{events} sprints were close.', ...over };
  return { ...trace, record: { ...made, answer: made.columns.length > 0 ? headlineText(made) : null } };
};
const assumption = (statement: string): AnswerRecord['openAssumptions'][number] => ({
  ...{ operator: 'op_close', kind: 'assumption', statement, risk: 0.3, alternative: null },
});
/** A section as text, without the tags. */
const section = (page: string, id: string): string =>
  (new RegExp(`<section aria-labelledby="${id}">[\\s\\S]*?</section>`).exec(page)?.[0] ?? '')
    .replace(/<svg[\s\S]*?<\/svg>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ');
const bars = (page: string): string[] =>
  [...page.matchAll(/<rect class="(own|rival)" width="([\d.]+)"/g)].map((match) => `${match[1]} ${match[2]}`);

test('a claim is headed by its counts, the words of the model stand below, its rivals beside it', () => {
  const page = renderReport(claimed([proved]));
  const text = section(page, 'claims');
  expect(text).toContain('proved op_times in the SQL Claimed: “All but winners store their gap.” 162 of 162 riders.');
  expect(text).toContain('As claimed 162 of 162 Rival: “everyone stores a time” refuted 18 of 162');
  expect(text).toContain('Rival: “gaps are rounded” gives the same answer 162 of 162');
  expect(text).toContain('Rival: “gaps to the rider before” not refuted not counted');
  expect(bars(page)).toEqual(['own 100.0', 'rival 11.1', 'rival 100.0', 'rival 0.0']);
  expect(page).toMatch(/<pre[^>]*><code id="sql-claim-1">/);
  expect(page).toContain('gate db sql --db DATABASE &#39;SELECT 162, 162, 18&#39;');
});

test('the top tells how far it is proved by its claims, and leads to them', () => {
  const page = renderReport(claimed([proved]));
  expect(page).toContain('<h1 class="good">4 sprints were close.</h1>');
  expect(page).toMatch(/<span class="proved"><\/span><\/span>\s*<a href="#claims">Proved<\/a>/);
  expect(page).toContain('<a href="#claims">What it takes for granted</a>');
  expect(page).not.toContain('Where to doubt it');
  expect(page).not.toContain('steps proved');
});

test('what earlier questions proved is told of its claim, what of it holds no longer is a doubt', () => {
  const entry = { entryId: 'e0123456789abcdef', provedAt: '2026-11-20T09:30:00.000Z', searchId: 'q-1' };
  const withheld = [{ entryId: 'e1', statement: `Gaps are ${HOSTILE}.`, why: 'it holds for 12 of 24 (50 %) only' }];
  const layer = { shown: 1, withheld, kept: [{ entryId: 'e2', statement: `Days ${HOSTILE}` }] };
  const page = renderReport(claimed([{ ...proved, entry }], { layer }));
  const text = section(page, 'claims');
  expect(text).toContain(
    '“All but winners store their gap.” 162 of 162 riders. Proved before, 2026-11-20 in q-1, counted again. ',
  );
  expect(text).toContain('Kept for later questions: &quot;Days ');
  expect(page).not.toContain(HOSTILE);
  expect(doubtsOf(claimed([proved], { layer }).record!).map(({ label }) => label)).toEqual(['changed']);
  // The doubt, not a second time below the headline.
  expect(page.match(/No longer holds: /g)).toHaveLength(1);
  expect(page).not.toContain('was proved before');
});

test('exceptions are a number, and never called proved', () => {
  const page = renderReport(claimed([exceptions]));
  const text = section(page, 'claims');
  expect(text).toContain(
    'holds with exceptions op_close in the SQL Claimed: “Positions have no gaps.” 412 of 420 sprints, 8 exceptions',
  );
  expect(text).not.toContain('proved');
  expect(bars(page)).toEqual(['own 98.1', 'rival 1.0']);
  expect(doubtsOf(claimed([exceptions]).record!)).toMatchObject([
    {
      text: 'It holds for 412 of 420 sprints, 8 exceptions: “Positions have no gaps.”',
      label: 'exceptions',
      to: { id: 'claim-1' },
    },
  ]);
  expect(bars(renderReport(claimed([{ ...exceptions, matching: 99_999, examined: 100_000 }])))[0]).toBe('own 99.0');
});

test('what is kept and not shown is the first doubt, and an assumption that repeats it is no second one', () => {
  const given = claimed([exceptions, failed], {
    openAssumptions: [assumption('No sprint was cancelled.'), assumption('A day has one sprint.')],
  });
  const doubts = doubtsOf(given.record!);
  expect(doubts.map(({ text, label }) => [text, label])).toEqual([
    ['NOT shown: "No sprint was cancelled."; it holds for 10 of 20 (50 %) only.', 'not shown'],
    ['It holds for 412 of 420 sprints, 8 exceptions: “Positions have no gaps.”', 'exceptions'],
    ['A day has one sprint.', 'assumed'],
  ]);
  const page = renderReport(given);
  expect(section(page, 'claims')).toContain('Not shown: it holds for 10 of 20 (50 %) only.');
  expect(section(page, 'claims')).toContain('Assumed without a check “A day has one sprint.”');
  expect(page).toContain('id="claim-2"');
  expect(page).toContain('<span class="failed"></span>');
});

test('a step shows the claims that it rests on, and one that claims nothing says so', () => {
  const text = section(renderReport(claimed([proved])), 'evidence');
  expect(text).toContain('proved claim 1 · op_times in the SQL');
  expect(text).toContain('nothing claimed · op_close in the SQL');
  expect(text).not.toContain('144 of 162 results');
  const weak = section(renderReport(claimed([{ ...proved, operator: 'op_close' }, exceptions])), 'evidence');
  expect(weak).toContain('holds with exceptions claim 1 claim 2 · op_close');
});

test('nothing claimed and nothing assumed needs no section', () => {
  const plain = claimed([]);
  const page = renderReport({ ...plain, record: { ...plain.record!, evidence: [close!] } });
  expect(page).toContain('<p class="proof">Unchecked: nothing was claimed, so nothing was proved</p>');
  expect(page).not.toContain('id="claims"');
  expect(page).not.toContain('not tested');
});

test('coverage stands with the claims, with its SQL', () => {
  const coverage = { asked: 1000, used: 312, sql: 'SELECT 1000, 312' };
  const page = renderReport(claimed([proved], { coverage }));
  const text = section(page, 'claims');
  expect(text).toContain('Coverage Only 312 of the 1,000 asked about could be used (31 %).');
  expect(text).toContain('Could be used 312 of 1,000');
  expect(page.match(/id="coverage"/g)).toHaveLength(1);
  expect(page).toContain('id="sql-coverage"');
  expect(page).toContain('<a href="#coverage">why</a>');
});

test('a declined question shows what is not stored beside what is', () => {
  const none = { status: 'unanswerable' as const, sql: null, columns: [], rows: [], evidence: [], candidates: [] };
  const page = renderReport(claimed([absent], { ...none, reason: 'no licence is stored' }));
  expect(page).toContain('<p class="more">no licence is stored</p>');
  expect(page).toContain(
    '0 of 1,340 riders have it recorded, beside 312 with a comparable fact: &quot;No rider has a licence.&quot;',
  );
  const text = section(page, 'claims');
  expect(text).toContain('What is not stored');
  expect(text).toContain('Claimed: “No rider has a licence.” 0 of 1,340 riders have it recorded.');
  expect(text).toContain('Recorded 0 of 1,340 A comparable fact that is recorded 312 of 1,340');
  expect(bars(page)).toEqual(['own 0.0', 'rival 23.3']);
  expect(page).toContain('<code id="sql-claim-1">');
});

test('a derivation that was withdrawn disputes nothing', () => {
  const withdrawn = { ...record.candidates[1]!, kind: 'unanswerable' as const, outcome: 'withdrawn', agreesWith: [] };
  const { record: given } = claimed([proved], { candidates: [record.candidates[0]!, withdrawn] });
  expect(doubtsOf(given!)).toEqual([]);
});

test('every link has its target, ids are unique, and no style stands inline', () => {
  const coverage = { asked: 1000, used: 312, sql: 'SELECT 1000, 312' };
  const page = renderReport(claimed([proved, exceptions, failed], { coverage, openAssumptions: [assumption('x')] }));
  const ids = [...page.matchAll(/ id="([^"]+)"/g)].map((match) => match[1]);
  const targets = [...page.matchAll(/href="#([^"]+)"/g)].map((match) => match[1]);
  expect(new Set(ids).size).toBe(ids.length);
  expect(targets.filter((target) => !ids.includes(target))).toEqual([]);
  expect(page).not.toMatch(/ style=/);
});

test('hostile words of a model stay text', () => {
  const page = renderReport(hostile(claimed([proved, absent])));
  expect(page).not.toContain(HOSTILE);
  expect(page).not.toMatch(/<img|[\u001b\u202e]/i);
});
