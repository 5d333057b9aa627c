/** Other readings of the question's words, as a column beside the rows of the answer. */
import type { AnswerRecord, SqlValue } from '../../../src/domain';
import { answerText } from '../../../src/cli/show-answer';
import { renderReport } from '../../../src/report';
import { answerText as words, withOtherReadings } from '../../../src/text/answer-text';
import { record as fixture, trace } from '../report/fixture';

const other = (reading: string, rows: SqlValue[][], rowCount = rows.length) => ({
  ...{ operator: null, kind: 'open-by-wording' as const, statement: 'revenue is gross', risk: null },
  alternative: { reading, gives: 'a list', result: { columns: ['region', 'net'], rows, rowCount } },
});
const NET = [
  ['South', 10],
  ['North', 30],
  ['West', 15],
];
function record(...openAssumptions: AnswerRecord['openAssumptions']): AnswerRecord {
  const columns = [
    { name: 'region', kind: 'text' as const },
    { name: 'revenue', kind: 'number' as const },
  ];
  const rows = [
    ['North', 40],
    ['South', 20],
    ['West', 15],
  ];
  const given = { ...fixture, columns, rows, openAssumptions };
  return { ...given, answer: words(given) };
}
const shown = (given: AnswerRecord) => {
  const { columns, rows } = withOtherReadings(given);
  return [columns.map(({ name }) => name), ...rows];
};

test('the rows of another reading with the same keys are a column beside the rows of the answer, in every place once', () => {
  const given = record(other('net', NET));
  expect(shown(given)).toEqual([
    ['region', 'revenue', 'revenue (other reading)'],
    ['North', 40, 30],
    ['South', 20, 10],
    ['West', 15, 15],
  ]);
  const said = 'Read as "net" (other reading), revenue differs in 2 of 3 rows.';
  const text = answerText(given, { report: null, ui: null }, 80);
  expect(text.split(said)).toHaveLength(2);
  expect(text).toMatch(/^ {2}North\s+40\s+30$/m);
  expect(text).not.toContain('a list');
  const page = renderReport({ ...trace, record: given });
  expect(page).toContain('>revenue (other reading)</th>');
  expect(page).toContain(said.replaceAll('"', '&quot;'));
  expect(page).not.toContain('a list');
});

test('two other readings are two columns, with numbers', () => {
  const [heads, north] = shown(
    record(
      other('net', NET),
      other(
        'net of tax',
        NET.map(([name]) => [name!, 1]),
      ),
    ),
  );
  expect(heads).toEqual(['region', 'revenue', 'revenue (other reading 1)', 'revenue (other reading 2)']);
  expect(north).toEqual(['North', 40, 30, 1]);
});

test('a reading that changes no row is said to be the same and gets no column', () => {
  const given = record(other('gross in euros', record().rows));
  expect(shown(given)[0]).toEqual(['region', 'revenue']);
  expect(given.answer).toContain('Read as "gross in euros" it would be the same.');
});

test.each<[string, SqlValue[][], number]>([
  ['has other rows', [['East', 1], ...NET.slice(1)], 3],
  ['has a row less', NET.slice(1), 2],
  ['has a row twice', [NET[0]!, NET[0]!, NET[1]!], 3],
  ['is not stored whole', NET, 4],
])('a reading that %s is told in words', (_, rows, rowCount) => {
  const given = record(other('net', rows, rowCount));
  expect(shown(given)[0]).toEqual(['region', 'revenue']);
  expect(given.answer).toContain('Read as "net" it would be: a list.');
});
