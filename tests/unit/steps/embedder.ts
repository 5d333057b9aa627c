/** An embedder without a network: the vectors of the simulated model, and a record of what was asked. */
import { ModelError, type Embedded, type Embedder } from '../../../src/ports';
import { vectorOf } from '../../../simulated-model/embeddings';

export interface TestEmbedder extends Embedder {
  readonly requests: string[][];
  /** Thrown by the next requests, in order; null: answered. */
  readonly failures: (Error | null)[];
  /** Awaited before every reply. */
  gate: () => Promise<void>;
}

export function testEmbedder(more: { batchSize?: number; model?: string; length?: number } = {}): TestEmbedder {
  const requests: string[][] = [];
  const failures: (Error | null)[] = [];
  const embedder: TestEmbedder = {
    model: more.model ?? 'test-embedding',
    endpoint: 'test',
    batchSize: more.batchSize ?? 96,
    requests,
    failures,
    gate: () => Promise.resolve(),
    async embed(texts, { signal }): Promise<Embedded> {
      requests.push([...texts]);
      const failure = failures.shift() ?? null;
      await embedder.gate();
      signal.throwIfAborted();
      if (failure !== null) throw failure;
      const vectors = texts.map((text) => [...vectorOf(text, 0, more.length ?? 256)]);
      return { vectors, tokens: texts.length * 10, costUsd: texts.length * 0.001 };
    },
  };
  return embedder;
}

export const refused = (): ModelError =>
  new ModelError('authentication', 'test rejected the key: check EMBED_KEY (401)');
