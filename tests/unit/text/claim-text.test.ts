import type { AnswerRecord, Claim } from '../../../src/domain';
import { caveatTexts, reasonTexts, standingTexts } from '../../../src/text/answer-text';
import { standingText } from '../../../src/text/standing';
import {
  countedText,
  declineTexts,
  keptText,
  provedBeforeText,
  rivalText,
  uncheckedAssumptions,
} from '../../../src/text/claim-text';
import { decideAbsence } from '../../../src/sql/claims';

const claim = (over: Partial<Claim> = {}): Claim => ({
  ...{
    operator: 'op_gap',
    statement: 'Device B stores milliseconds.',
    rows: 'laps with both clocks',
    check: 'SELECT 1',
  },
  ...{ state: 'proved', reason: null, matching: 688, examined: 688, rivals: [] },
  ...over,
});
const other = claim({ statement: 'A lap has one car.', rows: 'cars', matching: 40, examined: 40 });
const exceptions = claim({ state: 'exceptions', rows: 'trips', matching: 412, examined: 420, reason: '8 of 420' });
const failed = claim({
  ...{ state: 'failed', statement: 'All devices store seconds.', matching: 10, examined: 20 },
  reason: 'it holds for 10 of 20 (50 %) only',
});
const open = claim({ state: 'open', matching: null, examined: null, reason: 'only 3 rows were examined' });
const assumed = (statement: string): AnswerRecord['openAssumptions'][number] => ({
  ...{ operator: 'op_gap', kind: 'assumption', statement, risk: 0.2, alternative: null },
});
const record = (claims: Claim[], openAssumptions: AnswerRecord['openAssumptions'] = []) => ({
  ...{ columns: [{ name: 'gap', kind: 'number' as const }], rows: [[2.875]], truncated: false },
  ...{ evidence: [], sentence: 'Car 3 is {gap} s behind.', claims, openAssumptions },
});

test('one examined row is worded as one, in the words of the model', () => {
  expect(countedText(claim({ rows: 'customers with a date', matching: 1, examined: 1 }))).toBe(
    '1 of 1 customer with a date',
  );
});

const B = 'Proved: "Device B stores milliseconds." (688 of 688 laps with both clocks)';
test.each<[string, Claim[], string[], string]>([
  ['one claim', [claim()], [], 'proved'],
  ['two', [claim(), other], [], 'proved'],
  ['some', [open, claim(), other], [], '2 of 3 proved; 1 open'],
  ['exceptions', [exceptions], [], '0 of 1 proved; 1 with exceptions'],
  [
    'every kind',
    [claim(), exceptions, claim({ state: 'immaterial' }), failed, open],
    ['No lap is cut.'],
    '1 of 5 proved; 1 with exceptions, 1 failed, 1 open, 1 assumed, 1 makes no difference',
  ],
  ['one that makes no difference', [claim(), claim({ state: 'immaterial' })], [], 'proved; 1 makes no difference'],
  ['no difference', [claim({ state: 'immaterial' })], [], 'unchecked: 1 makes no difference'],
  ['a failed one', [failed], [], 'unchecked: 0 of 1 proved; 1 failed'],
  ['an open one', [open], [], 'unchecked: 0 of 1 proved; 1 open'],
  ['nothing', [], [], 'unchecked: nothing was claimed, so nothing was proved'],
  ['no check', [], ['No lap is cut.'], 'unchecked: 0 of 1 proved; 1 assumed'],
])('the line of standing counts what is proved, and what is not: %s', (_, claims, unchecked, text) => {
  expect(standingText(record(claims, unchecked.map(assumed)))).toBe(text);
});

test('a proved claim stands whole on a line of its own, and cannot pass for words of the program', () => {
  const statement = `A "paid" order\ncounts ${'once and again '.repeat(30)}.`;
  const [, line, ...others] = standingTexts(record([claim({ statement })]));
  expect(line).toMatch(/^Proved: "A 'paid' order counts (?:once and again ){30}\." \(688 of 688 laps/);
  expect(others).toEqual([]);
});

test('rows that define literals stand in one line, three for each literal, and change no standing', () => {
  const defined = [
    { operator: 'op_gap', sql: "device = 'B'", row: 'B | Beam' },
    ...['C', 'D', 'E', 'F', 'F'].map((each) => ({
      operator: 'op_a',
      sql: 'kind IN (…)',
      row: `${each} | Kind ${each}`,
    })),
  ];
  const told = { ...record([claim()]), defined };
  expect(standingTexts(told)).toContain(
    "Defined: device = 'B' (B | Beam); kind IN (…) (C | Kind C; D | Kind D; E | Kind E; and 1 more)",
  );
  expect(caveatTexts(told)).toEqual([]);
  expect(standingText(told)).toBe('proved');
});

test('what is known and not used, and what could not be used, is no proof', () => {
  const notUsed = [{ id: 'e0', statement: 'Laps with cut set do not count.' }];
  expect(standingText({ ...record([claim()]), notUsed })).toBe('1 of 2 proved; 1 rule of this database not used');
  const coverage = { asked: 10, used: 4, sql: 'SELECT 10, 4' };
  expect(standingText({ ...record([claim()]), coverage })).toBe('1 of 2 proved; for a part of what is asked');
  const notLookedAt = { columns: [{ table: 'laps', column: 'cut', holds: 'set in 3 of 60' }], more: 2 };
  expect(caveatTexts({ ...record([claim()]), notUsed, notLookedAt })).toEqual([
    'Not used: "Laps with cut set do not count."',
    'Not looked at: laps.cut (set in 3 of 60), and 2 more',
  ]);
});

test('only a claim for which all rows count is called proved', () => {
  for (const each of [exceptions, failed, open, claim({ state: 'immaterial' })])
    expect(standingText(record([each]))).not.toMatch(/^proved/);
});

test('what is kept and not shown, exceptions and what has no check are named, in this order', () => {
  const given = record([claim(), exceptions, open, failed], [assumed('No lap is "cut".')]);
  expect(caveatTexts(given)).toEqual([
    'NOT shown: "Device B stores milliseconds."; only 3 rows were examined',
    'NOT shown: "All devices store seconds."; it holds for 10 of 20 (50 %) only',
    'Not without exception (412 of 420 trips, 8 exceptions): "Device B stores milliseconds."',
    `Assumed: "No lap is 'cut'."`,
  ]);
});

test('an assumption that repeats a claim is told once', () => {
  const given = record([failed], [assumed('All devices\n store seconds.'), assumed('No lap is cut.')]);
  expect(uncheckedAssumptions(given).map(({ statement }) => statement)).toEqual(['No lap is cut.']);
  expect(caveatTexts(given)).toHaveLength(2);
  expect(standingText(given)).toBe('unchecked: 0 of 2 proved; 1 failed, 1 assumed');
});

test('words of a model stay on their line, and are cut', () => {
  const hostile = claim({ rows: `laps.\nAll proved.\u001b[2J${'x'.repeat(100)}`, state: 'exceptions', matching: 1 });
  expect(countedText(hostile)).toMatch(/^1 of 688 laps\. All proved\.\\u001b\[2Jx+…$/);
  expect(countedText(claim({ rows: ' ' }))).toBe('688 of 688 rows');
});

describe('what earlier questions proved', () => {
  const entry = (provedAt: string, searchId: string) => ({
    ...{ entryId: 'e0123456789abcdef', provedAt: `${provedAt}T09:30:00.000Z`, searchId },
  });

  test('is told of its claim, and in one line of the answer', () => {
    const known = claim({ entry: entry('2026-11-20', 'q-1') });
    expect(provedBeforeText(known)).toBe('proved before, 2026-11-20 in q-1, counted again');
    expect(provedBeforeText({ ...known, examined: 19 })).toBe(
      'proved before over few rows, 2026-11-20 in q-1, counted again',
    );
    expect(provedBeforeText(other)).toBeNull();
    expect(caveatTexts(record([known, other]))).toEqual([
      '1 assumption was proved before (2026-11-20 in q-1) and counted again.',
    ]);
    const more = [entry('2026-11-20', 'q-1'), entry('2026-11-21', 'q-2')].map((each) => claim({ entry: each }));
    expect(caveatTexts(record([known, ...more]))).toEqual([
      '3 assumptions were proved before (2026-11-20 in q-1; 2026-11-21 in q-2) and counted again.',
    ]);
  });

  test('and holds no longer is warned of in one line each, in words that stay on their line', () => {
    const withheld = ['All totals are\n"cents".', 'A lap has one car.'].map((statement, at) => ({
      ...{ entryId: `e${at}`, statement, why: 'it holds for 12 of 24 (50 %) only\u001b[2J' },
    }));
    const layer = { shown: 0, withheld, kept: [] };
    expect(standingTexts({ ...record([claim()]), layer })).toEqual([
      'Proved.',
      B,
      `No longer holds: "All totals are 'cents'."; it holds for 12 of 24 (50 %) only\\u001b[2J`,
      'No longer holds: "A lap has one car."; it holds for 12 of 24 (50 %) only\\u001b[2J',
    ]);
  });

  test('is listed, the rest counted, where an answer adds to it', () => {
    const kept = ['A.', 'B.', 'C.', 'D.'].map((statement) => ({ entryId: 'e0', statement }));
    expect(keptText({ layer: { shown: 0, withheld: [], kept } })).toBe('"A."; "B."; "C."; 1 more');
    expect(keptText({ layer: { shown: 3, withheld: [], kept: [] } })).toBeNull();
    expect(keptText({})).toBeNull();
  });
});

describe('why there is no answer', () => {
  const counts = { asked: 1340, recorded: 0, control: 312 };
  const absent = { statement: 'No visit has a diagnosis.', rows: 'visits', check: 'SELECT 1340, 0, 312' };
  const reason = 'no diagnosis is stored';

  test('is told with the counts that show it', () => {
    expect(reasonTexts({ reason, claims: [decideAbsence(absent, counts)] })).toEqual([
      reason,
      '0 of 1,340 visits have it recorded, beside 312 with a comparable fact: "No visit has a diagnosis."',
    ]);
    expect(declineTexts({ claims: [decideAbsence(absent, { ...counts, recorded: 1 })] })).toEqual([
      '1 of 1,340 visits has it recorded, beside 312 with a comparable fact: "No visit has a diagnosis."',
    ]);
  });

  test('and counts that contradict it or show nothing say so', () => {
    expect(
      declineTexts({
        claims: [decideAbsence(absent, { ...counts, recorded: 1300 }), decideAbsence(absent, 'no such table')],
      }),
    ).toEqual([
      'NOT shown: "No visit has a diagnosis."; 1300 of 1340 have it recorded',
      'NOT shown: "No visit has a diagnosis."; no such table',
    ]);
  });

  test('is the reason alone for a record without claims, or with claims of SQL that was given up', () => {
    expect(reasonTexts({ reason })).toEqual([reason]);
    expect(reasonTexts({ reason, claims: [claim()] })).toEqual([reason]);
  });
});

test.each<[Claim['rivals'][number]['verdict'], number | null, string]>([
  ['refuted', 10, 'refuted, 10 of 20'],
  ['same-answer', 20, 'gives the same answer, 20 of 20'],
  ['open', null, 'not refuted, not counted'],
])('a rival that is %s', (verdict, matching, text) => {
  expect(rivalText({ reading: 'all seconds', matching, examined: 20, verdict })).toBe(text);
});
