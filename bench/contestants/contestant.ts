/**
 * One way to run a search that a user could choose: in-process, GATE, or the same loop on a peer. Each runs in a process
 * of its own (`process.ts`), so that it can be killed, with the same steps, model and database as the others.
 */
import type { SearchInput } from '../../src/domain';
import { runSearch } from '../../src/search/search';
import type { SearchHooks } from '../../src/search/run';
import type { AnswerSummary } from '../../src/domain/ports/step-parts';
import type { BenchSteps } from '../world/steps';
import type { StoredSteps } from '../../src/domain/ports/steps';
import { withCheckpoints } from '../../src/methods/checkpoints';

export const CONTESTANTS = ['in-process', 'gate', 'langgraph-sqlite', 'langgraph-postgres', 'dbos'] as const;
export type ContestantKind = (typeof CONTESTANTS)[number];

export interface ContestantConfig {
  readonly kind: ContestantKind;
  readonly modelUrl: string;
  readonly storeFolder: string;
  /** The database that is asked, as `StepsOptions` has it, and its name in the questions. */
  readonly database: string;
  readonly databaseName: string;
  /** Where the engine keeps what makes it durable: Temporal's address, a PostgreSQL URL, or an SQLite file. */
  readonly engineAt: string;
  /** As `StepsOptions` has it. */
  readonly intents: boolean;
}

export interface Contestant {
  /** Starts the search, or continues it after a kill. */
  run(input: SearchInput): Promise<AnswerSummary>;
  close(): Promise<void>;
}

export type OpenContestant = (config: ContestantConfig, world: BenchSteps) => Promise<Contestant>;

export interface ContestantModule {
  readonly open: OpenContestant;
}

export const HOOKS: SearchHooks = {
  now: () => Date.now(),
  stopRequested: () => null,
  onProgress: () => undefined,
};

/** The control loop of the product over steps that an engine has wrapped. */
export async function loop(input: SearchInput, steps: StoredSteps): Promise<AnswerSummary> {
  const { searchId, settings } = input;
  const outcome = await runSearch({ searchId, settings, state: null }, withCheckpoints(steps, null), HOOKS);
  if (outcome.kind !== 'finished') throw new Error(`${searchId} asked to be continued`);
  return outcome.summary;
}

const MODEL_STEPS: ReadonlySet<string> = new Set(['evaluate', 'plan', 'propose', 'ground', 'select']);

/** A call over the network, which engines are told to retry. */
export function isModelStep(name: string): boolean {
  return MODEL_STEPS.has(name);
}

/** Every step through `wrap`, which makes it durable. */
export function wrapSteps(
  steps: StoredSteps,
  wrap: (name: string, step: (input: unknown) => Promise<unknown>) => (input: unknown) => Promise<unknown>,
): StoredSteps {
  const entries = Object.entries(steps) as [string, (input: unknown) => Promise<unknown>][];
  return Object.fromEntries(entries.map(([name, step]) => [name, wrap(name, step)])) as unknown as StoredSteps;
}
