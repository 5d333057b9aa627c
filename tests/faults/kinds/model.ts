/** The model's endpoint misbehaves: some requests from a seeded one on meet the fault, whoever sends them. */
import type { WireFault } from '../../../simulated-model';
import { DEFAULT_STAGE, mixedQuestions, whole, type FaultKind } from '../kind';
import { until } from '../polling';

/** How long a silent model is waited for. */
const SILENCE_MS = 10_000;
const SILENT: ReadonlySet<WireFault> = new Set(['hang', 'stall']);

function endpoint(name: string, title: string, fault: WireFault): FaultKind {
  return {
    name,
    title,
    stage: () => (SILENT.has(fault) ? { ...DEFAULT_STAGE, requestTimeoutMs: SILENCE_MS } : DEFAULT_STAGE),
    questions: mixedQuestions,
    async strike({ stage, draw, calm }) {
      const count = whole(draw('count'), 0, Math.floor(calm.requests * 0.7));
      const times = whole(draw('times'), 1, 4);
      const seen = async (): Promise<number> => (await stage.model.ledger()).totals.asked;
      await until(`request ${String(count)}`, async () => (await seen()) >= count);
      await stage.model.failNext(Array.from({ length: times }, () => fault));
      // Over when the last one has been met and given up.
      const met = async (): Promise<number> => (await stage.model.ledger()).faultKinds[fault] ?? 0;
      await until(`${String(times)} times ${fault}`, async () => (await met()) >= times);
      const moment = `${String(times)} times after request ${String(count)} of ${String(calm.requests)}`;
      return { moment, overAtMs: Date.now(), mayPayAgain: 0 };
    },
  };
}

export const endpointKinds: readonly FaultKind[] = [
  endpoint('model-429', 'the model answers 429 with retry-after', 'rate-limit'),
  endpoint('model-500', 'the model answers 500', 'server-error'),
  endpoint('model-malformed', 'the model answers with broken JSON', 'malformed'),
  endpoint('model-hangs', 'the model never answers', 'hang'),
  endpoint('model-stalls', 'the model stops in the middle of its answer', 'stall'),
  endpoint('model-closes', 'the model closes the connection', 'drop'),
];
