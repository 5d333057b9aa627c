export { compareMethods, Comparison, countsOf, type ComparedMethod, type Entrant } from './comparison';
export { describeFailure, executionMatch } from './execution-match';
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
export { judge, reliabilityOf, scoreAnswer, summarise, type BoardScore, type Score } from './score';
export { figuresOf, MethodFigures, type Group, type Metrics, type Spread } from './run-figures';
export { agreementOf, RESAMPLES, type Estimate } from './statistics';
export { OUTCOMES, VERDICTS, type Verdict } from './verdict';
