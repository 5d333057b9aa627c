/**
 * Role `plan`: up to three operators made from the gold query. The base operator counts a relation, the rows operator holds
 * the gold query, the answer operator returns its rows. A later derivation has another layout and other texts. It may copy a
 * known intent, so that its proof is reused.
 */
import type { PlanReply } from '../../src/roles/plan/prompt';
import { answerBody, answerSentence, baseBody, baseRelation, failingBody, quotedRelation, rowsBody } from '../bodies';
import type { Gold } from '../gold';
import { sectionsNamed } from '../request';
import { derivationOf, operatorName, type World } from '../world';
import { testOf } from './tests';

type Operator = PlanReply['operators'][number];

export async function plan(world: World): Promise<PlanReply> {
  const { asked } = world;
  if (!world.question.answerable) return { ...unanswerable(), ...(asked.sentence ? { sentence: null } : {}) };
  const gold = await world.gold();
  const derivation = nextDerivation(world);
  const rows = rowsOperator(world, gold, derivation);
  const base = derivation % 3 === 0 && baseRelation(gold) !== null ? baseOperator(gold, derivation) : null;
  const alone = derivation % 3 === 2 && rows.sql !== null && rows.assumptions.every(({ risk }) => risk < 0.3);
  const operators = alone
    ? [{ ...rows, name: operatorName('answer', derivation) }]
    : [...(base === null ? [] : [base]), rows, answerOperator(gold, derivation, rows.name, base?.name ?? null)];
  const doubtful = rows.sql === null || rows.assumptions.some(({ risk }) => risk >= 0.3);
  const reuses = rows.sql === null && knownIntents(world).includes(rows.intent);
  const carries = /^tests: for up to /m.test(asked.task) && doubtful && !reuses;
  const relation = baseRelation(gold);
  return {
    outline: `Derivation ${derivation + 1}: find the rows asked for and return their columns.`,
    kind: 'plan',
    reason: null,
    operators,
    ordered: gold.ordered,
    control: relation === null ? null : `SELECT count(*) FROM ${quotedRelation(gold, relation)}`,
    ...(asked.sentence ? { sentence: answerSentence(gold) } : {}),
    wording: [],
    bottleneck: doubtful ? rows.name : null,
    potential: doubtful ? 4 : 1,
    tests: carries && world.draw('carried', derivation) < 0.9 ? [testOf(world, gold, rows.name, 0)] : [],
  };
}

/** The number of this derivation: after all that the prompt shows. */
function nextDerivation({ asked }: World): number {
  const existing = sectionsNamed(asked, /^existing plan \d+$/);
  const made = existing.flatMap(({ text }) => text.match(/\bop_(?:base|rows|answer)(?:_\d+)?\b/g) ?? []);
  const newest = Math.max(existing.length - 1, ...made.map(derivationOf));
  const revised = sectionsNamed(asked, /^plan to revise$/).length;
  return newest + revised + 1;
}

function unanswerable(): PlanReply {
  return {
    outline: 'No table holds what is asked.',
    kind: 'unanswerable',
    reason: 'the fact asked for is not stored in any table or column of the schema',
    operators: [],
    ordered: false,
    control: null,
    wording: [],
    bottleneck: null,
    potential: 1,
    tests: [],
  };
}

function rowsOperator(world: World, gold: Gold, derivation: number): Operator {
  const intent = `the rows that answer: ${world.question.question.replace(/\s+/g, ' ').trim()}`;
  const face = {
    name: operatorName('rows', derivation),
    purpose: 'The rows asked for, with exactly the columns asked for.',
    intent,
    relations: [...gold.relations],
    inputs: [],
    columns: [...gold.columns],
    grain: gold.singleRow ? [] : gold.columns.map(({ name }) => name),
  };
  const mapping = 'Whether a matching record counts once or also for its mirror image: counts tell.';
  const open = { ...face, mapping, sql: null, assumptions: [] };
  const doubtful = world.draw('doubt') < world.rates.doubt;
  if (doubtful && knownIntents(world).includes(intent)) return open;
  if (doubtful && (derivation === 0 || world.draw('doubt again', derivation) < 0.3)) return open;
  // The third derivation is always right, so that the judge has a right candidate to choose.
  const wrong = derivation < 2 && world.draw('wrong', derivation) < world.rates.wrong;
  const noticed = wrong && world.draw('noticed', derivation) < 0.5;
  const failing = world.slip('body') < world.rates.failingSql;
  return {
    ...face,
    mapping: null,
    sql: failing ? failingBody(gold) : rowsBody(gold, derivation, wrong ? 'misread' : 'right'),
    assumptions: [{ kind: 'join', statement: 'a matching record counts once', risk: noticed ? 0.6 : 0.1 }],
  };
}

function baseOperator(gold: Gold, derivation: number): Operator {
  return {
    name: operatorName('base', derivation),
    purpose: 'How many records there are to look at.',
    intent: `the number of records in ${baseRelation(gold) ?? ''}`,
    relations: [baseRelation(gold) ?? ''],
    inputs: [],
    columns: [{ name: 'examined', type: 'integer', meaning: 'records' }],
    grain: [],
    mapping: null,
    sql: baseBody(gold, derivation),
    assumptions: [],
  };
}

function answerOperator(gold: Gold, derivation: number, rows: string, base: string | null): Operator {
  return {
    name: operatorName('answer', derivation),
    purpose: 'The answer.',
    intent: 'the columns asked for, unchanged',
    relations: [],
    inputs: [rows, ...(base === null ? [] : [base])],
    columns: [...gold.columns],
    grain: gold.singleRow ? [] : gold.columns.map(({ name }) => name),
    mapping: null,
    sql: answerBody(gold, rows, base),
    assumptions: [],
  };
}

function knownIntents(world: World): readonly string[] {
  return sectionsNamed(world.asked, /^known intents$/).flatMap(({ text }) =>
    text.split('\n').map((line) => line.replace(/^- /, '')),
  );
}
