/**
 * The search as a tree: each trajectory with what it changed against its parent, the attempts that were made on it, and
 * its candidates. A view-model for both renderers, so that text and HTML cannot tell different stories.
 */
import type {
  CandidateView,
  Claim,
  HelperReport,
  HypothesisOutcome,
  HypothesisVerdict,
  MaterialityOutcome,
  Observation,
  OperatorView,
  SqlResult,
  Trajectory,
  WebObservation,
} from '../domain';
import { resultPreview } from '../text/result-text';
import { compareIds } from './printable';
import type { Trace } from './trace';

export interface HypothesisNode extends Pick<HypothesisOutcome, 'predicates' | 'agreement'> {
  readonly id: string;
  readonly mapping: string;
  readonly expectation: string;
  readonly verdict: HypothesisVerdict | null;
  readonly won: boolean;
  /** What its counts are worth, which readings give the same answer, what its own run of the probe gave. */
  readonly notes: readonly string[];
}

export interface TestNode {
  readonly operator: string;
  /** Methods and roles that act: why the model wanted this one of several queries. */
  readonly why: string | null;
  readonly probeSql: string;
  readonly result: SqlResult;
  readonly hypotheses: readonly HypothesisNode[];
  readonly summary: string | null;
  /** Why execution refused a body that the judge wanted, oldest first. */
  readonly rejected: readonly string[];
  readonly materiality: MaterialityOutcome | null;
}

export interface AttemptNode {
  readonly id: string;
  /** Methods and roles that act: what the model said it was doing. */
  readonly note: string | null;
  /** What the web was asked, and what it said. */
  readonly web: WebObservation | null;
  /** Methods redel-…: what came of the subtasks that the agent delegated. */
  readonly helpers: readonly HelperReport[];
  readonly tests: readonly TestNode[];
}

export interface Change {
  readonly operator: string;
  readonly from: OperatorView['state'] | null;
  readonly to: OperatorView['state'];
}

export interface TrajectoryNode {
  readonly trajectory: Trajectory;
  readonly changes: readonly Change[];
  readonly attempts: readonly AttemptNode[];
  readonly candidates: readonly CandidateView[];
  readonly children: readonly TrajectoryNode[];
}

/** A turn of the conversation with which a search begins. */
export interface TurnNode {
  readonly id: string;
  readonly action: 'look' | 'commit' | 'unanswerable';
  /** The operators of a commit, or the reason of a decline. */
  readonly said: string;
  /** The candidate that a commit made. */
  readonly candidate: string | null;
  readonly claims: readonly Claim[];
  /** Its queries with what they showed; none of a commit or a decline. */
  readonly looks: readonly AttemptNode[];
}

export interface SearchTree {
  readonly conversation: readonly TurnNode[];
  readonly roots: readonly TrajectoryNode[];
  /** What the search asked of the web, for all its trajectories. */
  readonly lookups: readonly AttemptNode[];
  /** Attempts that no trajectory carries: a search that was cut off in the middle of an iteration. */
  readonly loose: readonly AttemptNode[];
}

export function searchTree(trace: Trace): SearchTree {
  const trajectories = trace.state?.trajectories ?? [];
  const known = new Map(trajectories.map((trajectory) => [trajectory.id, trajectory]));
  const lookups = trace.state?.lookups ?? [];
  const turns = Object.keys(trace.turns ?? {});
  const claimed = new Set([...trajectories.flatMap((trajectory) => trajectory.attempts), ...lookups, ...turns]);

  const node = (trajectory: Trajectory): TrajectoryNode => {
    const parent = trajectory.parent === null ? undefined : known.get(trajectory.parent);
    const inherited = new Set([...(parent?.attempts ?? []), ...turns]);
    return {
      trajectory,
      changes: changesOf(parent ?? null, trajectory),
      attempts: attemptsOf(
        trace,
        trajectory.attempts.filter((id) => !inherited.has(id)),
      ),
      candidates: (trace.state?.candidates ?? []).filter((candidate) => candidate.trajectory === trajectory.id),
      children: trajectories.filter((child) => child.parent === trajectory.id).map(node),
    };
  };

  return {
    conversation: turns.sort(compareIds).map((id) => turnNode(trace, id)),
    roots: trajectories.filter(({ parent }) => parent === null || !known.has(parent)).map(node),
    lookups: attemptsOf(trace, lookups),
    loose: attemptsOf(
      trace,
      Object.keys(trace.observations)
        .filter((id) => !claimed.has(id))
        .sort(compareIds),
    ),
  };
}

function turnNode(trace: Trace, id: string): TurnNode {
  const reply = trace.turns?.[id]?.reply;
  const verdict = trace.verdicts?.[id];
  return {
    id,
    action: reply?.action ?? 'look',
    said: reply?.reason ?? (reply?.operators ?? []).map(({ name }) => name).join(', '),
    candidate: verdict?.candidateId ?? null,
    claims: verdict?.claims ?? [],
    looks: attemptsOf(trace, [id]),
  };
}

function attemptsOf(trace: Trace, ids: readonly string[]): AttemptNode[] {
  return ids
    .map((id) => trace.observations[id])
    .filter((observation) => observation !== undefined)
    .map((observation) => attempt(trace, observation));
}

function attempt(trace: Trace, observation: Observation): AttemptNode {
  const proposal = trace.proposals[observation.proposalId];
  const judged = Object.values(trace.groundings).flatMap(({ groundings }) => groundings);
  return {
    id: observation.observationId,
    note: trace.actions[observation.proposalId]?.note ?? null,
    web: observation.web ?? null,
    helpers: observation.helpers ?? [],
    tests: observation.tests.map((test, at) => {
      const proposed = proposal?.tests.find(({ operator }) => operator === test.operator);
      const grounding = judged.find(
        ({ observationId, operator }) => observationId === observation.observationId && operator === test.operator,
      );
      const ids = new Set([...(proposed?.hypotheses ?? []), ...test.hypotheses].map(({ id }) => id));
      return {
        operator: test.operator,
        why: whyOf(trace, observation.proposalId, at),
        probeSql: test.probeSql,
        result: test.result,
        materiality: test.materiality,
        summary: grounding?.summary ?? null,
        rejected: trace.rejections
          .filter(({ attempt: at, operator }) => isOf(observation, at) && operator === test.operator)
          .map(({ error }) => error),
        hypotheses: [...ids].map((id) => {
          const said = proposed?.hypotheses.find((hypothesis) => hypothesis.id === id);
          const seen = test.hypotheses.find((hypothesis) => hypothesis.id === id);
          return {
            id,
            mapping: said?.mapping ?? '',
            expectation: said?.expectation ?? '',
            predicates: seen?.predicates ?? [],
            agreement: seen?.agreement ?? null,
            verdict: grounding?.verdicts.find(({ hypothesis }) => hypothesis === id) ?? null,
            won: grounding?.winner === id,
            notes: seen === undefined ? [] : notesOn(seen),
          };
        }),
      };
    }),
  };
}

function notesOn({ agreementNote, sameAnswer = [], run }: HypothesisOutcome): string[] {
  return [
    ...(agreementNote === undefined ? [] : [`Counts: ${agreementNote}.`]),
    ...(sameAnswer.length === 0 ? [] : [`The same answer as under ${sameAnswer.map(({ as }) => as).join(', ')}.`]),
    ...(run === undefined ? [] : [`With its SQL the probe gave ${resultPreview(run.result)}.`]),
  ];
}

/** Why one of several queries was wanted; null where nothing was said. */
function whyOf({ actions, turns }: Trace, id: string, at: number): string | null {
  return (actions[id]?.queries ?? turns?.[id]?.reply.queries)?.[at]?.why || null;
}

/** `i1.t0.s1.a1.r1.probe` belongs to the attempt `i1.t0.s1.a1`. */
function isOf({ observationId }: Observation, attemptAt: string): boolean {
  return observationId.startsWith(`${attemptAt}.`);
}

function changesOf(parent: Trajectory | null, trajectory: Trajectory): Change[] {
  const before = new Map((parent?.plan?.operators ?? []).map((operator) => [operator.name, operator]));
  return (trajectory.plan?.operators ?? [])
    .filter((operator) => {
      const old = before.get(operator.name);
      return old?.state !== operator.state || old.bodyId !== operator.bodyId || old.updateId !== operator.updateId;
    })
    .map((operator) => ({
      operator: operator.name,
      from: before.get(operator.name)?.state ?? null,
      to: operator.state,
    }));
}
