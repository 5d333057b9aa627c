export { searchDiff, type SearchDiff } from './diff';
export { renderDiffText } from './diff';
export { loadSide, loadTrace, type Trace } from './trace';
export { renderReport } from './render';
export { renderTraceText } from './trace-text';
export { tokensOf, tokensTable, type SearchTokens } from './tokens';
