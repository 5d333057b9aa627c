/**
 * Two workers on the same queues and two clients that ask the same questions at once. At every other moment one worker is
 * stopped for longer than its heartbeat lasts and then goes on, believing that it still owns its steps.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_STAGE, mixedQuestions, seededMoment, whole, type FaultKind } from '../kind';

const HEARTBEAT_MS = 10_000;

export const race: FaultKind = {
  name: 'workers-racing',
  title: 'two workers, two clients, and a worker that wakes up after its steps were given away',
  stage: () => ({ ...DEFAULT_STAGE, workers: 2 }),
  questions: mixedQuestions,
  async strike(scene) {
    const { stage, batch, index, draw } = scene;
    await batch.start();
    const moment = await seededMoment(scene);
    const [sleeper] = stage.workers;
    if (index % 2 === 0 || sleeper === undefined) {
      await batch.start();
      return { moment: `${moment}, asked again`, overAtMs: Date.now(), mayPayAgain: 0 };
    }
    sleeper.signal('SIGSTOP');
    const overAtMs = Date.now();
    const asleepMs = HEARTBEAT_MS + whole(draw('asleep'), 500, 4_000);
    await sleep(asleepMs);
    sleeper.signal('SIGCONT');
    return { moment: `${moment}, asleep ${String(asleepMs)} ms`, overAtMs, mayPayAgain: 1, workerMayDie: true };
  },
};
