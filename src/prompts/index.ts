/** Prompts, one file per role: `renderX(input)` makes the messages, `xSchema` the reply's schema, `parseX` the reply. */
export { parseEvaluate, renderEvaluate, evaluateSchema, EvaluateReply } from './evaluate';
export type { EvaluateInput, TrajectoryText } from './evaluate';
export { lookSchema, parseLook, renderLook, LookReply, SHOWN_ROWS } from './look';
export type { LookInput, LookTurn } from './look';
export { parsePlan, parsePlanOrLookups, renderPlan, planSchema, planSchemaFor } from './plan';
export type { PlanInput } from './plan';
export { PlanReply } from './plan-reply';
export {
  parsePropose,
  parseProposeOrLookups,
  renderPropose,
  proposeSchema,
  proposeSchemaFor,
  ProposeReply,
} from './propose';
export type { ProposeInput } from './propose';
export { parseGround, renderGround, groundSchema, GroundReply } from './ground';
export type { GroundInput, ObservedText } from './ground';
export { parseSelectAnswer, renderSelectAnswer, selectAnswerSchema, SelectAnswerReply } from './select-answer';
export type { CandidateText, SelectAnswerInput } from './select-answer';
export { parseSelectByNumber, renderSelectByNumber, selectByNumberSchema } from './select-by-number';
export type { FoundAnswer, SelectByNumberInput, SelectByNumberReply } from './select-by-number';
export { retryMessages } from './reply';
export type { Parsed } from './reply';
export { data } from './shared';
export type { MemoryEntry, PromptContext } from './shared';
export { builtOn, TestReply } from './test-reply';
export { webTools } from './web';
export type { LookupsReply } from './web';
export type { EvidenceText, HypothesisText, OperatorText, PlanText, TestText } from './texts';
