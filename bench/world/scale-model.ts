/** The worlds that are simulated: the load bench on one machine, and a million questions a day. */
import { quantile } from '../figure';
import { simulate, type Outcome, type World } from './simulation';

/** What `bench load` measured. */
export interface MeasuredLoad {
  readonly searches: number;
  /** Model calls of the searches, in the order in which they were asked. */
  readonly calls: readonly number[];
  readonly seconds: number;
  readonly medianSeconds: number;
  readonly p95Seconds: number;
  /** Processor time: of the worker's main thread, and of everything else that belongs to the bench. */
  readonly cpu: { readonly inTurn: number; readonly beside: number };
  /** Cores that other programs of the machine left over. */
  readonly cores: number;
}

export interface LoadFigures {
  readonly 'calls a second': number;
  readonly 'a search, median': number;
  readonly 'a search, 95th percentile': number;
}

const MODEL_SECONDS = 0.5;
const forever = Number.POSITIVE_INFINITY;

export function figuresOf(load: MeasuredLoad): LoadFigures {
  return {
    'calls a second': sum(load.calls) / load.seconds,
    'a search, median': load.medianSeconds,
    'a search, 95th percentile': load.p95Seconds,
  };
}

/** Processor time per call is taken from `calibration`; of `load` only what was asked of it and what others left over. */
export function predict(
  calibration: MeasuredLoad,
  load: Pick<MeasuredLoad, 'searches' | 'calls' | 'cores'>,
): LoadFigures {
  const whole = Math.max(1, Math.round(load.cores));
  // Cores that are shared with others are slower ones.
  const perCall = (seconds: number): number => (seconds / sum(calibration.calls)) * (whole / load.cores);
  const { calls, seconds, each } = simulate({
    seed: 1,
    arrivals: { atOnce: load.searches },
    calls: load.calls,
    model: { medianSeconds: MODEL_SECONDS, sigma: 0 },
    cpuSeconds: { inTurn: perCall(calibration.cpu.inTurn), beside: perCall(calibration.cpu.beside) },
    sharedCores: whole,
    processes: { most: 1, slots: 256, startSeconds: 0, lifetimeSeconds: forever, idleSeconds: forever },
    shards: { count: 1, secondsPerCall: 0 },
  });
  return {
    'calls a second': calls / seconds,
    'a search, median': quantile(each, 0.5),
    'a search, 95th percentile': quantile(each, 0.95),
  };
}

/** Predicted over measured. */
export function agreement(predicted: LoadFigures, measured: LoadFigures): Record<keyof LoadFigures, number> {
  const ratio = (name: keyof LoadFigures): number => predicted[name] / measured[name];
  return {
    'calls a second': ratio('calls a second'),
    'a search, median': ratio('a search, median'),
    'a search, 95th percentile': ratio('a search, 95th percentile'),
  };
}

/**
 * Of one question: its calls are those of 60 questions with a strong model (docs/accuracy.md, 1.4 in the mean); the rest is
 * what `bench question` measured with S3 as the store and PostgreSQL, brought down from its 2.08 calls to these.
 */
export const QUESTION = {
  calls: [1, 1, 1, 2, 2],
  cpuSecondsPerCall: 0.126,
  actions: 6,
  writes: 8,
} as const;

/** No measurement: a model that writes some hundred tokens. */
const MODEL = { medianSeconds: 4, sigma: 0.5 };

/** The busiest minute has about 3.3 times the mean rate. */
const SHARPNESS = 2;

export const PROCESSES: Readonly<Record<string, World['processes']>> = {
  'long workers': { most: 1_000, slots: 16, startSeconds: 2, lifetimeSeconds: forever, idleSeconds: forever },
  'functions of 15 minutes': { most: 1_000, slots: 16, startSeconds: 2, lifetimeSeconds: 840, idleSeconds: 30 },
  'functions, one call at a time': { most: 1_000, slots: 1, startSeconds: 2, lifetimeSeconds: 840, idleSeconds: 30 },
};

export function aDay(questions: number, processes: World['processes']): Outcome {
  return simulate({
    ...{ seed: 1, arrivals: { perDay: questions, sharpness: SHARPNESS }, calls: QUESTION.calls, model: MODEL },
    ...{ cpuSeconds: { inTurn: QUESTION.cpuSecondsPerCall, beside: 0 }, sharedCores: null, processes },
    shards: { count: 512, secondsPerCall: 0.02 },
  });
}

export const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
