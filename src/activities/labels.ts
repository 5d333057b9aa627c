/**
 * The summaries of activities in the timeline of the Temporal UI: one short line each, such as
 * `iter 2 · ground op_gaps (attempt 1)`. Only names, ids and counters: no row values, no text of a model (design D7).
 * Pure; the names behind an id come from earlier replies of this run.
 */
import type {
  AdoptInput,
  ChildInput,
  FinishInput,
  ModelInput,
  ModelOutcome,
  SqlInput,
  WebInput,
} from '../ports/search-steps';
import { counted } from '../counted';

/** Temporal's limit for a summary. */
const MAX_BYTES = 200;

export class Labels {
  private readonly operatorsOf = new Map<string, readonly string[]>();

  model(input: ModelInput): string {
    switch (input.role) {
      case 'look':
        return label(input, `look or commit (turn ${String(input.turns.length + 1)})`);
      case 'evaluate':
        return label(input, `compare ${counted(input.trajectories.length, 'trajectory', 'trajectories')}`);
      case 'plan':
        return label(input, input.revise === null ? 'plan' : 'revise the plan');
      case 'propose':
        return label(input, `propose a probe for ${input.targets.join(', ')}`);
      case 'ground':
        return label(input, `ground ${this.names(input.observations)}`);
      case 'select':
        return label(input, `select among ${String(input.candidates.length)} answers`);
      case 'learn':
        return label(input, `learn (turn ${String(input.turns.length + 1)})`);
      case 'keep':
        return label(input, 'read what was proved');
      case 'react':
      case 'redel':
        return label(input, `act (${String(input.callsUsed)} of ${counted(input.callsLimit, 'call')} used)`);
      case 'reforce-link':
        return label(input, `link table ${String(input.table + 1)}`);
      case 'reforce-format':
        return label(input, 'fix the header of the answer');
      case 'reforce-explore':
        return label(input, `${voteOf(input)}${EXPLORE[input.asks]}`);
      case 'reforce-generate':
        return label(input, `${voteOf(input)}write the SQL`);
      case 'reforce-choose':
        return label(input, `choose among ${counted(input.candidates.length, 'candidate')}`);
      case 'reforce-answer':
        return label(input, 'answer from the result');
    }
  }

  sql(input: SqlInput): string {
    switch (input.purpose) {
      case 'prepare':
        return 'read the schema';
      case 'queries':
        return label(input, 'look');
      case 'commit':
      case 'prove':
        return label(input, 'decide the claims');
      case 'restate':
        return label(input, 'count what was proved once more');
      case 'recount':
        return label(input, 'count again what was kept before');
      case 'check':
        return label(input, `check ${input.operators.join(', ')}`);
      case 'probe':
        return label(input, `probe ${this.names([input.proposalId])}`);
      case 'settle':
        return label(input, `settle ${this.names([input.groundingId])}`);
      case 'candidate':
        return label(input, `run candidate ${input.candidateId}`);
      case 'tool':
        return label(input, input.helpers === undefined ? 'query' : 'read what the helpers found');
      case 'final':
        return label(input, 'run the final query');
      case 'compress':
        return label(input, 'compress the schema');
      case 'explore':
        return label(input, `${voteOf(input)}explore`);
      case 'refine':
        return label(input, `${voteOf(input)}run the SQL`);
      case 'agree':
        return label(input, `compare ${String(input.candidates.length)} results`);
    }
  }

  /** Without query or address: both come from a model. */
  web(input: WebInput): string {
    return label(input, input.tool === 'web_search' ? 'search the web' : 'fetch a page');
  }

  child(input: ChildInput): string {
    return label(input, `child ${input.position}`);
  }

  adopted(input: AdoptInput): string {
    return label(input, `take over an answer as candidate ${input.candidateId}`);
  }

  finish(input: FinishInput): string {
    return `final record: ${input.status} (${input.endedBy})`;
  }

  /** Learns from a reply which operators an id refers to. */
  learn(value: unknown): void {
    const known = value as Known | null;
    if (known === null || typeof known !== 'object') return;
    if (known.proposalId) this.operatorsOf.set(known.proposalId, known.proposed ?? names(known.operators));
    if (known.nextProposalId) this.operatorsOf.set(known.nextProposalId, known.nextOperators ?? []);
    if (known.observationId) this.operatorsOf.set(known.observationId, names(known.tests));
    if (known.groundingId) this.operatorsOf.set(known.groundingId, names(known.operators));
  }

  learnFrom(outcome: ModelOutcome<unknown>): void {
    if (outcome.kind === 'ok') this.learn(outcome.value);
  }

  private names(ids: readonly string[]): string {
    const known = ids.flatMap((id) => this.operatorsOf.get(id) ?? []);
    return [...new Set(known)].join(', ') || ids.join(', ');
  }
}

/** The fields of replies that hold an id and its operators. */
interface Known {
  readonly proposalId?: string | null;
  readonly proposed?: readonly string[];
  readonly nextProposalId?: string | null;
  readonly nextOperators?: readonly string[];
  readonly observationId?: string;
  readonly groundingId?: string;
  readonly tests?: readonly { readonly operator: string }[];
  readonly operators?: readonly (string | { readonly operator: string })[];
}

function names(items: readonly (string | { readonly operator: string })[] | undefined): string[] {
  return (items ?? []).map((item) => (typeof item === 'string' ? item : item.operator));
}

const EXPLORE = {
  queries: 'ask for queries to explore with',
  correction: 'correct a query',
  rest: 'correct the other queries',
};

/** Whose step it is, from its position. */
function voteOf({ position }: { readonly position: string }): string {
  const vote = /\.(v\d+)\./.exec(position)?.[1];
  return vote === undefined ? '' : `${vote}: `;
}

function label(step: { readonly position: string; readonly tryNumber?: number }, text: string): string {
  const iteration = /^i(\d+)/.exec(step.position)?.[1];
  const attempt = /\.a(\d+)/.exec(step.position)?.[1];
  const notes = [
    ...(attempt === undefined ? [] : [`attempt ${attempt}`]),
    ...((step.tryNumber ?? 0) > 0 ? [`try ${String((step.tryNumber ?? 0) + 1)}`] : []),
  ];
  const prefix = iteration === undefined ? '' : `iter ${iteration} · `;
  return cut(`${prefix}${text}`, notes.length === 0 ? '' : ` (${notes.join(', ')})`);
}

/** Names are ASCII, but the two separators have three more bytes than characters. */
function cut(text: string, suffix: string): string {
  const room = MAX_BYTES - suffix.length - 8;
  return text.length <= room ? text + suffix : `${text.slice(0, room)}…${suffix}`;
}
