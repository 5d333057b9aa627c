/** What the program asks about by itself: repeated rows and placeholders that change an answer. */
import { runLookThenProve } from '../../../src/methods/look-then-prove';
import { bench, sqliteEngine, text, hooks } from './fixtures';

/** The file of day 2 was read twice; -999 stands for no reading. */
const rows = Array.from({ length: 60 }, (_, at) => [
  1 + Math.floor(at / 30),
  at * 7.5,
  at % 15 === 4 ? -999 : 20 + at / 4,
  'a.csv',
]);
const again = rows.filter(([day]) => day === 2).map(([day, at, value]) => [day, at, value, 'b.csv']);
const SETUP = `CREATE TABLE reading (day INTEGER, at REAL, odo REAL, v REAL, file TEXT);
${[...rows, ...again].map(([day, at, v, file]) => `INSERT INTO reading VALUES (${day}, ${at}, ${Number(at) * 3 + 1}, ${v}, '${file}');`).join('\n')}`;

async function ask(...sqls: readonly string[]) {
  const replies = sqls.map((sql) =>
    text({ action: 'commit', operators: [{ name: 'op_answer', intent: 'the readings', sql }] }),
  );
  const { steps, start, record, model } = await bench(
    { look: replies },
    {
      engine: sqliteEngine(SETUP),
      settings: { profiles: true },
      question: { text: 'What is the mean of the readings above -999?' },
    },
  );
  await runLookThenProve(start, steps, hooks);
  const told = model.requests.slice(1).map(({ messages }) => messages.at(-1)!.content);
  return { told, record: await record() };
}

test('repeated rows that change the answer are asked about once, with the answer without them', async () => {
  const counted = 'SELECT count(*) AS n FROM reading';
  const { told, record } = await ask(counted, counted);
  expect(told).toEqual([expect.stringContaining('30 rows of reading repeat an earlier one and count here')]);
  expect(told[0]).toContain('without the repeats the answer is: 60');
  expect(record).toMatchObject({ status: 'answered', rows: [[90]] });
});

test('a placeholder that is averaged is asked about; one that is left out is not', async () => {
  const average = (where: string) => `SELECT avg(v) AS v FROM (SELECT DISTINCT day, at, v FROM reading) ${where}`;
  const { told } = await ask(average(''), average('WHERE v > -999'));
  expect(told).toEqual([
    expect.stringMatching(/have v -999, which counts here as a value; read as NULL the answer is: 2\d/),
  ]);
  expect((await ask(average('WHERE v > -999'))).told).toEqual([]);
});
