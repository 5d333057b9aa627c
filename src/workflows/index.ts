/** Every workflow of the bundle. */
export { answerQuestion } from './answer-question';
export { runBatch } from './run-batch';
export { watchLayer } from './watch-layer';
