/**
 * Tests in replies (rival hypotheses and one probe), shared by `plan`, `propose` and `ground`: the schema, the rules as
 * the model reads them, and the checks that need no SQL parser. Rules S1, S2.
 */
import { z } from 'zod';
import { tidyOptionalSql, tidySql } from './prompt-parts';
import { oneOf, unless, type Problem } from './reply';

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
