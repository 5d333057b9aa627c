/** A schema too large for a prompt, and documentation that the data contradicts. */
import { createRunStore } from '../../../src/record/run-store';
import { planRef } from '../../../src/search/plan-view';
import type { bench } from './fixtures';
import {
  NO_MEMORY,
  SEARCH,
  SETUP,
  TEST,
  containing,
  groundReply,
  planReply,
  sqliteEngine,
  text,
  PLAN,
  prepared,
  promptOf,
  searchInput,
} from './fixtures';

const filler = (at: number): string =>
  `CREATE TABLE filler_${at} (alpha TEXT, beta TEXT, gamma TEXT, delta TEXT, epsilon TEXT);`;
const LARGE = `${SETUP} ${Array.from({ length: 900 }, (_, at) => filler(at)).join('\n')}
CREATE TABLE zz_hidden_gaps (gap_of_car INTEGER, unit_of_gap TEXT); INSERT INTO zz_hidden_gaps VALUES (10, 's');`;

const step = (tryNumber = 0, executionError?: string) => ({ ...PLAN, tryNumber, executionError });
const lastPrompt = ({ requests }: Pick<Awaited<ReturnType<typeof bench>>['model'], 'requests'>): string =>
  promptOf(requests.at(-1)!);
const large = (replies: Parameters<typeof bench>[0]) => prepared(replies, { engine: sqliteEngine(LARGE) });

const READS_HIDDEN = { name: 'op_gap', relations: ['zz_hidden_gaps'] };

describe('a schema that does not fit', () => {
  test('the plan is told that tables are only listed, with every name and how to see their columns', async () => {
    const { steps, model } = await large({ plan: [text(planReply())] });
    await steps.plan(step());
    const prompt = lastPrompt(model);
    expect(prompt).toContain('The schema is too large to show');
    expect(prompt).toContain('its columns are shown from then on');
    expect(prompt).toContain('zz_hidden_gaps');
    expect(prompt).not.toContain('unit_of_gap');
    expect(prompt).toContain('TABLE entry (');
    for (let at = 0; at < 900; at += 1) expect(prompt).toContain(`filler_${at}`);
  });

  test('a plan may read a table that is only listed, and from then on its columns are shown', async () => {
    const { steps, model, deps } = await large({ plan: [text(planReply({}, [READS_HIDDEN]))], propose: ['{}'] });
    const planned = await steps.plan(step());
    expect(planned).toMatchObject({ kind: 'ok' });
    const extra = await createRunStore(deps.store, SEARCH).get('schema-extra', 'i1.t0.plan');
    expect(extra.tables).toEqual(['zz_hidden_gaps']);
    await steps.propose({
      ...{ role: 'propose', searchId: SEARCH, position: 'i1.t0.a1.propose', tryNumber: 0, memory: NO_MEMORY },
      ...{ targets: ['op_gap'], attempts: [], rollout: [], callsLeft: 1 },
      plan: { planId: 'i1.t0.plan', bodies: [] },
    });
    expect(lastPrompt(model)).toContain('unit_of_gap TEXT');
  });

  test('a retry is told the columns of the tables that the reply named, delimited as data', async () => {
    const { steps, model } = await large({ plan: [text(planReply({}, [READS_HIDDEN])), text(planReply())] });
    await steps.plan(step());
    await steps.plan(step(1, 'op_gap: no such column: gap'));
    const prompt = lastPrompt(model);
    expect(prompt).toMatch(/<data name="columns of tables that were only listed">\nTABLE zz_hidden_gaps \(/);
    expect(prompt).toContain('unit_of_gap');
  });
});

test('a schema that fits leaves prompts and store as they were', async () => {
  const { steps, model, deps } = await prepared({ plan: [text(planReply()), text(planReply())] });
  await steps.plan(step());
  await steps.plan(step(1, 'op_answer: no such column: gapp'));
  expect(lastPrompt(model)).not.toMatch(/too large to show|only listed|Documentation/);
  expect((await createRunStore(deps.store, SEARCH).all('schema-extra')).size).toBe(0);
});

describe('documentation is evidence, not truth', () => {
  const NOTES = [{ table: 'ENTRY', column: 'mark', text: 'absolute time in seconds', source: 'entry.csv' }];

  test('S1: it stands in the prompt as stated, and a verdict that follows it against the data is not kept', async () => {
    // The documentation says absolute; every mark of a runner-up starts with a plus.
    const believed = { ...TEST, hypotheses: [...TEST.hypotheses].reverse() };
    const faithful = groundReply(
      {},
      {
        verdicts: [
          { hypothesis: 'h1', reason: 'the documentation says otherwise', verdict: 'refuted' },
          { hypothesis: 'h2', reason: 'the documentation says so', verdict: 'supported' },
        ],
        winner: 'h2',
        sql: TEST.hypotheses[1]!.sql,
      },
    );
    const replies = { plan: [text(planReply({ tests: [believed] }))], ground: [text(faithful)] };
    const { steps, model, run } = await prepared(replies, { question: { notes: NOTES } });
    const planned = await steps.plan(step());
    expect(lastPrompt(model)).toContain(
      'Documentation states, without proof; rows may contradict it:\n<data name="documentation">\nentry (entry.csv)\n  mark: absolute time in seconds\n</data>',
    );
    expect(planned).toMatchObject({ kind: 'ok', value: { kind: 'plan', proposalId: 'i1.t0.plan.tests' } });
    if (planned.kind !== 'ok' || planned.value.kind !== 'plan') throw new Error('no plan');
    const plan = planRef(planned.value.plan);
    const at = { searchId: SEARCH, plan };
    await steps.probe({ ...at, purpose: 'probe', position: 'a1.probe', proposalId: 'i1.t0.plan.tests' });
    const judged = await steps.ground({
      ...at,
      ...{ role: 'ground', position: 'a1.ground', tryNumber: 0, memory: NO_MEMORY },
      ...{ observations: ['a1.probe'], attempts: ['a1.probe'] },
    });
    expect(lastPrompt(model)).toContain('Documentation states');
    expect(judged).toMatchObject({ kind: 'ok', value: { operators: [{ winner: null, bodyId: null }] } });
    const { groundings } = await run.get('grounding', 'a1.ground');
    expect(groundings[0]?.verdicts.find(({ hypothesis }) => hypothesis === 'h2')).toMatchObject({
      verdict: 'refuted',
      overruled: containing(''),
    });
  });

  test('of long documents a prompt shows the parts that the question is about', async () => {
    const filler = 'The usual remarks on stationery.\n\n'.repeat(20_000);
    const asked = searchInput().question.text;
    const documents = [{ name: 'manual.md', text: `${filler}# Rules\n\n${asked} UNDERLINED\n\n${filler}` }];
    const { steps, model } = await prepared({ plan: [text(planReply())] }, { question: { documents } });
    await steps.plan(step());
    expect(lastPrompt(model)).toContain('UNDERLINED');
    expect(lastPrompt(model).length).toBeLessThan(60_000);
  });
});
