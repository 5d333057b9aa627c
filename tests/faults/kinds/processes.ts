/** A process dies: the worker, the Temporal server, PostgreSQL, the S3 server. Each comes back as a supervisor would do it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_STAGE, mixedQuestions, seededMoment, whole, type FaultKind } from '../kind';
import { until } from '../polling';

export const workerKilled: FaultKind = {
  name: 'worker-killed',
  title: 'SIGKILL of the worker, and a new one',
  stage: () => DEFAULT_STAGE,
  questions: mixedQuestions,
  async strike(scene) {
    const { stage } = scene;
    const moment = await seededMoment(scene);
    await stage.workers.shift()?.kill();
    const overAtMs = Date.now();
    stage.workers.push(stage.startWorker());
    return { moment, overAtMs, mayPayAgain: 1 };
  },
};

export const temporalKilled: FaultKind = {
  name: 'temporal-killed',
  title: 'SIGKILL of the Temporal server, and restart on its file',
  stage: () => DEFAULT_STAGE,
  questions: mixedQuestions,
  async strike(scene) {
    const { stage, draw } = scene;
    const moment = await seededMoment(scene);
    await stage.temporal.kill();
    const downMs = whole(draw('down'), 0, 4_000);
    await sleep(downMs);
    await stage.temporal.restart();
    return { moment: `${moment}, down ${String(downMs)} ms`, overAtMs: Date.now(), mayPayAgain: 0 };
  },
};

export const postgresStopped: FaultKind = {
  name: 'postgres-stopped',
  title: 'PostgreSQL stopped at once in the middle of a statement, and restarted',
  stage: () => DEFAULT_STAGE,
  questions: (all) =>
    all.filter(({ id }) => /^sprint-pg-(points|pole|dominant|largest|wins|unanswerable-fuel)/.test(id)),
  async strike({ stage, draw, calm }) {
    const before = stage.proxy.sent();
    const count = whole(draw('count'), 1, Math.floor(calm.statements * 0.8));
    const crashes: Promise<void>[] = [];
    stage.proxy.at(before + count, () => void crashes.push(stage.postgres.crash()));
    await until(`statement ${String(count)}`, () => crashes.length > 0);
    await Promise.all(crashes);
    const downMs = whole(draw('down'), 200, 4_000);
    await sleep(downMs);
    await stage.postgres.restart();
    const moment = `statement ${String(count)} of ${String(calm.statements)}, down ${String(downMs)} ms`;
    return { moment, overAtMs: Date.now(), mayPayAgain: 0 };
  },
};

const S3_DOWN_MS = 10_000;

export const storeDown: FaultKind = {
  name: 's3-down',
  title: 'the S3 server down for 10 s',
  stage: () => ({ ...DEFAULT_STAGE, store: 's3' }),
  questions: mixedQuestions,
  async strike(scene) {
    const { stage } = scene;
    const moment = await seededMoment(scene);
    await stage.storage.down();
    await sleep(S3_DOWN_MS);
    await stage.storage.up();
    return { moment, overAtMs: Date.now(), mayPayAgain: 0 };
  },
};
