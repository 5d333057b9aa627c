/** The process of one contestant: opens it, runs searches when told to, and can be killed at any moment. */
import { join } from 'node:path';
import type { SearchInput } from '../../src/domain';
import { benchSteps, type BenchSteps } from '../world/steps';
import type { Contestant, ContestantConfig, ContestantKind, ContestantModule } from './contestant';

export type Order =
  | { readonly kind: 'open'; readonly config: ContestantConfig }
  | {
      readonly kind: 'run';
      readonly inputs: readonly SearchInput[];
      readonly concurrency: number;
      readonly fresh: boolean;
    }
  | { readonly kind: 'close' };

export interface SearchEnd {
  readonly searchId: string;
  readonly status: string;
  readonly sql: string | null;
  readonly llmCalls: number;
  readonly ms: number;
}

export type Report =
  | { readonly kind: 'opened' }
  | { readonly kind: 'ran'; readonly ms: number; readonly ends: readonly SearchEnd[] }
  | { readonly kind: 'closed' }
  | { readonly kind: 'failed'; readonly message: string };

/** Files beside this one (`child.ts`): those of the peers import packages that only `bench/peers` has. */
const MODULES: Readonly<Record<ContestantKind, string>> = {
  'in-process': 'in-process',
  gate: 'gate',
  'langgraph-sqlite': 'langgraph',
  'langgraph-postgres': 'langgraph',
  dbos: 'dbos',
};

let world: BenchSteps | null = null;
let contestant: Contestant | null = null;

async function obey(order: Order): Promise<Report> {
  switch (order.kind) {
    case 'open': {
      const { config } = order;
      world = await benchSteps(config);
      const { open } = (await import(join(__dirname, `${MODULES[config.kind]}.js`))) as ContestantModule;
      contestant = await open(config, world);
      return { kind: 'opened' };
    }
    case 'run':
      return run(order);
    case 'close':
      await contestant?.close();
      await world?.close();
      return { kind: 'closed' };
  }
}

async function run({ inputs, concurrency, fresh }: Extract<Order, { kind: 'run' }>): Promise<Report> {
  if (contestant === null || world === null) throw new Error('run before open');
  if (fresh) for (const input of inputs) await world.begin(input);
  const open = contestant;
  const waiting = [...inputs];
  const ends: SearchEnd[] = [];
  const startedAt = performance.now();
  const lane = async (): Promise<void> => {
    for (let input = waiting.shift(); input !== undefined; input = waiting.shift()) {
      const since = performance.now();
      const { status, sql, usage } = await open.run(input);
      ends.push({ searchId: input.searchId, status, sql, llmCalls: usage.llmCalls, ms: performance.now() - since });
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  return { kind: 'ran', ms: performance.now() - startedAt, ends };
}

process.on('message', (order: Order) => {
  obey(order)
    .catch((error: unknown): Report => {
      console.error(error);
      return { kind: 'failed', message: error instanceof Error ? error.message : String(error) };
    })
    .then((report) => process.send?.(report, () => report.kind === 'closed' && process.exit(0)))
    .catch(() => process.exit(1));
});
process.on('disconnect', () => process.exit(0));
