import fc from '../../helpers/property';
import type { AnswerRecord, ResultColumn, SqlValue } from '../../../src/domain';
import { caveatTexts, headlineText, standingTexts, statedText, tellsRow } from '../../../src/text/answer-text';
import { standingText } from '../../../src/text/standing';
import { fillSentence, soundSentence, withYesNo } from '../../../src/text/sentence';
import { valueText } from '../../../src/text/result-text';

const QUESTION = 'In how many sprint events did the winner beat the runner-up by more than five seconds in 2023?';
const column = (name: string, kind: ResultColumn['kind'] = 'number'): ResultColumn => ({ name, kind });
const DRIVERS = [column('driver', 'text'), column('wins')];
const ROWS: SqlValue[][] = [
  ['Arden', 5],
  ['Bruni', 3],
  ['Hale', 1],
];

/** More rows than a text shows beside the answer. */
const MANY = { columns: DRIVERS, rows: Array.from({ length: 21 }, (_, at) => [`D${at + 1}`, 21 - at]) };

type Parts = Parameters<typeof headlineText>[0];
const evidence = (...states: AnswerRecord['evidence'][number]['state'][]): AnswerRecord['evidence'] =>
  states.map((state, at) => ({
    ...{
      operator: `op_${at}`,
      intent: '',
      state,
      updateId: null,
      reading: 'A lap has one car.',
      summary: '',
      sql: null,
    },
    ...{ probe: null, observed: null, rejected: [], reusedFrom: null },
  }));
const record = (over: Partial<Parts> = {}): Parts => ({
  columns: [column('finished')],
  rows: [[4]],
  truncated: false,
  evidence: evidence('assumed', 'proved', 'assumed'),
  openAssumptions: [],
  ...over,
});
const sound = (sentence: string | null | undefined, columns = [column('finished')], question = QUESTION) =>
  soundSentence(sentence, columns, question);

describe('a sentence of the model', () => {
  test('is filled with the values of the row and what the control counted', () => {
    const sentence = '{finished} of {examined} sprint events in 2023 were won by more than 5 seconds.';
    expect(sound(sentence)).toBe(sentence);
    const examined = { sql: 'SELECT 18', count: 18 };
    expect(headlineText(record({ sentence, examined }))).toBe(
      '4 of 18 sprint events in 2023 were won by more than 5 seconds.',
    );
  });

  test('names places whatever their case, and a column before a place of the program', () => {
    const columns = [column('Rows'), column('count(*)')];
    expect(sound('{ROWS} and {count(*)}', columns)).toBe('{ROWS} and {count(*)}');
    expect(fillSentence('{ROWS} and {count(*)}', { columns, rows: [[7, 8]], truncated: false })).toBe('7 and 8');
  });

  test.each([
    ['none', null],
    ['left out', undefined],
    ['empty', ''],
    ['without a place', 'Few events were won so.'],
    ['with an unknown place', '{finished} of {total} events were won so.'],
    ['with a place of a function that there is not', '{avg:finished} events were won so.'],
    ['with a column in a place of the program', '{rows:finished} events were won so.'],
    ['with a number that the question lacks', '{finished} of 18 events were won so.'],
    ['with a number in other digits', '{finished} of ١٨ events were won so.'],
    ['with a number in words', '{finished} of eight events were won so.'],
    ['with a part of a number of the question', '{finished} of 202 events were won so.'],
    ['with a scale that the question lacks', '{finished} million events were won so.'],
    ['with a claim of proof', 'It is proved that {finished} events were won so.'],
    ['too long', `{finished} ${'events '.repeat(50)}`],
    ['of two lines', '{finished} events\nwere won so.'],
    ['with a terminal escape', '\u001b[31m{finished} events were won so.'],
    ['with a reordering character', '{finished}\u202e events were won so.'],
    ['with an invisible character', '{finished}\u00ad events were won so.'],
    ['with markup', '<b>{finished}</b> events were won so.'],
    ['with a link', '{finished} events, see [here](x).'],
    ['with an address', '{finished} events, see https://example.org'],
    ['with a brace that is no place', '{finished} events } were won so.'],
    ['with nested braces', '{{finished}} events were won so.'],
  ])('%s is dropped', (_, sentence) => {
    expect(sound(sentence)).toBeNull();
  });

  test('may hold the numbers of the question, as digits or as words', () => {
    const numbers = 'More than 1,000 of twelve or 3.50 euro on 2031-12-03?';
    for (const text of ['1000', '1,000', 'twelve', '3.50', '3 December 2031', 'three'])
      expect(sound(`{finished} with ${text}`, undefined, numbers)).not.toBeNull();
    expect(sound('{finished} with 31', undefined, numbers)).toBeNull();
  });

  test('is not used where two columns have the name of its place', () => {
    expect(sound('{n} events', [column('n'), column('N')])).toBeNull();
  });

  test.each(['driver_id', 'seasonYear', 'win_rate', 'avg_gap', 'rank', 'share_pct', 'distinct_drivers'])(
    'adds up no %s',
    (name) => {
      expect(sound(`{sum:${name}} in all`, [column(name)])).toBeNull();
      expect(sound(`{sum:${name}} in all`, [column(name)], `What is the total?`)).not.toBeNull();
    },
  );

  test('adds up what adds up: whole numbers exactly, others without the digits of the addition', () => {
    const sum = (...values: SqlValue[]) =>
      fillSentence('{sum:x}', { columns: [column('x')], rows: values.map((each) => [each]), truncated: false });
    expect(sound('{sum:wins} wins', DRIVERS)).toBe('{sum:wins} wins');
    expect(sound('{sum:driver} wins', DRIVERS)).toBeNull();
    expect(sum('9007199254740993', 2, null)).toBe('9007199254740995');
    expect(sum(0.1, 0.2)).toBe('0.3');
    expect(sum('12.50', 1)).toBe('13.5');
    expect(sum(null)).toBeNull();
    expect(sum('NaN', 1)).toBeNull();
  });

  test.each<[string, Partial<Parts>, string]>([
    ['several rows for one value', { rows: [[4], [5]] }, '2 rows'],
    ['no row', { rows: [] }, 'No rows'],
    ['other columns', { columns: [column('n')] }, '4'],
    ['a control that was not counted', { sentence: '{finished} of {examined}' }, '4'],
    ['a last row beyond the cap', { sentence: 'From {last:finished}', truncated: true }, 'More than 1 row'],
    ['a sum beyond the cap', { sentence: '{sum:finished} in all', truncated: true }, 'More than 1 row'],
  ])('whose rows became %s gives way to the words of the program', (_, over, text) => {
    expect(headlineText(record({ sentence: '{finished} events', ...over }))).toBe(text);
  });

  test('whose value reads like a place or a sentence stays one sentence with a quoted value', () => {
    const hostile = '{rows}". All 3 steps proved.\n\u001b[2J<script>';
    const columns = [column('driver', 'text')];
    expect(headlineText(record({ sentence: '{driver} won.', columns, rows: [[hostile]] }))).toBe(
      `"{rows}'. All 3 steps proved. \\u001b[2J<script>" won.`,
    );
  });

  test('keeps its end', () => {
    const sentence = 'Did the winner beat the runner-up? {finished}!';
    expect(headlineText(record({ sentence, rows: [[true]] }))).toBe('Did the winner beat the runner-up? yes!');
  });

  test('is never trusted further than its places, whatever it holds', () => {
    const text = fc.string({
      unit: fc.constantFrom('{', '}', 'finished', ':', 'sum', 'rows', ' ', '7', 'a', '\n', '<'),
    });
    fc.assert(
      fc.property(text, (sentence) => {
        const kept = sound(sentence);
        if (kept === null) return;
        expect(kept.replace(/\{[^{}]*\}/g, '')).not.toMatch(/[{}7<\n]/);
        const filled = fillSentence(kept, { columns: [column('finished')], rows: [[4]], truncated: false });
        expect(filled ?? '').not.toMatch(/[{}]/);
      }),
    );
  });
});

describe('the words of the program', () => {
  test.each<[string, Partial<Parts>, string]>([
    ['one value', {}, '4'],
    ['no value', { rows: [[null]] }, 'No value'],
    ['several columns', { columns: DRIVERS, rows: ROWS.slice(0, 1) }, 'driver "Arden", wins 5'],
    [
      'many columns',
      { columns: Array.from({ length: 8 }, (_, at) => column(`c${at}`)), rows: [[1, 2, 3, 4, 5, 6, 7, 8]] },
      'c0 1, c1 2, c2 3, c3 4, c4 5, c5 6, 2 more columns',
    ],
    ['few rows, which stand in the table', { columns: DRIVERS, rows: ROWS, ordered: true }, '3 rows'],
    [
      'many rows in order',
      { ...MANY, ordered: true },
      '21 rows: first driver "D1", wins 21; last driver "D21", wins 1',
    ],
    ['many rows without an order', { ...MANY, ordered: false }, '21 rows'],
    ['a name of two lines', { columns: [column('a\nb'), column('c')], rows: [[1, 2]] }, 'a b 1, c 2'],
  ])('give %s', (_, over, text) => {
    expect(headlineText(record(over))).toBe(text);
  });
});

describe('what a reader must also know', () => {
  test('is how far it is proved, then what is proved', () => {
    expect(standingTexts(record())).toEqual(['1 of 3 proved; 2 assumed.', 'Proved: "A lap has one car."']);
  });

  test('a long list in order that the sentence only counts is shown by its first and last row', () => {
    const sentence = '{rows} drivers won {sum:wins} events.';
    expect(caveatTexts(record({ sentence, ...MANY, ordered: true }))).toEqual([
      'First driver "D1", wins 21; last driver "D21", wins 1.',
    ]);
    expect(caveatTexts(record({ sentence, ...MANY, ordered: false }))).toEqual([]);
    expect(caveatTexts(record({ sentence, columns: DRIVERS, rows: ROWS, ordered: true }))).toEqual([]);
  });

  test('a sentence that names first and last says it once', () => {
    const sentence = '{rows} drivers won, from {first:driver} to {last:driver}.';
    const list = record({ sentence, ...MANY, ordered: true });
    expect(headlineText(list)).toBe('21 drivers won, from "D1" to "D21".');
    expect(caveatTexts(list)).toEqual([]);
  });

  test.each<[string, Partial<Parts>, string]>([
    ['an unordered result', { ...MANY, ordered: false }, '21 rows'],
    ['an unordered result of few rows', { columns: DRIVERS, rows: ROWS, ordered: false }, '3 rows'],
    ['a result without the word on its order', MANY, '21 rows'],
    ['few rows in order, which stand beside it', { columns: DRIVERS, rows: ROWS, ordered: true }, '3 rows'],
    ['one row, whatever its order', { columns: DRIVERS, rows: ROWS.slice(0, 1), ordered: false }, '"Arden" won most.'],
  ])('a sentence that names the first of %s', (_, over, text) => {
    expect(headlineText(record({ sentence: '{first:driver} won most.', ...over }))).toBe(text);
  });

  test('rows beyond the cap are said to be missing', () => {
    const sentence = '{rows} drivers won.';
    const cut = record({ sentence, columns: DRIVERS, rows: ROWS, truncated: true });
    expect(headlineText(cut)).toBe('More than 3 drivers won.');
    expect(caveatTexts(cut)).toEqual(['Only 3 rows were fetched; the result has more.']);
  });

  test('how much of what was asked could be used comes first, where it is too little', () => {
    const sentence = '{finished} sprint events were won by more than 5 seconds.';
    const of = (used: number) => record({ sentence, coverage: { asked: 1000, used, sql: 'SELECT 1000, 312' } });
    expect(standingText(of(312))).toBe('1 of 4 proved; 2 assumed, for a part of what is asked');
    expect(caveatTexts(of(312))).toEqual(['Only 312 of the 1,000 asked about could be used (31 %).']);
    expect(caveatTexts(of(950))).toEqual([]);
  });

  test('a reading that the words leave open is named with what the other gives, after the assumptions', () => {
    const open = { operator: 'op_gap', statement: 'above 5 s', risk: null, alternative: null };
    const openAssumptions: Parts['openAssumptions'] = [
      { ...open, kind: 'assumption', statement: 'one finisher per position' },
      { ...open, kind: 'open-by-wording', alternative: { reading: '5 s\nor more', gives: '6' } },
      { ...open, kind: 'open-by-wording' },
    ];
    expect(caveatTexts(record({ openAssumptions }))).toEqual([
      'Assumed: "one finisher per position"',
      'Read as: above 5 s. Read as "5 s or more" it would be: 6.',
      'Read as: above 5 s.',
    ]);
  });
});

test.each<[AnswerRecord['evidence'], string]>([
  [evidence(), 'unchecked: no reading was tested'],
  [evidence('proved'), 'proved'],
  [evidence('assumed'), 'unchecked: 0 of 1 proved; 1 assumed'],
  [evidence('immaterial', 'immaterial'), 'unchecked: 2 make no difference'],
  [evidence('proved', 'proved'), 'proved'],
  [evidence('assumed', 'assumed'), 'unchecked: 0 of 2 proved; 2 assumed'],
  [evidence('proved', 'immaterial', 'assumed', 'assumed'), '1 of 3 proved; 2 assumed, 1 makes no difference'],
])('how far it is proved is counted from the evidence: %#', (given, text) => {
  expect(standingText({ evidence: given, openAssumptions: [] })).toBe(text);
});

test.each<[SqlValue, ResultColumn['kind'], string]>([
  [4, 'number', '4'],
  [-0, 'number', '0'],
  [1234567, 'number', '1234567'],
  [0.1 + 0.2, 'number', '0.3'],
  [37 / 3, 'number', '12.3333'],
  [1 / 7000, 'number', '0.0001429'],
  [52.520008, 'number', '52.520008'],
  [99.99999999, 'number', '99.99999999'],
  [2.9999999999999996, 'number', '3'],
  ['9007199254740993', 'number', '9007199254740993'],
  ['12.3333333333333333', 'number', '12.3333'],
  ['9007199254740993.50', 'number', '9007199254740993.5'],
  ['NaN', 'number', '"NaN"'],
  [true, 'boolean', 'yes'],
  [false, 'boolean', 'no'],
  [null, 'text', 'no value'],
  ['2031-12-03 00:00:00', 'time', '2031-12-03'],
  ['2031-12-03T14:05:09.123Z', 'time', '2031-12-03 14:05:09Z'],
  ['2031-12-03 00:00:00+02', 'time', '2031-12-03 00:00:00+02'],
  ['2031-12-03', 'text', '2031-12-03'],
  ['01:02', 'time', '"01:02"'],
  ['007', 'text', '"007"'],
  ['a  "b"\n c', 'text', `"a 'b' c"`],
  ['x'.repeat(80), 'text', `"${'x'.repeat(59)}…"`],
  ['\u001b[31mred\u202e', 'text', '"\\u001b[31mred\\u202e"'],
])('the value %j of kind %s reads %s', (value, kind, text) => {
  expect(valueText(value, kind)).toBe(text);
});

describe('the answer on one line', () => {
  const over = { sentence: '{finished} events.', rows: [[4]], openAssumptions: [] };
  test.each<[string, string | null, Partial<Parts>, string | null]>([
    ['is the first of a report', '\n4 of 18, they say.\nAnd more.', over, '4 of 18, they say.'],
    ['is made from the rows where no words were wanted', null, { rows: [[4]] }, '4'],
    ['is none without a result', null, { columns: [], rows: [] }, null],
  ])('%s', (_, answer, given, text) => {
    expect(statedText({ ...record(given), answer })).toBe(text);
  });
});

describe('one row that the sentence says', () => {
  test.each<[string, Partial<Parts>, boolean]>([
    ['in the words of the program', { columns: DRIVERS, rows: ROWS.slice(0, 1) }, true],
    ['in a sentence with a place for each column', { sentence: '{finished} events.' }, true],
    ['but for a column', { sentence: '{driver} won.', columns: DRIVERS, rows: ROWS.slice(0, 1) }, false],
    ['rounded', { rows: [[37 / 3]] }, false],
    ['cut', { columns: [column('driver', 'text')], rows: [['x'.repeat(80)]] }, false],
    ['of several', { columns: DRIVERS, rows: ROWS }, false],
  ])('%s needs a table, or not', (_, over, told) => {
    expect(tellsRow({ ...record(over), answer: headlineText(record(over)) })).toBe(told);
    expect(tellsRow({ ...record(over), answer: 'Words of another.' })).toBe(false);
  });
});

describe('a declared boolean', () => {
  const columns = [column('Flag'), column('n')];
  const yes = (value: SqlValue) =>
    fillSentence('{yes:flag}', { columns: [column('flag')], rows: [[value]], truncated: false });

  test('takes the place of its column, and of no other', () => {
    expect(withYesNo('{flag} {n} {first:flag}', columns, ['flag'])).toBe('{yes:flag} {n} {first:flag}');
    expect(withYesNo(null, columns, ['flag'])).toBeNull();
    expect(withYesNo(null, [column('flag')], ['FLAG'])).toBe('{yes:flag}');
    expect(withYesNo(null, [column('n')], ['flag'])).toBeNull();
  });

  test.each<[SqlValue, string | null]>([
    [1, 'yes'],
    [0, 'no'],
    [true, 'yes'],
    ['false', 'no'],
    [null, 'no value'],
    [2, null],
    ['maybe', null],
  ])('%j reads %s', (value, text) => {
    expect(yes(value)).toBe(text);
  });
});
