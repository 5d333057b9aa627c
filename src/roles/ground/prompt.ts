/**
 * Role `ground`: what the observation says about each rival, and the SQL of the reading that won (paper §3.2, and its
 * evidence summaries). The reply is judgement; rule S1 is applied to it afterwards, by code.
 */
import * as z from 'zod';
import { AssumptionReply, checkAssumption } from '../plan/prompt';
import { oneOf, parseReply, replySchema, sketch, unless, type Problem, type Prompt } from '../shared/reply';
import * as shared from '../shared/prompt-parts';
import { soundTests, testRules, TestReply, tidyTest } from '../shared/tests';
import {
  shownEvidence,
  planShape,
  shownPlan,
  type EvidenceText,
  type HypothesisText,
  type PlanText,
} from '../shared/evidence-text';

export interface ObservedText extends EvidenceText {
  readonly observationId: string;
}

export interface GroundPrompt extends shared.PromptContext {
  readonly plan: PlanText;
  /** Earlier attempts. */
  readonly evidence: readonly EvidenceText[];
  /** What is to be judged now. */
  readonly observed: readonly ObservedText[];
  /** The reply may bring the next tests along, for at most `breadth` operators. */
  readonly carryTests: boolean;
  readonly breadth: number;
  /** `model`: the judge's verdict is the proof (method `paper`). */
  readonly strict: 'execution' | 'model';
}

const Judgement = z.object({
  operator: z.string(),
  observation: z.string(),
  verdicts: z.array(
    z.object({ hypothesis: z.string(), reason: z.string(), verdict: z.enum(['supported', 'refuted', 'open']) }),
  ),
  winner: z.string().nullable(),
  sql: z.string().nullable(),
  summary: z.string(),
});
type Judgement = z.infer<typeof Judgement>;

export const GroundReply = z.object({
  judgements: z.array(Judgement),
  facts: z.array(z.string()),
  tryNext: z.array(z.string()),
  avoid: z.array(z.string()),
  delta: z.number().nullable(),
  impossible: z.string().nullable(),
  interface: z.array(z.object({ operator: z.string(), why: z.string() })),
  written: z.array(z.object({ operator: z.string(), sql: z.string(), assumptions: z.array(AssumptionReply) })),
  tests: z.array(TestReply),
});
export type GroundReply = z.infer<typeof GroundReply>;

export const groundRole: Prompt<GroundPrompt, GroundReply> = {
  schema: () => replySchema('ground', GroundReply),
  render(input) {
    const rules = [
      'You judge what the database said about rival readings of an operator, and write the SQL of the reading that won.',
      input.strict === 'model' ? JUDGE : `${JUDGE}\n${EXECUTED}`,
      WRITE,
      LEARNED,
      ...(input.carryTests ? [testRules('execution')] : []),
      shared.replyRule(sketch(input.strict === 'model' ? GroundReply.omit({ interface: true }) : GroundReply)),
    ];
    const shown = [
      shared.data('plan', shownPlan(input.plan)),
      ...input.evidence.map((evidence) => shared.data('earlier evidence', shownEvidence(evidence))),
      ...input.observed.map((observed) =>
        shared.data(`observation ${observed.observationId}`, shownEvidence(observed)),
      ),
    ];
    return shared.searchConversation(input, rules, shown, task(input));
  },
  parse(text, input) {
    const observed = observedHypotheses(input);
    const parsed = parseReply(text, GroundReply, (reply) => checkGround(complete(reply, observed, input), observed));
    return parsed.kind === 'ok' ? { kind: 'ok', reply: complete(parsed.reply, observed, input) } : parsed;
  },
};

const JUDGE = `JUDGE
- observation: first say what the rows show, in numbers: how many examined, how many fit each reading, every format seen, exceptions.
- One verdict per hypothesis, by the rows and the predicate results (computed by the database), not by names or plausibility. supported: the rows show what only this reading predicts. refuted: they contradict it. Else open. A reading with a FALSE predicate is never supported; NOT-ESTABLISHED (NULL, error) proves nothing; an error, timeout or empty result leaves all open.
- A predicate that tests the wrong thing: say so, leave its reading open, put the better probe in tryNext.
- winner: the one supported reading whose rivals are all refuted or fit clearly fewer rows; else null.`;

const EXECUTED = `- interface, only if the rows show that an operator's declared columns or grain cannot be right (several rows where one was declared, a value that needs another column): {operator, why}. The plan is then revised with this evidence. Else [].
- Readings marked "same answer as" count as one: name any of them, do not tell them apart. One marked [not stored] may win, with sql null: the program then ends with its counts.`;

const WRITE = `WRITE
- sql, only with a winner: the operator's whole body, one SELECT over its declared relations and inputs, the declared columns, same names and order. It handles every format seen, rare ones, NULLs and sentinels too; guarded casts, so that no row can fail it. null keeps the SQL shown with the winning hypothesis.
- summary, to be read on its own: what was tested, what held (n of m), the exceptions, which formats were not seen or are not handled.
- written: bodies for other operators with mapping that the rows have now made clear, each with its assumptions (risk 0 to 1); else [].`;

const LEARNED = `LEARNED
- facts: only what the rows show, with table.column and literal values ("orders.state holds paid, open, void; void in 12 of 900"). No plans, no guesses.
- tryNext, avoid: concrete: the column, join, pattern or SQL fragment, and why.
- delta: change of the distance to a correct answer: -2 settled, -1 useful, 0 nothing new, +1 a known failure again; null if you cannot tell.
- impossible: only if the rows show that what is asked is not stored anywhere: what is missing. Else null.`;

function task(input: GroundPrompt): string {
  const operators = [...observedHypotheses(input).keys()].join(', ');
  const tests = input.carryTests
    ? `tests: for up to ${input.breadth} operators still in doubt after this, those that do not depend on each other; probes may read what you settled or wrote here. [] if nothing is left to test.`
    : 'tests: [].';
  return `Task: judge the observation(s) above, one judgement for each of: ${operators}.\n${tests}`;
}

/** Hypotheses by operator; in a rollout one operator is observed several times, and ids are kept. */
function observedHypotheses(input: GroundPrompt): Map<string, HypothesisText[]> {
  const byOperator = new Map<string, HypothesisText[]>();
  for (const { operator, hypotheses } of input.observed.flatMap(({ tests }) => tests)) {
    const known = byOperator.get(operator) ?? [];
    const fresh = hypotheses.filter(({ id }) => !known.some((other) => other.id === id));
    byOperator.set(operator, [...known, ...fresh]);
  }
  return byOperator;
}

/**
 * Tidies SQL, lets a winner keep the SQL that its hypothesis carried, and drops what was not asked for or cannot be used:
 * the rows were judged, and that is not paid for again because of an extra that came along.
 */
function complete(reply: GroundReply, observed: Map<string, HypothesisText[]>, input: GroundPrompt): GroundReply {
  const judgements = reply.judgements.map((judgement) =>
    completeJudgement(judgement, observed.get(judgement.operator) ?? []),
  );
  const open = openOperators(input.plan, [...observed.keys()]);
  const written = reply.written
    .map((each) => ({ ...each, sql: shared.tidySql(each.sql) }))
    .filter(({ operator, sql }) => open.includes(operator) && sql !== '');
  const won = judgements.filter(({ sql }) => sql !== null);
  const shape = planShape(
    input.plan,
    [...won, ...written].map(({ operator }) => operator),
  );
  const known = input.plan.operators.map(({ name }) => name);
  const amended = reply.interface.filter(({ operator, why }) => known.includes(operator) && why.trim() !== '');
  const tests = input.carryTests ? soundTests(reply.tests, shape).slice(0, input.breadth).map(tidyTest) : [];
  return { ...reply, judgements, written, tests, interface: input.strict === 'model' ? [] : amended };
}

/** A hypothesis that nothing was said about stays open, and a winner that its own verdict does not support is none. */
function completeJudgement(judgement: Judgement, hypotheses: readonly HypothesisText[]): Judgement {
  const { verdicts } = judgement;
  const silent = hypotheses.filter(({ id }) => !verdicts.some(({ hypothesis }) => hypothesis === id));
  const isKnown = hypotheses.some(({ id }) => id === judgement.winner);
  const supported = verdicts.some(
    ({ hypothesis, verdict }) => hypothesis === judgement.winner && verdict === 'supported',
  );
  const winner = isKnown && !supported ? null : judgement.winner;
  const sql = judgement.sql ?? hypotheses.find(({ id }) => id === winner)?.sql ?? null;
  return {
    ...judgement,
    verdicts: [
      ...verdicts,
      ...silent.map(({ id }) => ({ hypothesis: id, reason: 'no verdict was given', verdict: 'open' as const })),
    ],
    winner,
    sql: winner === null ? null : shared.tidyOptionalSql(sql),
  };
}

/** What a judgement may write besides the operators that it judges. */
function openOperators(plan: PlanText, judged: readonly string[]): string[] {
  return plan.operators
    .filter(({ state, name }) => state !== 'grounded' && !judged.includes(name))
    .map(({ name }) => name);
}

function checkGround(reply: GroundReply, observed: Map<string, HypothesisText[]>): Problem[] {
  const judged = reply.judgements.map(({ operator }) => operator);
  const missing = [...observed.keys()].filter((operator) => !judged.includes(operator));
  return [
    ...missing.flatMap((operator) => unless(false, 'judgements', `nothing on ${operator}`, `judge ${operator} too`)),
    ...reply.judgements.flatMap((judgement, at) =>
      checkJudgement(judgement, `judgements[${at}]`, judged.indexOf(judgement.operator) < at, observed),
    ),
    ...reply.written.flatMap(({ assumptions }, at) =>
      assumptions.flatMap((assumption, index) => checkAssumption(assumption, `written[${at}].assumptions[${index}]`)),
    ),
  ];
}

function checkJudgement(
  { operator, verdicts, winner, sql }: Judgement,
  where: string,
  repeated: boolean,
  observed: Map<string, HypothesisText[]>,
): Problem[] {
  const hypotheses = observed.get(operator);
  if (hypotheses === undefined) return oneOf(`${where}.operator`, operator, [...observed.keys()]);
  if (repeated) return unless(false, `${where}.operator`, `${operator} is judged twice`, 'one judgement per operator');
  const ids = hypotheses.map(({ id }) => id);
  const given = verdicts.map(({ hypothesis }) => hypothesis);
  const onVerdicts = given.flatMap((id, at) => {
    const field = `${where}.verdicts[${at}].hypothesis`;
    if (!ids.includes(id)) return oneOf(field, id, ids);
    return unless(given.indexOf(id) === at, field, `${id} has a verdict already`, 'one verdict per hypothesis');
  });
  if (winner === null) return onVerdicts;
  const needsSql = hypotheses.find(({ id }) => id === winner)?.notStored !== true;
  return [
    ...onVerdicts,
    ...oneOf(`${where}.winner`, winner, ids),
    ...unless(
      sql !== null || !needsSql,
      `${where}.sql`,
      `found null with winner ${winner}`,
      "write the operator's body for the winner, or set winner to null",
    ),
  ];
}
