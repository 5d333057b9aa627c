/**
 * The evidence of an answer, for each operator: what was proved by which rows, what is still an assumption, which choice is
 * immaterial, and which readings were rejected and why.
 */
import type {
  AnswerRecord,
  CandidateView,
  Evidence,
  Excerpt,
  HypothesisOutcome,
  OpenAssumption,
  SearchState,
  SqlResult,
  Test,
} from '../../domain';
import { standingOf } from '../../sql/agreement';
import { equalResults } from '../../sql/equal';
import { resultPreview } from '../../text/result-text';
import { runOf } from '../../sql/proof';
import { loadAttempts, testOf, type Attempts, type SeenTest } from '../shared/attempts';
import type { StepContext } from '../shared/context';
import type { CandidateContent } from '../../record/contents';
import { loadPlan, type LoadedOperator, type LoadedPlan } from '../shared/load-plan';
import { citedIn } from '../shared/lookups';
import { counted } from '../../counted';

const EXCERPT_ROWS = 5;

export interface Explained {
  readonly evidence: AnswerRecord['evidence'];
  readonly openAssumptions: AnswerRecord['openAssumptions'];
}

export async function explain(
  context: StepContext,
  state: SearchState,
  view: CandidateView,
  content: CandidateContent,
): Promise<Explained> {
  if (content.plan === null) return { evidence: [], openAssumptions: [] };
  const trajectory = state.trajectories.find(({ id }) => id === view.trajectory);
  const plan = await loadPlan(context, {
    planId: content.plan.planId,
    bodies: currentBodies(view, content.plan.bodies),
  });
  const attempts = await loadAttempts(context.run, trajectory?.attempts ?? []);
  const immaterial = new Set(
    (trajectory?.plan?.operators ?? []).filter((each) => each.immaterial !== null).map(({ name }) => name),
  );
  const scene: Scene = { context, plan, attempts, immaterial };
  return {
    evidence: await Promise.all(plan.operators.map((loaded) => evidenceOf(scene, loaded))),
    openAssumptions: [...assumptionsOf(scene), ...wordingOf(content)],
  };
}

interface Scene {
  readonly context: StepContext;
  readonly plan: LoadedPlan;
  readonly attempts: Attempts;
  readonly immaterial: ReadonlySet<string>;
}

/** The candidate's bodies with their current proofs: a proof after its run updates the candidate in place (rule S4). */
function currentBodies(
  view: CandidateView,
  stored: readonly (readonly [string, string | null, string | null])[],
): (readonly [string, string | null, string | null])[] {
  return stored.map(([name, bodyId, updateId]) => {
    const now = view.bodies.find((body) => body.operator === name && body.bodyId === bodyId);
    return [name, bodyId, now?.updateId ?? updateId];
  });
}

async function evidenceOf(scene: Scene, loaded: LoadedOperator): Promise<Evidence> {
  const { operator, body, update } = loaded;
  const base = { operator: operator.name, intent: operator.intent, sql: body?.sql ?? null };
  const rest = update === null ? await unprovedEvidence(scene, loaded) : await provedEvidence(scene, update);
  const sources = await citedBy(scene, loaded, rest);
  return { ...base, ...rest, ...(sources.length === 0 ? {} : { sources }) };
}

/** The web addresses that an operator's own texts cite. */
async function citedBy({ context }: Scene, loaded: LoadedOperator, rest: Rest): Promise<string[]> {
  const { operator, assumptions } = loaded;
  const said = [
    ...[operator.purpose, operator.intent, rest.reading, rest.summary],
    ...(operator.body.kind === 'unresolved' ? [operator.body.mapping] : []),
    ...operator.columns.map(({ meaning }) => meaning),
    ...assumptions.map(({ statement }) => statement),
    ...rest.rejected.flatMap(({ reading, reason }) => [reading, reason]),
  ];
  return citedIn(context, said.join('\n'));
}

type Rest = Omit<Evidence, 'operator' | 'intent' | 'sql'>;
type Update = NonNullable<LoadedOperator['update']>;

async function provedEvidence({ context, attempts }: Scene, update: Update): Promise<Rest> {
  const winner = update.verdicts.find(({ verdict }) => verdict === 'supported')?.hypothesis ?? null;
  const elsewhere = update.searchId !== context.run.searchId;
  const seen = await testOf(context.run, update.observationId, update.operator);
  const ownAttempt = attempts.groundings.some(({ groundingId }) => groundingId === update.groundingId);
  const same = new Set(update.sameAnswer?.rivals.map(({ hypothesis }) => hypothesis));
  const rejected = update.verdicts
    .filter(({ verdict, hypothesis }) => verdict !== 'supported' || same.has(hypothesis))
    .map(({ hypothesis, verdict, reason }) => ({
      reading: readingOf(seen?.test, hypothesis),
      ...(same.has(hypothesis)
        ? { verdict: 'immaterial', reason: 'the answer is the same under it' }
        : { verdict, reason }),
    }));
  return {
    state: 'proved',
    updateId: update.updateId,
    reading: update.mapping,
    summary: update.summary,
    ...shownOf(seen, winner),
    rejected,
    reusedFrom: elsewhere ? update.searchId : ownAttempt ? null : update.updateId,
  };
}

async function unprovedEvidence(scene: Scene, { operator, body, assumptions }: LoadedOperator): Promise<Rest> {
  const { attempts, context } = scene;
  const immaterial = scene.immaterial.has(operator.name);
  const observation = attempts.observations
    .filter(({ tests }) => tests.some((test) => test.operator === operator.name))
    .at(-1);
  const seen = observation === undefined ? null : await testOf(context.run, observation.observationId, operator.name);
  const grounding = attempts.groundings
    .flatMap(({ groundings }) => groundings)
    .filter((each) => each.operator === operator.name)
    .at(-1);
  const own = seen?.test.hypotheses.find(
    (hypothesis) => hypothesis.bodyId !== null && hypothesis.bodyId === body?.bodyId,
  );
  // The judge may have written the body after the probe.
  const kept = own?.id ?? (grounding?.bodyId === body?.bodyId ? grounding?.winner : null);
  const against = immaterial ? [] : spokenAgainst(seen?.outcome.hypotheses.find(({ id }) => id === kept));
  const stated = assumptions.map(({ statement }) => statement).join('; ');
  const materiality = seen?.outcome.materiality?.reason ?? 'the rival readings give the same answer';
  const rivals = (seen?.test.hypotheses ?? []).filter((hypothesis) => hypothesis !== own);
  return {
    state: immaterial ? 'immaterial' : 'assumed',
    updateId: null,
    reading: own?.mapping ?? (stated === '' ? operator.purpose : stated),
    summary: immaterial ? materiality : (grounding?.summary ?? operator.purpose),
    ...shownOf(seen, kept ?? null),
    rejected: immaterial
      ? rivals.map(({ mapping }) => ({ reading: mapping, verdict: 'immaterial', reason: materiality }))
      : (grounding?.verdicts ?? [])
          .filter(({ verdict }) => verdict === 'refuted')
          .map(({ hypothesis, verdict, reason }) => ({ reading: readingOf(seen?.test, hypothesis), verdict, reason })),
    ...(against.length === 0 ? {} : { against }),
    reusedFrom: null,
  };
}

/** A reading that is kept may have failed its own check; whoever reads the answer has to know. */
function spokenAgainst(outcome: HypothesisOutcome | undefined): string[] {
  if (outcome === undefined) return [];
  const { agreement, predicates } = outcome;
  const standing = agreement === null ? 'all' : standingOf(agreement);
  return [
    ...(agreement !== null && (standing === 'with-exceptions' || standing === 'fails')
      ? [
          `${agreement.matching} of ${counted(agreement.examined, 'row')} ${agreement.matching === 1 ? 'matches' : 'match'}, ${agreement.examined - agreement.matching} ${agreement.examined - agreement.matching === 1 ? 'does' : 'do'} not`,
        ]
      : []),
    ...predicates.filter((each) => each.outcome === 'false').map(({ sql }) => `its check is FALSE: ${sql}`),
  ];
}

function shownOf(seen: SeenTest | null, reading: string | null): Pick<Evidence, 'probe' | 'observed'> {
  if (seen === null) return { probe: null, observed: null };
  const { probeSql, result } = runOf(seen.outcome, reading);
  return { probe: probeSql, observed: excerpt(result) };
}

function readingOf(test: Test | undefined, hypothesis: string): string {
  return test?.hypotheses.find(({ id }) => id === hypothesis)?.mapping ?? hypothesis;
}

export function excerpt(result: SqlResult): Excerpt | null {
  if (result.kind !== 'rows') return null;
  return {
    columns: result.columns.map(({ name }) => name),
    rows: result.rows.slice(0, EXCERPT_ROWS),
    rowCount: result.rows.length,
  };
}

function assumptionsOf({ plan, immaterial }: Scene): OpenAssumption[] {
  return plan.operators.flatMap(({ operator, update, assumptions }) =>
    update !== null || immaterial.has(operator.name)
      ? []
      : assumptions.map(({ statement, risk }) => ({
          operator: operator.name,
          kind: 'assumption' as const,
          statement,
          risk,
          alternative: null,
        })),
  );
}

/** A reading that gives the same is no alternative. */
export function wordingOf({ wording, result: answer }: Pick<CandidateContent, 'wording' | 'result'>): OpenAssumption[] {
  const others = wording.filter(({ result }) => result === null || !equalResults(answer, result, { ordered: false }));
  return others.map(({ operator, taken, other, result }) => ({
    operator,
    kind: 'open-by-wording',
    statement: taken,
    risk: null,
    alternative: { reading: other, gives: result === null ? 'not computed' : resultPreview(result) },
  }));
}
