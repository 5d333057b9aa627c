/**
 * Tests (rival hypotheses and one probe), observations, verdicts, grounding updates and facts. All are immutable and stored
 * under structural ids (rules S1, S2, S10, S11).
 */
import * as z from 'zod';
import { OperatorName } from './plan';
import { SqlResult } from './sql';

export const Hypothesis = z.object({
  /** `h1`, `h2`, …, unique in its test. */
  id: z.string().regex(/^h[1-9][0-9]?$/),
  mapping: z.string().min(1),
  /** What the data would show if it were true. */
  expectation: z.string(),
  /** Boolean SQL expressions over the relation `observation`. */
  predicates: z.array(z.string()),
  /** Two SQL expressions over `observation`: rows that agree, and rows examined. */
  agreement: z.object({ matching: z.string(), examined: z.string() }).nullable(),
  /** The operator's body under this reading, if it can already be written. */
  bodyId: z.string().nullable(),
  /**
   * The reading that what is asked for is not stored. Instead of SQL it has checks: `agreement` counts who has it recorded, of
   * those asked about, and a predicate is the positive control.
   */
  notStored: z.boolean().optional(),
});
export type Hypothesis = z.infer<typeof Hypothesis>;

export const Test = z.object({
  operator: OperatorName,
  hypotheses: z.array(Hypothesis).min(1),
  /**
   * A SELECT over base relations and written operators. If it reads the operator under test, it runs once for each hypothesis,
   * with that one's SQL in the operator's place.
   */
  probe: z.string().min(1),
});
export type Test = z.infer<typeof Test>;

export const Proposal = z.object({
  proposalId: z.string(),
  tests: z.array(Test),
  /** Preset `paper`: the rollout needs no further probe. */
  done: z.boolean(),
});
export type Proposal = z.infer<typeof Proposal>;

export const PredicateOutcome = z.enum(['true', 'false', 'not-established']);
export type PredicateOutcome = z.infer<typeof PredicateOutcome>;

export const HypothesisOutcome = z.object({
  id: z.string(),
  predicates: z.array(z.object({ sql: z.string(), outcome: PredicateOutcome, note: z.string().nullable() })),
  agreement: z.object({ matching: z.number(), examined: z.number() }).nullable(),
  /** The reading "not stored": `agreement.matching` is how many of the examined have nothing recorded. */
  notStored: z.boolean().optional(),
  /** Its own run of the probe, with its SQL in the operator's place, where the probe reads the operator. */
  run: z.object({ probeSql: z.string(), result: SqlResult }).optional(),
  /** What these counts are worth, or why there are none, where that has to be said. */
  agreementNote: z.string().optional(),
  /**
   * Rule S9: the other readings under which the whole plan gives the same answer, each with the bodies of the other operators
   * for which that was seen. Left out: none.
   */
  sameAnswer: z.array(z.object({ as: z.string(), relativeTo: z.array(z.array(z.string())) })).optional(),
});
export type HypothesisOutcome = z.infer<typeof HypothesisOutcome>;

/** Rule S9: the whole plan run under each rival reading. */
export const MaterialityOutcome = z.object({
  combinations: z.number().int(),
  /** True only if every combination ran, no result was empty, NULL, zero or truncated, and all results are equal. */
  immaterial: z.boolean(),
  reason: z.string(),
  /** The bodies of all other operators; it holds only relative to them. */
  relativeTo: z.array(z.string()),
});
export type MaterialityOutcome = z.infer<typeof MaterialityOutcome>;

export const TestOutcome = z.object({
  operator: OperatorName,
  /** Where each hypothesis has a run of its own: those of the first. */
  probeSql: z.string(),
  result: SqlResult,
  hypotheses: z.array(HypothesisOutcome),
  materiality: MaterialityOutcome.nullable(),
});
export type TestOutcome = z.infer<typeof TestOutcome>;

export const Citation = z.object({
  url: z.string(),
  title: z.string().nullable(),
  fetchedAt: z.string(),
  /** Of the text that was read. */
  sha256: z.string(),
});
export type Citation = z.infer<typeof Citation>;

/** The result of one call of a web tool. */
export const WebObservation = z.object({
  tool: z.enum(['web_search', 'fetch_url']),
  /** The query, or the URL. */
  request: z.string(),
  /** `refused`: no request was sent, or the page may not be read. */
  outcome: z.enum(['found', 'nothing', 'failed', 'refused']),
  /** The results or the page, or why there is none. */
  text: z.string(),
  citations: z.array(Citation),
  /** URLs in the results or page: only such URLs may be fetched later. */
  urls: z.array(z.string()),
});
export type WebObservation = z.infer<typeof WebObservation>;

/** What came of one subtask that an agent delegated. */
export const HelperReport = z.object({
  task: z.string(),
  /** The helper's search; null: none was begun. */
  helper: z.string().nullable(),
  /** `silent`: it ended without a report. */
  outcome: z.enum(['reported', 'silent', 'failed', 'refused']),
  text: z.string(),
  /** Tool calls, with those of its own helpers. */
  calls: z.number().int(),
});
export type HelperReport = z.infer<typeof HelperReport>;

export const Observation = z.object({
  observationId: z.string(),
  proposalId: z.string(),
  tests: z.array(TestOutcome),
  web: WebObservation.optional(),
  helpers: z.array(HelperReport).optional(),
});
export type Observation = z.infer<typeof Observation>;

export const Verdict = z.enum(['supported', 'refuted', 'open']);
export type Verdict = z.infer<typeof Verdict>;

export const HypothesisVerdict = z.object({
  hypothesis: z.string(),
  verdict: Verdict,
  reason: z.string(),
  /** Set if the model's verdict was replaced because its own predicates contradict it. */
  overruled: z.string().nullable(),
});
export type HypothesisVerdict = z.infer<typeof HypothesisVerdict>;

export const OperatorGrounding = z.object({
  operator: OperatorName,
  /** Which observation of the attempt this judges. */
  observationId: z.string(),
  verdicts: z.array(HypothesisVerdict),
  winner: z.string().nullable(),
  bodyId: z.string().nullable(),
  summary: z.string(),
});
export type OperatorGrounding = z.infer<typeof OperatorGrounding>;

/** One attempt's judgement: what the `ground` reply said after rules S1 and S2 were applied to it. */
export const Grounding = z.object({
  groundingId: z.string(),
  groundings: z.array(OperatorGrounding),
  facts: z.array(z.string()),
  tryNext: z.array(z.string()),
  avoid: z.array(z.string()),
  /** The summariser's own distance change, where it gives one (rule S6). */
  delta: z.number().nullable(),
  impossible: z.string().nullable(),
  /** Operators whose declared columns or grain the rows contradict. Left out: none. */
  interface: z.array(z.object({ operator: OperatorName, why: z.string() })).optional(),
});
export type Grounding = z.infer<typeof Grounding>;

/** Rule S1, spelled out: each requirement with what was seen. */
export const Proof = z.object({
  proved: z.boolean(),
  checks: z.array(z.object({ requirement: z.string(), met: z.boolean(), seen: z.string() })),
});
export type Proof = z.infer<typeof Proof>;

export const Dependencies = z.object({
  updates: z.array(z.string()),
  facts: z.array(z.string()),
  /** Body ids that were assumed, not proved, when this was established. */
  assumedBodies: z.array(z.string()),
  database: z.string(),
  schemaFingerprint: z.string(),
  snapshotAt: z.string(),
});
export type Dependencies = z.infer<typeof Dependencies>;

/** A grounding update: one memory entry (design §2). */
export const Update = z.object({
  updateId: z.string(),
  operator: OperatorName,
  intent: z.string(),
  /** Structural half of the reuse key, see `search/memory.ts`. */
  shape: z.string(),
  interface: z.object({ relations: z.array(z.string()), columns: z.array(z.string()), grain: z.array(z.string()) }),
  inputs: z.array(z.object({ local: z.string(), bodyId: z.string() })),
  bodyId: z.string(),
  mapping: z.string(),
  summary: z.string(),
  proof: Proof,
  proposalId: z.string().nullable(),
  observationId: z.string().nullable(),
  groundingId: z.string().nullable(),
  verdicts: z.array(HypothesisVerdict),
  /** Rivals that the data left standing and that give the same answer, relative to the other bodies (rule S9). Left out: none. */
  sameAnswer: z
    .object({
      relativeTo: z.array(z.string()),
      rivals: z.array(z.object({ hypothesis: z.string(), bodyId: z.string() })),
    })
    .optional(),
  dependsOn: Dependencies,
  /** The search that proved it; in a fork, that may be its parent. */
  searchId: z.string(),
});
export type Update = z.infer<typeof Update>;

export const Fact = z.object({
  factId: z.string(),
  statement: z.string(),
  observationId: z.string(),
  dependsOn: Dependencies,
});
export type Fact = z.infer<typeof Fact>;
