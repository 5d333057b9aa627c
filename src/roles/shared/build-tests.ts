/**
 * Makes the tests of a reply into tests that may run. Probes and predicates are checked by the engine's parser (rules S2,
 * S8); bodies of hypotheses are kept if they fit the operator's interface.
 */
import type { Body, DatabaseDescription, Hypothesis, Operator, Test } from '../../domain';
import { builtOn, type TestReply } from './tests';
import { expressionQuery, namesSomething } from '../../sql/expression';
import { cut } from '../../text/clip';
import { validateExpression } from '../../sql/validate';
import { operatorBody, selectText, storeBody, type BodyScope } from './bodies';
import type { StepContext } from './context';

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
