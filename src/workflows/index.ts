/** Every workflow of the bundle. */
export { answerQuestion } from './answer-question';
export { keepProved } from './keep-proved';
export { runBatch } from './run-batch';
export { watchLayer } from './watch-layer';
