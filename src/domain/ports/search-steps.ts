/**
 * What goes into each step of the search, of look, then prove and of learning, and what control reads of what came out. Left
 * out here is what every step of its kind has (`ModelStepInput`, `StepBase`, its usage).
 */
import type { AnswerStatus, CandidateView, EndedBy, FactView, PlanView, SearchState, UpdateView } from '..';
import type { Lookup, MemoryRef, PlanRef, StepBase, UsageDelta, WebTool } from './step-parts';

/** What a prompt needs to know; left out, no lookup is allowed. */
export interface MayLookUp {
  readonly lookupsLeft?: number;
}

/** Runs SQL and stores it as a candidate. */
export interface StoresCandidate {
  readonly candidateId: string;
  /** Earlier candidates to compare the result with, oldest first (rule S5). */
  readonly against: readonly string[];
}

/** What a model is asked in each role, and what comes of it. */
export interface SearchRoles {
  /** One turn of the conversation of `look-then-prove`. */
  readonly look: [
    {
      /** Ids of the turns so far. */
      readonly turns: readonly string[];
      /** The last turn was settled; this one is for what a person said since. */
      readonly hearsOut?: true;
    },
    { readonly turnId: string; readonly action: 'look' | 'commit' | 'unanswerable' },
  ];
  readonly evaluate: [
    {
      readonly trajectories: readonly {
        readonly id: string;
        readonly depth: number;
        readonly plan: PlanRef | null;
        readonly distance: number;
        readonly density: number;
        /** Its evidence: ids of observations and of the groundings that judged them, oldest first. */
        readonly attempts: readonly string[];
      }[];
    },
    {
      readonly scores: readonly {
        readonly trajectory: string;
        readonly progress: number;
        readonly potential: number;
        readonly bottleneck: string | null;
      }[];
    },
  ];
  readonly plan: [
    MayLookUp & {
      /** Other plans of the root. The new plan should be a different derivation. */
      readonly otherPlans: readonly PlanRef[];
      /** Reasons of earlier replies that the question is unanswerable. The new reply considers them. */
      readonly unanswerable?: readonly string[];
      /** Turns of the conversation before the search, for a plan that is made from nothing. */
      readonly seen?: readonly string[];
      /** A plan to revise (replan), with the operators that are blocked. */
      readonly revise: {
        readonly plan: PlanRef;
        readonly blocked: readonly string[];
        readonly attempts: readonly string[];
        /** The grounding that says which interfaces do not fit the rows. */
        readonly refit?: string;
      } | null;
    },
    (
      | {
          readonly kind: 'plan';
          readonly plan: PlanView;
          readonly potential: number;
          readonly bottleneck: string | null;
          /** First proposals that came with the plan. */
          readonly proposalId: string | null;
          readonly proposed: readonly string[];
        }
      | { readonly kind: 'unanswerable'; readonly reason: string; readonly potential: number }
      | { readonly kind: 'lookup'; readonly lookups: readonly Lookup[] }
    ),
  ];
  readonly propose: [
    MayLookUp & {
      readonly plan: PlanRef;
      readonly targets: readonly string[];
      /** Ids of observations and groundings to show: of the trajectory and of this expansion. */
      readonly attempts: readonly string[];
      /** Preset `paper`: the observations of this rollout so far. */
      readonly rollout: readonly string[];
      readonly callsLeft: number;
    },
    {
      readonly proposalId: string;
      readonly operators: readonly string[];
      readonly done: boolean;
      /** Present if the reply wants lookups first; then there is no proposal. */
      readonly lookups?: readonly Lookup[];
    },
  ];
  readonly ground: [
    { readonly plan: PlanRef; readonly observations: readonly string[]; readonly attempts: readonly string[] },
    {
      readonly groundingId: string;
      readonly operators: readonly {
        readonly operator: string;
        readonly winner: string | null;
        readonly bodyId: string | null;
        /** A hypothesis was supported or refuted, which is new evidence (rule S7). */
        readonly decided: boolean;
      }[];
      /** One sentence for the progress line, at most 160 characters. */
      readonly learned: string | null;
      /** Bodies that the reply wrote for other unresolved operators: they become assumed. */
      readonly written: readonly {
        readonly operator: string;
        readonly bodyId: string;
        readonly risk: number;
        readonly assumptions: number;
      }[];
      readonly facts: readonly FactView[];
      readonly delta: number | null;
      readonly impossible: string | null;
      /** Set if counts beside a positive control show that what is asked for is not stored (rule S1). */
      readonly absenceShown?: boolean;
      /** Operators whose declared columns or grain the rows contradict: the plan is revised at once. */
      readonly refit?: readonly string[];
      /** Next proposals that came with the judgement. */
      readonly nextProposalId: string | null;
      readonly nextOperators: readonly string[];
    },
  ];
  readonly select: [
    {
      /** Best first, one per distinct result, at most 10. */
      readonly candidates: readonly {
        readonly id: string;
        /** How many independent derivations have this result. */
        readonly agreesWith: number;
        /** The reason, if the candidate is that the question is unanswerable. */
        readonly unanswerable: string | null;
        /** By number: grounding updates on the way to it. */
        readonly depth?: number;
      }[];
      /** All candidates, in the order they were found: what they answer is merged, and at most 10 are shown. */
      readonly byNumber?: true;
    },
    /** null: the judge abstains. */
    { readonly candidate: string | null; readonly reason: string },
  ];
  /** Reads what the commit of a turn proved, before the layer of the database keeps it. */
  readonly keep: [
    /** `before`: turns of a lesson that are read with it. */
    { readonly turnId: string; readonly before?: readonly string[] },
    {
      /** How many entries. */
      readonly kept: number;
      /** Entries of before that cannot be right if these are: their checks are to run again (`recount`). */
      readonly contradicted: readonly string[];
    },
  ];
  /**
   * One turn of learning a database (`methods/learn.ts`): the turns so far, and how many there may be; the group of tables, and how
   * many turns went before it.
   */
  readonly learn: [
    { readonly turns: readonly string[]; readonly limit: number; readonly group: number; readonly begun: number },
    /** `done`: the model says that nothing is left of the group. `groups`: of all tables. */
    { readonly turnId: string; readonly done: boolean; readonly groups: number },
  ];
}

/** What the database is asked for each purpose, and what comes of it. */
export interface SearchPurposes {
  /** Reads the schema, profiles columns that the question likely needs, recalls what the layer of the database knows. */
  readonly prepare: [object, { readonly knownUpdates: readonly UpdateView[] }];
  /** Runs the queries of a look in one snapshot. */
  readonly queries: [{ readonly turnId: string }, { readonly observationId: string }];
  /** Lets the database decide a commit or a decline. */
  readonly commit: [
    StoresCandidate & {
      readonly turnId: string;
      readonly trajectory: string;
      /** How many commits and declines went back before. */
      readonly returned: number;
      /** Those before it. */
      readonly turns: readonly string[];
    },
    (
      | {
          /** It did not run as written; the error goes back like one of execution. */
          readonly kind: 'invalid';
          readonly error: string;
        }
      | {
          readonly kind: 'answer';
          readonly plan: PlanView;
          readonly run: CandidateRun;
          /** Of operators whose claims are all proved. */
          readonly updates: readonly UpdateView[];
          /** Of the observation and the grounding of its claims; null without claims. */
          readonly evidenceId: string | null;
          /** Claims; left out: none. */
          readonly proved?: number;
          /** A claim of its own is established, which the layer may keep; left out: none is. */
          readonly establishes?: boolean;
          /** Nothing goes back to the model. */
          readonly settled: boolean;
          /** Too little is covered, and the commit said that it should then be declined: what is covered. */
          readonly declined: string | null;
          readonly learned: string | null;
        }
      | { readonly kind: 'decline'; readonly settled: boolean; readonly reason: string }
    ),
  ];
  /** Runs the queries of a lesson and counts its claims: how many hold, and how many do not. */
  readonly prove: [{ readonly turnId: string }, { readonly proved: number; readonly open: number }];
  /** Writes the groundings of a candidate as claims, each with one check, and runs these; those proved are stored under the position. */
  readonly restate: [{ readonly candidateId: string }, { readonly proved: number }];
  /** Runs the checks of entries of the layer again, and says there which no longer hold. */
  readonly recount: [{ readonly entries: readonly string[] }, { readonly broken: number }];
  /** Runs each new body over its inputs, compares its columns with the declared ones, and profiles the columns it reads. */
  readonly check: [
    { readonly plan: PlanRef; readonly operators: readonly string[] },
    { readonly failures: readonly { readonly operator: string; readonly error: string }[] },
  ];
  readonly probe: [
    { readonly plan: PlanRef; readonly proposalId: string },
    {
      readonly observationId: string;
      readonly tests: readonly {
        readonly operator: string;
        readonly outcome: CandidateView['outcome'] | 'empty';
        /** Set if the reading was found immaterial (rule S9), relative to the bodies of the other operators. */
        readonly immaterial: { readonly relativeTo: readonly string[]; readonly bodyId: string } | null;
      }[];
    },
  ];
  /** Runs the winners' bodies over their inputs and makes updates of those that rule S1 proves. */
  readonly settle: [
    { readonly plan: PlanRef; readonly groundingId: string; readonly memory: MemoryRef },
    {
      readonly results: readonly {
        readonly operator: string;
        readonly bodyId: string | null;
        /** Set if rule S1 holds (or, with proof `model`, if the judge supports it and the body runs). */
        readonly update: UpdateView | null;
        /** The body ran but fell short of S1: the operator is assumed, with its verdict attached. */
        readonly assumed: boolean;
        readonly error: string | null;
      }[];
    },
  ];
  readonly candidate: [
    StoresCandidate & { readonly trajectory: string; readonly plan: PlanRef },
    Omit<CandidateRun, 'usage'>,
  ];
}

export interface CandidateRun {
  readonly outcome: CandidateView['outcome'];
  readonly rowCount: number;
  readonly trivial: boolean;
  readonly control: number | null;
  readonly equalTo: string | null;
  readonly usage: UsageDelta;
}

/** Runs a web search or fetch. Only URLs that the observations in `turns` named may be fetched. */
export interface WebInput extends StepBase {
  readonly purpose: 'web';
  readonly actionId: string;
  readonly tool: WebTool;
  readonly turns: readonly string[];
  /** An outage of the search provider is recorded as an observation instead of thrown. */
  readonly mayFail?: boolean;
}

export interface WebRun {
  readonly observationId: string;
  readonly outcome: 'found' | 'nothing' | 'failed' | 'refused';
  readonly usage: UsageDelta;
}

export interface FinishInput extends Pick<StepBase, 'searchId' | 'heldBy'> {
  readonly state: SearchState;
  readonly status: AnswerStatus;
  readonly endedBy: EndedBy;
  readonly chosen: string | null;
  readonly reason: string | null;
}

export interface KeptAfter {
  readonly kept: number;
  /** Why nothing was kept; null: it was read. */
  readonly notKept: string | null;
}

/** What came of the reading of what a search proved; its usage is that of the whole search. */
export interface AmendInput extends Pick<KeptAfter, 'notKept'> {
  readonly searchId: string;
  readonly usage: SearchState['usage'];
}

/** Takes over the answer of a child as a candidate. */
export interface AdoptInput extends StepBase, StoresCandidate {
  readonly child: string;
}

/** One run of a watch. */
export interface WatchRun {
  readonly database: string;
  /** Which database it is, whatever its name. */
  readonly identity: string;
  /** When the run began (ISO): its events have this time, so that a retried step finds what it wrote before. */
  readonly at: string;
  /** Of one check. */
  readonly timeoutMs: number;
}

/** Counts only: what broke is in the layer. */
export interface WatchFound {
  readonly checked: number;
  /** Hidden, or no answer in time. */
  readonly unseen: number;
  /** Do not hold now. */
  readonly broken: number;
  /** Of these, held before this run. */
  readonly broke: number;
  /** Hold for a smaller share of the rows than is kept. */
  readonly lower: number;
  /** Of these, for a smaller one than before this run. */
  readonly fell: number;
  readonly heldAgain: number;
}
