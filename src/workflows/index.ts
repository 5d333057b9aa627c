/** Every workflow of the bundle. */
export { answerQuestion } from './answer-question';
export { keepProved } from './keep-proved';
export { repeatQuestion } from './repeat-question';
export { runBatch } from './run-batch';
export { tellReceivers } from './tell-receivers';
export { watchLayer } from './watch-layer';
