export { loadTrace, type Trace } from './trace';
export { renderReport } from './render';
export { renderTraceText } from './text';
