export {
  compareMethods,
  Comparison,
  OUTCOMES,
  outcomeOf,
  type ComparedMethod,
  type Entrant,
  type Outcome,
} from './comparison';
export { describeFailure, executionMatch, type Match, type MatchOptions } from './execution-match';
export { ResultLine } from './result-line';
export { officialAnswerMatch } from './official-answer';
export {
  chainsOf,
  hasGold,
  loadQuestions,
  QuestionFileError,
  type BenchmarkItem,
  type Gold,
  type LoadOptions,
} from './question-file';
export { asksForOrder, rowOrder, type RowOrder } from './row-order';
export {
  judge,
  reliabilityOf,
  scoreAnswer,
  summarise,
  VERDICTS,
  type Answered,
  type BoardScore,
  type Score,
  type Verdict,
} from './score';
export { figuresOf, MethodFigures, type Group, type Metrics, type Spread } from './run-figures';
export { Agreement, agreementOf, RESAMPLES, type Estimate } from './statistics';
