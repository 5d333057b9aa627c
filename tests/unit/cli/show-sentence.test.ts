/** The headline of `gate ask` and `gate show` in text. */
import { printRows } from '../../../src/cli/print-answer';
import { answerText } from '../../../src/cli/show-answer';
import { record } from '../report/fixture';

const places = { report: null, ui: null };
const firstLines = (text: string): string => text.slice(0, text.indexOf('\n\n'));

test('the sentence comes first, and below it what else has to be known', () => {
  const answer = '4 of 18 events were close.';
  expect(firstLines(answerText({ ...record, answer }, places, 100)).split('\n')).toEqual([
    `Answer  ${answer}`,
    '1 of 2 proved; 1 assumed.',
    'Proved: "Winners store an absolute time; all others store the gap to the winner."',
    'Assumed all the same: Under one second means strictly less than 1.0 (118 of 120 rows match, 2 do not).',
    'Read as: A gap of exactly one second is not counted. Read as "up to and including one second" it would be: 4 (the same).',
  ]);
});

test('where no words were wanted it is the value', () => {
  const bare = { ...record, answer: null, columns: [{ name: 'n', kind: 'number' as const }], rows: [[4]] };
  expect(answerText(bare, places, 100)).toMatch(/^Answer {2}4\n1 of 2 proved; /);
});

test('a value with a terminal escape cannot leave its quotes', () => {
  const columns = [{ name: 'name', kind: 'text' as const }];
  const bare = { ...record, answer: null, columns, rows: [['\u001b[2J"; 2 of 2 steps proved.\n\nUsage']] };
  const [first] = firstLines(answerText(bare, places, 100)).split('\n');
  expect(first).toBe(`Answer  "\\u001b[2J'; 2 of 2 steps proved. Usage"`);
});

test('how much of what was asked could be used is said once, also where no words were wanted', () => {
  const coverage = { asked: 1000, used: 312, sql: 'SELECT 1000, 312' };
  const partial = 'Only 312 of the 1,000 asked about could be used (31 %).';
  const bare = { ...record, coverage, answer: null, columns: [{ name: 'n', kind: 'number' as const }], rows: [[4]] };
  for (const answer of [null, '4.'])
    expect(answerText({ ...bare, answer }, places, 100).split(partial)).toHaveLength(2);
});

test('the usage says how many tokens came from a cache, where an endpoint told', () => {
  const usage = { ...record.usage, promptTokens: 9000, cachedTokens: 6400, completionTokens: 1000 };
  expect(answerText({ ...record, usage }, places, 100)).toMatch(/^Usage .*, 10,000 tokens \(6,400 cached\), /m);
  expect(answerText(record, places, 100)).not.toContain('cached');
});

test('with the rows alone it goes to standard error', () => {
  const printed = { out: '', err: '' };
  printRows(
    { ...record, coverage: { asked: 1000, used: 312, sql: 'SELECT 1000, 312' } },
    { out: (text) => void (printed.out += text), err: (text) => void (printed.err += text) },
  );
  expect(printed.err).toContain('Only 312 of the 1,000 asked about could be used (31 %).\n');
  expect(printed.out).not.toContain('312');
});

describe('claims', () => {
  const claim = {
    ...{
      operator: 'op_times',
      statement: 'All but winners store their gap.',
      rows: 'riders',
      check: 'SELECT 162, 162, 18',
    },
    ...{ state: 'proved' as const, reason: null, matching: 162, examined: 162 },
    rivals: [{ reading: 'all are times', matching: 18, examined: 162, verdict: 'refuted' as const }],
  };
  const failed = {
    ...{
      ...claim,
      operator: 'op_close',
      statement: 'No sprint was cancelled.',
      state: 'failed' as const,
      matching: 10,
    },
    reason: 'it holds for 10 of 162 (6.1 %) only',
  };
  const assumption = (statement: string) => ({
    ...{ operator: 'op_close', kind: 'assumption' as const, statement, risk: 0.3, alternative: null },
  });

  test('stand in place of the evidence of their steps, with their counts and rivals', () => {
    const openAssumptions = [assumption('No sprint was cancelled.'), assumption('A day has one sprint.')];
    const text = answerText({ ...record, claims: [claim, failed], openAssumptions }, places, 100);
    expect(text).toContain(
      [
        'Claims',
        '  op_times  proved: "All but winners store their gap."',
        '    counted   162 of 162 riders',
        '    rival     all are times (refuted, 18 of 162)',
        '  op_close  not shown: "No sprint was cancelled."',
        '    counted   10 of 162 riders',
        '    because   it holds for 10 of 162 (6.1 %) only',
        '    rival     all are times (refuted, 18 of 162)',
      ].join('\n'),
    );
    expect(text).toContain('\nAssumed: "A day has one sprint."\n');
    expect(text).not.toContain('Evidence');
  });

  test('tell where they were proved before, and the foot what is kept', () => {
    const entry = { entryId: 'e0123456789abcdef', provedAt: '2026-11-20T09:30:00.000Z', searchId: 'q-1' };
    const withheld = [{ entryId: 'e1', statement: 'Gaps are in ms.', why: 'it holds for 12 of 24 (50 %) only' }];
    const layer = { shown: 1, withheld, kept: [{ entryId: 'e2', statement: 'A day has one sprint.' }] };
    const given = { ...record, answer: null, claims: [{ ...claim, entry }], layer };
    const gone = 'No longer holds: "Gaps are in ms."; it holds for 12 of 24 (50 %) only';
    const text = answerText(given, places, 100);
    expect(text).toContain('    known     proved before, 2026-11-20 in q-1, counted again\n    rival');
    expect(text).toMatch(/^Kept {4}for later questions: "A day has one sprint\."$/m);
    expect(firstLines(text).split('\n')).toContain(gone);
    let err = '';
    printRows(given, { out: () => undefined, err: (printed) => void (err += printed) });
    expect(err).toContain(`${gone}\n`);
  });

  test('leave the evidence of a step that was proved in another way', () => {
    const text = answerText({ ...record, claims: [failed] }, places, 100);
    expect(text).toContain('Evidence\n  op_times  proved');
    expect(text).not.toContain('op_close  assumed');
  });

  test('of a decline stand with its reason', () => {
    const absent = {
      ...{ ...claim, operator: null, statement: 'No rider has a licence.', rivals: [], control: 18 },
    };
    const none = { status: 'unanswerable' as const, answer: null, sql: null, columns: [], rows: [], evidence: [] };
    const text = answerText(
      { ...record, ...none, openAssumptions: [], reason: 'no licence is stored', claims: [absent] },
      places,
      100,
    );
    expect(firstLines(text)).toBe(
      'Unanswerable  no licence is stored\n0 of 162 riders have it recorded, beside 18 with a comparable fact: "No rider has a licence."',
    );
    expect(text).not.toContain('Claims');
  });

  test('cannot send a terminal escape', () => {
    const hostile = {
      ...claim,
      statement: '\u001b[2J\nUsage',
      rows: '\u001b[2J',
      rivals: [{ ...claim.rivals[0]!, reading: '\u001b[2J' }],
    };
    expect(answerText({ ...record, claims: [hostile] }, places, 100)).not.toContain('\u001b');
  });

  test('tell with the rows alone how far they are proved', () => {
    let err = '';
    printRows(
      { ...record, claims: [claim], openAssumptions: [] },
      { out: () => undefined, err: (text) => void (err += text) },
    );
    expect(err).toContain('proved; gate show');
  });
});
