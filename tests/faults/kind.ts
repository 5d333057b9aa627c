/** One kind of fault: what it needs, and how it strikes at a moment. */
import { drawer, type Draw } from '../../simulated-model/draw';
import type { GoldQuestion } from '../../simulated-model';
import { until } from './polling';
import type { Batch } from './searches';
import type { Stage, StageOptions } from './stage';

export interface FaultKind {
  readonly name: string;
  readonly title: string;
  /** Kinds with equal needs share a stage, one after the other. */
  readonly stage: () => StageOptions;
  readonly questions: (all: readonly GoldQuestion[]) => readonly GoldQuestion[];
  strike(scene: Scene): Promise<Struck>;
}

export interface Scene {
  readonly stage: Stage;
  readonly batch: Batch;
  /** Chance of this moment, from the seed. */
  readonly draw: Draw;
  /** Position among the moments of the kind, from 0. */
  readonly index: number;
  /** What the same searches did without a fault. */
  readonly calm: Counts;
}

export interface Counts {
  readonly requests: number;
  readonly objects: number;
  readonly statements: number;
}

export interface Struck {
  /** In words, for the report: when it struck, and how. */
  readonly moment: string;
  readonly overAtMs: number;
  /** Calls of one question that may be paid again: the one in flight in a killed process. */
  readonly mayPayAgain: 0 | 1;
  /** The searches were ended by the fault and have to be asked again. */
  readonly askAgain?: boolean;
  /** A worker was treated so that its runtime may end it; it is then replaced, as a supervisor would. */
  readonly workerMayDie?: boolean;
}

export const DEFAULT_STAGE: StageOptions = {
  workers: 1,
  store: 'local',
  requestTimeoutMs: 30_000,
  clock: null,
};

/** Long questions of both engines, and one that cannot be answered. */
export function mixedQuestions(all: readonly GoldQuestion[]): readonly GoldQuestion[] {
  const wanted = ['sprint-points-per-team', 'sprint-pole-to-win', 'sprint-unanswerable-fuel'];
  const onPostgres = ['sprint-pg-dominant', 'sprint-pg-wins-per-driver', 'sprint-pg-largest-gap'];
  return all.filter(({ id }) => [...wanted, ...onPostgres].includes(id));
}

/** From the first to the last in equal likelihood, ends left out. */
export function whole(draw: number, from: number, to: number): number {
  return from + Math.floor(draw * Math.max(1, to - from + 1));
}

/**
 * Waits for a moment that the seed chooses: in the middle of a model request, just after a reply, or at a stored object
 * (that is, in or between SQL steps and checkpoints).
 */
export async function seededMoment({ stage, batch, draw, calm }: Scene): Promise<string> {
  const where = draw('where');
  const unit = where < 0.4 ? 'request' : where < 0.65 ? 'reply' : 'object';
  const most = unit === 'object' ? calm.objects : calm.requests;
  const count = whole(draw('count'), 1, Math.floor(most * 0.8));
  await until(`${unit} ${String(count)}`, async () => {
    if (unit === 'object') return batch.objects() >= count;
    const { totals } = await stage.model.ledger();
    return (unit === 'request' ? totals.asked : totals.billed) >= count;
  });
  return `${unit} ${String(count)} of ${String(most)}`;
}

export function drawOf(seed: number, kind: string, index: number): Draw {
  const draw = drawer(seed);
  return (...about) => draw(kind, index, ...about);
}
