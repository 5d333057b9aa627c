/**
 * Tests in replies (rival hypotheses and one probe), shared by `plan`, `propose` and `ground` (rules S1, S2): their schema, the
 * rules as the model reads them, the checks that need no SQL parser, and how a reply becomes tests that may run (rule S8).
 */
import * as z from 'zod';
import { tidyOptionalSql, tidySql } from './prompt-parts';
import { oneOf, unless, type Problem } from './reply';
import type { Body, DatabaseDescription, Hypothesis, Operator, Test } from '../../domain';
import { expressionQuery, namesSomething } from '../../sql/expression';
import { cut } from '../../clip';
import { validateExpression } from '../../sql/validate';
import { operatorBody, selectText, storeBody, type BodyScope } from './bodies';
import type { StepContext } from './context';

/** Key order is the order of writing: the probe comes first, so that predicates can name its columns. */
export const TestReply = z.object({
  operator: z.string(),
  probe: z.string(),
  hypotheses: z.array(
    z.object({
      id: z.string(),
      mapping: z.string(),
      expectation: z.string(),
      predicates: z.array(z.string()),
      agreement: z.object({ matching: z.string(), examined: z.string() }).nullable(),
      sql: z.string().nullable(),
      notStored: z.boolean().nullable(),
    }),
  ),
});
export type TestReply = z.infer<typeof TestReply>;

const RULES = `TESTS. A test settles one operator: rival readings (hypotheses) and one probe that tells them apart.
- hypotheses h1, h2, …: every reading that a careful analyst finds plausible, two or more wherever there is doubt. mapping: the reading in words. sql: the operator's whole body under it, if you can write it (rivals that give the same final answer then need no proof). An operator that has sql: h1 is that sql; leave its sql out, the program puts it in. expectation: what the rows would show.
- probe: one SELECT over base relations and operators that have SQL, none built on the operator under test. It may read that operator itself where every reading has sql: the program then runs it once per reading, with that sql in place, and all readings give the same expressions. Best is a relation that must hold: parts against a stored total, a recount against a control figure, overlap of two sources, a code against columns filled only for it, row counts before and after a join. Count over all rows (per format, code or unit) instead of listing a few. It returns a row even if what you look for is absent: counts, always with the number examined.
PREDICATES`;

const EXECUTION = `- agreement, wherever rows can be counted: matching and examined, two subqueries of one value over the relation observation (the probe's result), run alone: (SELECT … FROM observation). The same examined for all readings, five rows or more. All match and a rival fewer: proved. 95 % or more: holds, with exceptions to state.
- predicates, where nothing can be counted: boolean SQL like that, TRUE if the reading holds, FALSE if not, never NULL; let a few dirty rows pass. Do not repeat agreement as a predicate. A rival falls only by lower agreement or its own FALSE predicate, so give every reading one of them.
Example, is parcel.weight in kg or g, where shipment.kg is the stored total:
probe: SELECT count(*) AS n, count(CASE WHEN abs(s.kg - p.w) < 0.01 THEN 1 END) AS as_kg, count(CASE WHEN abs(s.kg - p.w / 1000.0) < 0.01 THEN 1 END) AS as_g FROM shipment s JOIN (SELECT shipment_id, sum(weight) AS w FROM parcel GROUP BY shipment_id) p ON p.shipment_id = s.id
h1 kg: agreement {"matching": "(SELECT as_kg FROM observation)", "examined": "(SELECT n FROM observation)"}; h2 g: the same with as_g.`;

const JUDGED = `- predicates (optional): boolean SQL over the relation observation (the probe's result), run as SELECT (predicate): (SELECT … FROM observation), TRUE if the reading holds, FALSE if not. agreement (optional): two such subqueries, rows matching and rows examined. expectation must be sharp enough to judge the rows by.`;

const NOT_STORED = `- "Not stored" is a reading too, where the fact may be missing: notStored true, no sql. Its agreement counts how many have it recorded, of those asked about (0 of n proves it), and a predicate is its control: TRUE where the same look finds a comparable fact. If it wins, the question is unanswerable.`;

/** With proof `execution` the checks decide; with `model` the judge does (`plan`), in a rollout of the paper as well. */
export function testRules(strict: 'execution' | 'model' | 'rollout'): string {
  const checks = { execution: `${EXECUTION}\n${NOT_STORED}`, rollout: EXECUTION, model: JUDGED };
  return RULES.replace('PREDICATES', checks[strict]);
}

/** Who a probe may read: operators with SQL, by name, and what each is built on. */
export interface PlanShape {
  readonly operators: readonly {
    readonly name: string;
    readonly inputs: readonly string[];
    readonly written: boolean;
  }[];
}

/** Tests that can run as far as this folder can tell, one per operator. */
export function soundTests(
  tests: readonly TestReply[],
  plan: PlanShape,
  allowed: readonly string[] = plan.operators.map(({ name }) => name),
): TestReply[] {
  return tests.reduce<TestReply[]>(
    (kept, test) => (checkTests([...kept, test], 'tests', plan, allowed).length === 0 ? [...kept, test] : kept),
    [],
  );
}

export function checkTests(
  tests: readonly TestReply[],
  path: string,
  plan: PlanShape,
  allowed: readonly string[] = plan.operators.map(({ name }) => name),
): Problem[] {
  return tests.flatMap((test, at) => {
    const where = `${path}[${at}]`;
    const { operator } = test;
    const isFirst = tests.findIndex((each) => each.operator === operator) === at;
    return [
      ...oneOf(`${where}.operator`, operator, allowed),
      ...unless(isFirst, `${where}.operator`, `${operator} has a test already`, 'one test per operator: merge them'),
      ...checkHypotheses(test, where),
      ...checkProbe(test, where, plan),
    ];
  });
}

export function tidyTest(test: TestReply): TestReply {
  const hypotheses = test.hypotheses.map((hypothesis) => ({
    ...hypothesis,
    predicates: hypothesis.predicates.map(tidySql).filter((sql) => sql !== ''),
    agreement: hypothesis.agreement && {
      matching: tidySql(hypothesis.agreement.matching),
      examined: tidySql(hypothesis.agreement.examined),
    },
    sql: tidyOptionalSql(hypothesis.sql),
  }));
  return { ...test, probe: tidySql(test.probe), hypotheses };
}

function checkHypotheses({ hypotheses }: TestReply, where: string): Problem[] {
  if (hypotheses.length === 0)
    return unless(false, `${where}.hypotheses`, 'found []', 'give the rival readings h1, h2, …');
  const ids = hypotheses.map(({ id }) => id);
  return hypotheses.flatMap(({ id, mapping, predicates, agreement }, at) => {
    const own = `${where}.hypotheses[${at}]`;
    const isId = /^h[1-9][0-9]?$/.test(id);
    return [
      ...unless(isId, `${own}.id`, `found "${id}"`, 'use h1, h2, … h99'),
      ...unless(ids.indexOf(id) === at, `${own}.id`, `${id} is used twice`, 'number the hypotheses h1, h2, …'),
      ...unless(mapping.trim() !== '', `${own}.mapping`, 'found ""', 'state the reading in words'),
      ...predicates.flatMap((sql, index) => checkExpression(`${own}.predicates[${index}]`, sql)),
      ...Object.entries(agreement ?? {}).flatMap(([part, sql]) => checkExpression(`${own}.agreement.${part}`, sql)),
    ];
  });
}

/** A bare expression reads the columns of the observation; a subquery has to say what it reads. */
function checkExpression(where: string, sql: string): Problem[] {
  const reads = sql.trim() !== '' && (!/\bselect\b/i.test(sql) || /\bobservation\b/i.test(sql));
  const found = `found "${sql.slice(0, 80)}", which reads nothing from observation`;
  return unless(reads, where, found, 'write it as a subquery, (SELECT … FROM observation)');
}

function checkProbe({ operator, probe, hypotheses }: TestReply, test: string, plan: PlanShape): Problem[] {
  const where = `${test}.probe`;
  if (tidySql(probe) === '') return unless(false, where, 'found ""', 'write one SELECT');
  const built = builtOn(plan.operators, operator);
  return plan.operators.flatMap(({ name, written }) => {
    if (!new RegExp(`\\b${name}\\b`, 'i').test(probe)) return [];
    if (name === operator) {
      const bare = hypotheses.filter(({ id, sql }) => (sql ?? '').trim() === '' && !(id === 'h1' && written));
      const found = `it reads ${name}, the operator under test, without sql for ${bare.map(({ id }) => id).join(', ')}`;
      const allowed = `give every reading its sql, which then stands in for ${name}, or read its inputs instead`;
      return unless(bare.length === 0, where, found, allowed);
    }
    if (built.has(name))
      return unless(false, where, `it reads ${name}, which is built on ${operator}`, `leave ${name} out`);
    return unless(written, where, `it reads ${name}, which has no SQL yet`, 'read base relations or written operators');
  });
}

/** The operator and all that read it, directly or through others. `operators`: each after what it reads. */
export function builtOn(
  operators: readonly { readonly name: string; readonly inputs: readonly string[] }[],
  name: string,
): ReadonlySet<string> {
  const found = new Set([name]);
  for (const operator of operators) if (operator.inputs.some((input) => found.has(input))) found.add(operator.name);
  return found;
}

export interface TestScope extends BodyScope {
  readonly description: Pick<DatabaseDescription, 'dialect'>;
  readonly operators: readonly Operator[];
  /** Operators that have SQL. */
  readonly written: readonly Written[];
}

export interface Written {
  readonly name: string;
  /** What the reading h1 has if it brings no SQL: the assumed body. null where the operator is proved: nothing is in doubt. */
  readonly bodyId: string | null;
}

export interface BuiltTest {
  readonly test: Test;
  readonly bodies: readonly { readonly body: Body; readonly mapping: string }[];
}

export interface BuiltTests {
  readonly built: readonly BuiltTest[];
  /** Why the other tests may not run. */
  readonly problems: readonly string[];
}

export function buildTests(replies: readonly TestReply[], scope: TestScope): BuiltTests {
  const made = replies.map((reply) => buildTest(reply, scope));
  return {
    built: made.flatMap((each) => (typeof each === 'string' ? [] : [each])),
    problems: made.filter((each) => typeof each === 'string'),
  };
}

function buildTest(reply: TestReply, scope: TestScope): BuiltTest | string {
  const operator = scope.operators.find(({ name }) => name === reply.operator);
  if (operator === undefined) return `there is no operator ${reply.operator}`;
  const made = reply.hypotheses.map((hypothesis) => buildHypothesis(hypothesis, operator, scope));
  // A probe of the operator itself runs once for each reading, with the reading's SQL in its place.
  const bare = made.find(({ hypothesis }) => hypothesis.bodyId === null);
  const below = builtOn(scope.operators, reply.operator);
  const readable = scope.written.flatMap(({ name }) => (below.has(name) ? [] : [name]));
  if (bare === undefined) readable.push(reply.operator);
  const probe = selectText(reply.probe, `the probe of ${reply.operator}`, scope, readable);
  if (probe.kind === 'invalid') return bare?.error ? `${probe.error}; ${bare.error}` : probe.error;
  const wrong = reply.hypotheses.flatMap((hypothesis) => expressionProblems(hypothesis, reply.operator, scope));
  if (wrong[0] !== undefined) return wrong[0];
  return {
    test: { operator: reply.operator, probe: probe.value.sql, hypotheses: made.map(({ hypothesis }) => hypothesis) },
    bodies: made.flatMap(({ body, hypothesis }) => (body === null ? [] : [{ body, mapping: hypothesis.mapping }])),
  };
}

/** Expressions are read bracket by bracket, so an endless one, from a model that repeats itself, would take minutes. */
const EXPRESSION_CHARS = 10_000;
const SHOWN_CHARS = 500;

/** The reading that an operator with SQL has now. */
const CURRENT = 'h1';

type HypothesisReply = TestReply['hypotheses'][number];

function expressionProblems(
  hypothesis: HypothesisReply,
  operator: string,
  { inspector, description: { dialect } }: TestScope,
): string[] {
  const { id, predicates, agreement } = hypothesis;
  const texts = [...predicates, ...(agreement === null ? [] : [agreement.matching, agreement.examined])];
  return texts.flatMap((text) => {
    const what = `the predicate "${cut(text, SHOWN_CHARS)}" of ${id} for ${operator}`;
    if (text.length > EXPRESSION_CHARS)
      return `${what} has ${text.length} characters: compute what it compares in the probe, and write at most ${EXPRESSION_CHARS}`;
    if (!namesSomething(text, dialect))
      return `${what} does not read the relation observation: write it over the probe's columns`;
    return validateExpression(inspector.inspect(expressionQuery(text, dialect)), what) ?? [];
  });
}

/**
 * The reading h1 of an operator that has SQL is that SQL, which the reply need not repeat. A body that does not fit is left
 * out: it is optional, and the judgement may still write one.
 */
function buildHypothesis(
  { sql, notStored, ...reply }: HypothesisReply,
  operator: Operator,
  scope: TestScope,
): { readonly hypothesis: Hypothesis; readonly body: Body | null; readonly error: string | null } {
  if (notStored === true) return { hypothesis: { ...reply, bodyId: null, notStored }, body: null, error: null };
  const made = sql === null ? null : operatorBody(sql, operator, scope);
  const body = made?.kind === 'ok' ? made.value : null;
  const current = scope.written.find(({ name }) => name === operator.name)?.bodyId ?? null;
  const bodyId = body?.bodyId ?? (sql === null && reply.id === CURRENT ? current : null);
  return { hypothesis: { ...reply, bodyId }, body, error: made?.kind === 'invalid' ? made.error : null };
}

/** The risk of a rival reading before anything was observed. */
const RIVAL_RISK = 0.5;

/** Stores the proposal and its bodies; null if no test is left. */
export async function storeProposal(
  context: StepContext,
  proposalId: string,
  built: readonly BuiltTest[],
  done: boolean,
): Promise<string | null> {
  if (built.length === 0 && !done) return null;
  for (const { body, mapping } of built.flatMap((each) => each.bodies)) {
    const known = await context.run.find('assumptions', body.bodyId);
    await storeBody(context, body, known?.assumptions ?? [{ kind: 'meaning', statement: mapping, risk: RIVAL_RISK }]);
  }
  const tests = built.map(({ test }) => test);
  await context.run.put('proposal', proposalId, { proposalId, tests, done });
  return proposalId;
}
