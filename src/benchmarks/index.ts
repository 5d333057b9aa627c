export {
  BenchmarkDataError,
  type Benchmark,
  type BoardScore,
  type Metrics,
  type OpenBenchmark,
  type Prediction,
  type Submitted,
} from './benchmark';
export { Agreement, agreementOf } from './agreement';
export { RESAMPLES, type Estimate } from './bootstrap';
export { compareAnswers, ComparedQuestion, type MethodAnswer, type RowDifference } from './compared-question';
export {
  compareMethods,
  Comparison,
  OUTCOMES,
  outcomeOf,
  type ComparedAnswer,
  type ComparedMethod,
  type Entrant,
  type Outcome,
} from './comparison';
export { describeFailure, executionMatch, type Match, type MatchOptions } from './execution-match';
export { officialAnswerMatch } from './official-answer';
export {
  hasGold,
  loadQuestions,
  QuestionFileError,
  type BenchmarkItem,
  type Gold,
  type LoadOptions,
} from './question-file';
export { asksForOrder, rowOrder, type RowOrder } from './row-order';
export { judge, scoreAnswer, VERDICTS, type Answered, type Score, type Verdict } from './score';
export { figuresOf, MethodFigures, type Group, type Spread } from './run-figures';
export { summarise } from './summary';
