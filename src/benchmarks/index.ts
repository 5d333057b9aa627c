export { executionMatch, type Match, type MatchOptions } from './execution-match';
export { officialAnswerMatch } from './official-answer';
export { loadQuestions, QuestionFileError, type BenchmarkItem, type Gold, type LoadOptions } from './question-file';
export { asksForOrder, rowOrder, type RowOrder } from './row-order';
export { judge, scoreAnswer, VERDICTS, type Answered, type Score, type Verdict } from './score';
export { summarise, type Summary } from './summary';
