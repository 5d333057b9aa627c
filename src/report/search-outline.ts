/**
 * The search as an outline: the conversation with which it began, then each branch with what it changed and the attempts that
 * were made on it. The report and `gate show --trace` print the same outline, so that they cannot tell different stories.
 */
import type {
  Claim,
  HelperReport,
  HypothesisOutcome,
  Observation,
  SqlResult,
  Trajectory,
  WebObservation,
} from '../domain';
import { counted } from '../counted';
import { figuresText, provedBeforeText, rivalText } from '../text/claim-text';
import { resultPreview } from '../text/result-text';
import { compareIds } from './printable';
import type { Trace } from './trace';
import { BRANCH_STATES, CLAIM_WORDS, STEP_STATES, TURN_WORDS, VERDICT_WORDS, type Worded } from './words';

/** A line, the query that it tells of with its result, and the lines below it. */
export interface Entry {
  /** Empty where the query says all. */
  readonly text: string;
  readonly marks?: readonly Worded[];
  readonly sql?: string;
  readonly result?: SqlResult;
  /** The words of a web page or a helper, of which the beginning is shown. */
  readonly quoted?: string;
  readonly below?: readonly Entry[];
  /** The branches that go on from here. */
  readonly branches?: readonly Entry[];
}

export interface Section {
  readonly id: string;
  readonly title: string;
  readonly about: string | null;
  readonly entries: readonly Entry[];
}

/** The sections that have entries. */
export function searchOutline(trace: Trace): readonly Section[] {
  const { trajectories = [], lookups = [], events = [] } = trace.state ?? {};
  const turns = Object.keys(trace.turns ?? {}).sort(compareIds);
  const ids = new Set(trajectories.map(({ id }) => id));
  const roots = trajectories.filter(({ parent }) => parent === null || !ids.has(parent));
  const told = new Set([...trajectories.flatMap(({ attempts }) => attempts), ...lookups, ...turns]);
  // A search that was cut off in the middle of an iteration has attempts that no branch carries.
  const loose = Object.keys(trace.observations).filter((id) => !told.has(id));
  const sections: Section[] = [
    {
      id: 'conversation',
      title: 'Conversation',
      about: 'Each line is one reply of the model; below it stands what the database said.',
      entries: turns.map((id) => turnEntry(trace, id)),
    },
    {
      id: 'search',
      title: 'Branches',
      about: 'Each line is one branch; below it stands what it changed and what was tried from there.',
      entries: roots.map((root) => branchEntry(trace, root, null)),
    },
    {
      id: 'lookups',
      title: 'Lookups on the web',
      about: 'From outside the database: they can suggest readings, and prove none.',
      entries: attemptEntries(trace, lookups),
    },
    {
      id: 'loose',
      title: 'Attempts that no plan used',
      about: null,
      entries: attemptEntries(trace, loose.sort(compareIds)),
    },
    {
      id: 'events',
      title: 'Events',
      about: null,
      entries: events.map(({ iteration, kind, subject, detail }) => ({
        text: `iteration ${iteration}: ${kind.replaceAll('-', ' ')}, ${subject}: ${detail}`,
      })),
    },
  ];
  return sections.filter(({ entries }) => entries.length > 0);
}

function turnEntry(trace: Trace, id: string): Entry {
  const { action = 'look', reason, operators = [] } = trace.turns?.[id]?.reply ?? {};
  const said = reason ?? operators.map(({ name }) => name).join(', ');
  const { candidateId = null, claims = [] } = trace.verdicts?.[id] ?? {};
  const looks = trace.observations[id]?.tests ?? [];
  return {
    text: `${id} ${TURN_WORDS[action]}${said === '' ? '' : `: ${said}`}`,
    marks: candidateId === null ? [] : [{ says: `candidate ${candidateId}`, tone: 'good' }],
    below: [
      ...claims.map(claimEntry),
      ...looks.map(({ probeSql: sql, result }, at) => ({ text: whyOf(trace, id, at), sql, result })),
    ],
  };
}

function claimEntry(claim: Claim): Entry {
  const { statement, state, reason, rivals } = claim;
  const more = [
    ...(state === 'failed' || state === 'open' ? [reason] : []),
    ...rivals.map((rival) => `rival “${rival.reading}”: ${rivalText(rival)}`),
    provedBeforeText(claim),
  ];
  return {
    text: `${figuresText(claim)}: “${statement}”`,
    marks: [CLAIM_WORDS[state]],
    below: more.flatMap((text) => (text === null ? [] : [{ text }])),
  };
}

function branchEntry(trace: Trace, trajectory: Trajectory, parent: Trajectory | null): Entry {
  const { id, iteration, status, mergedInto, plan, progress, distance, potential, selections, bottleneck } = trajectory;
  const before = new Map((parent?.plan?.operators ?? []).map((operator) => [operator.name, operator]));
  const changed = (plan?.operators ?? []).filter((operator) => {
    const old = before.get(operator.name);
    return old?.state !== operator.state || old.bodyId !== operator.bodyId || old.updateId !== operator.updateId;
  });
  const { trajectories = [], candidates = [] } = trace.state ?? {};
  const inherited = new Set([...(parent?.attempts ?? []), ...Object.keys(trace.turns ?? {})]);
  const attempts = trajectory.attempts.filter((attempt) => !inherited.has(attempt));
  const outline = plan === null || !trajectory.via.endsWith('plan') ? undefined : trace.plans[plan.planId]?.outline;
  const own = candidates.filter((candidate) => candidate.trajectory === id);
  const doubtful = bottleneck === null ? '' : `, most doubtful step ${bottleneck}`;
  return {
    text: `${id} iteration ${iteration}: ${VIA[trajectory.via]}`,
    marks: [
      BRANCH_STATES[status],
      ...own.map((candidate): Worded => ({ says: `candidate ${candidate.id}`, tone: 'good' })),
      ...(mergedInto === null ? [] : [{ says: `into ${mergedInto}`, tone: 'calm' as const }]),
    ],
    below: [
      ...(outline === undefined ? [] : [{ text: outline }]),
      ...(plan === null
        ? []
        : [
            {
              text: `progress ${Math.round(progress * 100)} %, distance ${distance}, potential ${potential}, selected ${counted(selections, 'time')}${doubtful}`,
            },
          ]),
      ...changed.map(({ name, intent, state, immaterial }) => ({
        text: `${name}: ${intent}`,
        marks: [STEP_STATES[state], ...(immaterial === null ? [] : [VERDICT_WORDS.immaterial])],
      })),
      ...attemptEntries(trace, attempts),
    ],
    branches: trajectories.filter((child) => child.parent === id).map((child) => branchEntry(trace, child, trajectory)),
  };
}

const VIA: Readonly<Record<Trajectory['via'], string>> = {
  root: 'the question',
  plan: 'a plan',
  replan: 'a revised plan',
  ground: 'a step was tested',
  reuse: 'a proved step was used again',
};

function attemptEntries(trace: Trace, ids: readonly string[]): Entry[] {
  return ids.flatMap((id) => {
    const observation = trace.observations[id];
    if (observation === undefined) return [];
    const note = trace.actions[observation.proposalId]?.note ?? null;
    return [
      ...(note === null ? [] : [{ text: note }]),
      ...(observation.web === undefined ? [] : [webEntry(id, observation.web)]),
      ...(observation.helpers ?? []).map((helper) => helperEntry(id, helper)),
      ...observation.tests.map((_, at) => testEntry(trace, observation, at)),
    ];
  });
}

function webEntry(id: string, { tool, request, outcome, text, citations }: WebObservation): Entry {
  const sources = citations.length === 0 ? [] : [{ says: counted(citations.length, 'source'), tone: 'calm' as const }];
  return {
    text: `attempt ${id}: ${tool} ${request}`,
    marks: [{ says: outcome, tone: outcome === 'found' ? 'good' : 'warn' }, ...sources],
    quoted: text,
  };
}

function helperEntry(id: string, { task, helper, outcome, text }: HelperReport): Entry {
  return {
    text: `attempt ${id}: subtask ${task}`,
    marks: [
      { says: outcome, tone: outcome === 'reported' ? 'good' : 'warn' },
      ...(helper === null ? [] : [{ says: helper, tone: 'calm' as const }]),
    ],
    quoted: text,
  };
}

function testEntry(trace: Trace, { observationId, proposalId, tests }: Observation, at: number): Entry {
  const test = tests[at];
  if (test === undefined) throw new Error(`${observationId} has no test ${at}`);
  const { operator, materiality } = test;
  const proposed = trace.proposals[proposalId]?.tests.find((each) => each.operator === operator)?.hypotheses ?? [];
  const grounding = Object.values(trace.groundings)
    .flatMap(({ groundings }) => groundings)
    .find((each) => each.observationId === observationId && each.operator === operator);
  const why = whyOf(trace, proposalId, at);
  const ids = new Set([...proposed, ...test.hypotheses].map(({ id }) => id));
  const hypotheses = [...ids].map((id): Entry => {
    const said = proposed.find((each) => each.id === id);
    const verdict = grounding?.verdicts.find((each) => each.hypothesis === id);
    const more = [
      said?.expectation ? `Expected: ${said.expectation}` : '',
      ...outcomeTexts(test.hypotheses.find((each) => each.id === id)),
      verdict?.reason ?? '',
      verdict?.overruled ? `Overruled by the data: ${verdict.overruled}` : '',
    ];
    return {
      text: `${id} ${said?.mapping ?? ''}`,
      marks: [
        VERDICT_WORDS[verdict?.verdict ?? 'none'],
        ...(grounding?.winner === id ? [{ says: 'kept', tone: 'good' as const }] : []),
      ],
      below: lines(more),
    };
  });
  // `i1.t0.s1.a1.r1.probe` belongs to the attempt `i1.t0.s1.a1`.
  const refused = trace.rejections.filter(
    (each) => observationId.startsWith(`${each.attempt}.`) && each.operator === operator,
  );
  const matters = materiality?.immaterial === true ? 'the same answer under all' : 'the choice matters';
  return {
    text: `attempt ${observationId} on ${operator}${why === '' ? '' : `: ${why}`}`,
    sql: test.probeSql,
    result: test.result,
    below: [
      ...hypotheses,
      ...lines([
        materiality === null
          ? ''
          : `Run under ${materiality.combinations} combinations of readings: ${matters}. ${materiality.reason}`,
        ...refused.map(({ error }) => `The SQL was refused: ${error}`),
        grounding?.summary ? `Learned: ${grounding.summary}` : '',
      ]),
    ],
  };
}

/** The result of one reading: its predicates, its counts, readings that give the same answer, its own run of the probe. */
function outcomeTexts(outcome: HypothesisOutcome | undefined): string[] {
  if (outcome === undefined) return [];
  const { predicates, agreement, agreementNote, sameAnswer = [], run } = outcome;
  return [
    ...predicates.map(({ sql, outcome: is, note }) => `${is}: ${sql}${note ? ` (${note})` : ''}`),
    agreement === null ? '' : `Agreement: ${agreement.matching} of ${counted(agreement.examined, 'row')}`,
    agreementNote === undefined ? '' : `Counts: ${agreementNote}.`,
    sameAnswer.length === 0 ? '' : `The same answer as under ${sameAnswer.map(({ as }) => as).join(', ')}.`,
    run === undefined ? '' : `With its SQL the probe gave ${resultPreview(run.result)}.`,
  ];
}

const lines = (texts: readonly string[]): Entry[] => texts.filter((text) => text !== '').map((text) => ({ text }));

/** The reason for one of several queries; empty where nothing was said. */
function whyOf({ actions, turns }: Trace, id: string, at: number): string {
  return (actions[id]?.queries ?? turns?.[id]?.reply.queries)?.[at]?.why ?? '';
}
