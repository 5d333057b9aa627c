/**
 * The search on LangGraph.js: an `entrypoint` whose steps are `task`s (its functional API, meant for loops like ours), with
 * durability `sync`, its safest, and its checkpointer for SQLite (write-ahead logging, as it sets itself) or PostgreSQL.
 */
import { entrypoint, task, type BaseCheckpointSaver } from '@langchain/langgraph';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import type { SearchInput } from '../../src/domain';
import { isModelStep, loop, wrapSteps, type OpenContestant } from '../contestants/contestant';

const RETRY = { maxAttempts: 10, initialInterval: 1_000, backoffFactor: 2 };

export const open: OpenContestant = async ({ kind, engineAt }, { steps }) => {
  const { checkpointer, close } = await openCheckpointer(kind, engineAt);
  const durable = wrapSteps(steps, (name, step) => {
    const retry = isModelStep(name) ? { retry: RETRY } : {};
    return task({ name, ...retry }, async (input: unknown) => (await step(input)) ?? null);
  });
  const search = entrypoint({ name: 'search', checkpointer }, (input: SearchInput) => loop(input, durable));
  return {
    async run(input) {
      const config = { configurable: { thread_id: input.searchId }, durability: 'sync' as const };
      const known = await checkpointer.getTuple(config);
      // A thread that was begun goes on with null; what its tasks returned is not run again.
      return search.invoke(known === undefined ? input : null, config);
    },
    close,
  };
};

interface Opened {
  readonly checkpointer: BaseCheckpointSaver;
  readonly close: () => Promise<void>;
}

async function openCheckpointer(kind: string, at: string): Promise<Opened> {
  if (kind === 'langgraph-sqlite') {
    const checkpointer = SqliteSaver.fromConnString(at);
    const database = checkpointer.db as { close(): void };
    const close = (): Promise<void> => {
      database.close();
      return Promise.resolve();
    };
    return { checkpointer, close };
  }
  const checkpointer = PostgresSaver.fromConnString(at);
  await checkpointer.setup();
  return { checkpointer, close: () => checkpointer.end() };
}
