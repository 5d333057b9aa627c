/**
 * A simulated model: an OpenAI-compatible server that plays every role of `src/prompts` from questions with gold SQL, for
 * load, fault and cost tests. It knows the answers, so measurements with it say nothing about accuracy.
 *
 * 1. Seeded: the same request always gets the same reply, whatever came before it (`draw.ts`).
 * 2. Right and wrong are known by construction (`bodies.ts`): its final answers are right unless it is configured to err.
 * 3. The ledger lists every request and whether its completion was sent completely (`ledger.ts`).
 */
import { openDatabases, type DatabaseSpecs } from './databases';
import type { FaultRates, RateLimit } from './faults';
import { goldDescriber } from './gold';
import { loadQuestions, questionIndex, type GoldQuestion } from './questions';
import { serve, type SimulatedModel } from './server';
import { DEFAULT_RATES, type Rates } from './world';

export type { WireFault } from './faults';
export type { LedgerReport } from './ledger';
export { loadQuestions } from './questions';
export type { GoldQuestion } from './questions';
export type { SimulatedModel } from './server';
export type { Rates } from './world';

export const SIMULATED_MODEL = 'simulated';

export interface SimulatedModelOptions {
  /** Paths of question files, or questions. */
  readonly questions: readonly (string | GoldQuestion)[];
  readonly databases: DatabaseSpecs;
  readonly seed?: number;
  readonly host?: string;
  readonly port?: number;
  readonly models?: readonly string[];
  readonly apiKey?: string | null;
  readonly latencyMs?: number;
  readonly latencySpread?: number;
  readonly rates?: Partial<Rates>;
  readonly faults?: FaultRates;
  readonly retryAfterSeconds?: number;
  readonly rateLimit?: RateLimit | null;
}

export async function startSimulatedModel(options: SimulatedModelOptions): Promise<SimulatedModel> {
  const questions = options.questions.flatMap((each) => (typeof each === 'string' ? loadQuestions(each) : [each]));
  const databases = openDatabases(options.databases);
  const { faults = {} } = options;
  const server = await serve({
    seed: options.seed ?? 0,
    lookup: questionIndex(questions),
    gold: goldDescriber((name, dialect) => databases.open(name, dialect)),
    rates: { ...DEFAULT_RATES, ...options.rates, failingSql: options.rates?.failingSql ?? faults['failing-sql'] ?? 0 },
    brokenJson: faults['broken-json'] ?? 0,
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 0,
    models: options.models ?? [SIMULATED_MODEL],
    apiKey: options.apiKey ?? null,
    latency: { medianMs: options.latencyMs ?? 0, spread: options.latencySpread ?? 0 },
    faults,
    retryAfterSeconds: options.retryAfterSeconds ?? 1,
    rateLimit: options.rateLimit ?? null,
  });
  return {
    ...server,
    async close() {
      await server.close();
      await databases.close();
    },
  };
}
