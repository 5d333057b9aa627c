/** The steps of `react`: what its actions run, what goes back to it, and what is stored. */
import type { Settings } from '../../../src/domain';
import { runAgent } from '../../../src/methods/agent/loop';
import { loadTrace } from '../../../src/report';
import { searchOutline } from '../../../src/report/search-outline';
import { SEARCH, bench, sqliteEngine, text, hooks, promptOf } from './fixtures';
import { standingTexts } from '../../../src/text/answer-text';

describe('react', () => {
  const action = (change: Record<string, unknown>) =>
    text({
      ...{ note: 'n', action: 'tool_call', tool: 'execute_sql', sql: null },
      ...{ answer: null, finalSql: null, unanswerable: false, ...change },
    });

  test.each([
    ['with a sentence, and the rows fill it', '{count(*)} entries came second.', '2 entries came second.'],
    ['with words for which nothing stands, and the rows speak', 'two came second', '2'],
  ])('the agent looks and ends %s', async (_claim, answer, told) => {
    const made = await bench(
      {
        react: [
          action({ sql: 'SELECT mark FROM entry LIMIT 2' }),
          action({ sql: 'DROP TABLE entry' }),
          action({ action: 'end', tool: null, finalSql: 'SELECT count(*) FROM entry WHERE place = 2', answer }),
        ],
      },
      { settings: { method: 'react', rounds: 5 } },
    );
    const outcome = await runAgent(made.start, made.steps, hooks);
    expect(outcome).toMatchObject({
      summary: { status: 'answered', answer: told, sql: 'SELECT count(*) FROM entry WHERE place = 2' },
    });
    const last = promptOf(made.model.requests.at(-1)!);
    expect(last).toContain('28:10.0');
    expect(last).toContain('Refused: DROP TABLE is not allowed');
  });

  const ended = (change: Record<string, unknown> = {}) =>
    action({ action: 'end', tool: null, finalSql: 'SELECT count(*) AS n FROM entry WHERE place = 2', ...change });

  async function acted(react: string[], settings: Partial<Settings>, engine = sqliteEngine()) {
    const made = await bench({ react }, { settings: { method: 'react', rounds: 5, ...settings }, engine });
    await runAgent(made.start, made.steps, hooks);
    const told = made.model.requests.map(({ messages }) => messages.at(-1)!.content);
    const trace = await loadTrace(made.deps.store, SEARCH);
    return { run: made.run, trace, told, engine, record: await made.record() };
  }

  test('the queries of one action run together in one snapshot, one call of the budget; each result is counted', async () => {
    const queries = [
      { why: 'how marks look', sql: 'SELECT mark FROM entry' },
      { why: 'a slip', sql: 'DELETE FROM entry' },
      { why: 'how many', sql: 'SELECT count(*) AS n FROM entry' },
      { why: 'one too many', sql: 'SELECT 4' },
    ];
    const { run, trace, told, engine, record } = await acted([action({ queries }), ended()], {
      queriesPerAction: 3,
      csvChars: 60,
    });
    expect(engine.runs.slice(-2)).toEqual([
      ['SELECT mark FROM entry', 'SELECT count(*) AS n FROM entry'],
      ['SELECT count(*) AS n FROM entry WHERE place = 2'],
    ]);
    expect(told[1]).toMatch(/<data name="result 1">\nmark\n28:10\.0\n[^<]*\(\d of 8 rows shown\)\n<\/data>/);
    expect(told[1]).toContain('<data name="result 2">\nRefused: DELETE');
    expect(told[1]).toContain('<data name="result 3">\nn\n8\n</data>');
    expect(told[1]).toContain('<data name="result 4">\nRefused: not run, because an action runs at most 3 queries');
    expect(told[1]).toContain('Tool calls left: 4.');
    expect(record).toMatchObject({ status: 'answered', rows: [[2]], usage: { sqlExecutions: 3 } });
    expect(await run.get('action', 'i1.react')).toMatchObject({ sql: null, queries });
    const [root] = searchOutline(trace!).find(({ id }) => id === 'search')!.entries;
    const tried = root!.below!.flatMap(({ text, sql }) => (sql === undefined ? [] : [text.split(': ')[1]]));
    expect(tried).toEqual(queries.map(({ why }) => why));
  });

  test('with one query an action, what is stored is as before', async () => {
    const { run } = await acted([action({ sql: 'SELECT 1' }), ended()], {});
    expect(await run.get('action', 'i1.react')).toEqual({
      ...{ actionId: 'i1.react', note: 'n', sql: 'SELECT 1', answer: null },
    });
  });

  test('coverage is counted with the final SQL, and the answer says where it is too little', async () => {
    const coverage = "SELECT count(*), count(CASE WHEN mark LIKE '+%' THEN 1 END) FROM entry";
    const { record, run, engine } = await acted([ended({ coverage })], { profiles: true });
    expect(record).toMatchObject({ status: 'answered', coverage: { asked: 8, used: 6, sql: coverage } });
    expect(standingTexts(record)).toEqual([
      'Unchecked: 0 of 1 proved; for a part of what is asked.',
      'Only 6 of the 8 asked about could be used (75 %).',
      'Not looked at: entry.event (2 values)',
    ]);
    expect(await run.get('candidate', 'c1')).toMatchObject({ coverage: { asked: 8, used: 6 } });
    expect(engine.runs.at(-1)).toHaveLength(2);
  });

  test('a coverage that is no two counts goes back like SQL that does not run; at last the answer stands without', async () => {
    const bad = ended({ coverage: 'SELECT count(*) FROM entry' });
    const { record, told } = await acted([bad, ended({ coverage: 'SELECT 6, 6' })], { profiles: true });
    expect(told[1]).toContain('coverage: it must give one row of two counts, but gave 1 row of 1 column');
    expect(record).toMatchObject({
      status: 'answered',
      coverage: { asked: 6, used: 6 },
      answer: '2',
    });
    const never = await acted([bad, bad, bad, bad], { profiles: true });
    expect(never.record).toMatchObject({ status: 'answered', rows: [[2]] });
    expect(never.record.coverage).toBeUndefined();
  });

  test('the agent that sees only the schema is asked for no coverage, and one that it gives is not run', async () => {
    const { record, engine } = await acted([ended({ coverage: 'SELECT 6, 1' })], { profiles: false });
    expect(record.coverage).toBeUndefined();
    expect(engine.runs.at(-1)).toHaveLength(1);
  });
});
