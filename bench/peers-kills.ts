/**
 * The cost of a SIGKILL for each contestant: repeated model calls, and the time from the restart to the next call and to the
 * end. The moment of the kill is a number of milliseconds after the n-th completion, drawn from a seed, the same for all. A
 * call that was in flight counts as repeated, because a provider may bill it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { SearchInput } from '../src/domain';
import { drawer } from '../simulated-model/draw';
import { ContestantKilled, startContestant } from './contestants/child';
import { CONTESTANTS, type ContestantConfig, type ContestantKind } from './contestants/contestant';
import type { SearchEnd } from './contestants/process';
import { median, say } from './figure';
import type { Arena } from './world/arena';
import { benchSearches } from './world/searches';

export interface Kills {
  readonly latencyMs: number;
  readonly again: ReadonlyMap<ContestantKind, number>;
  readonly mostAgain: ReadonlyMap<ContestantKind, number>;
  readonly nextCall: ReadonlyMap<ContestantKind, number>;
  readonly finish: ReadonlyMap<ContestantKind, number>;
  /** On DBOS with our journal. */
  readonly withJournal: number;
}

const LATENCY_MS = 200;

interface Moment {
  readonly afterCalls: number;
  readonly delayMs: number;
}

interface Recovery {
  readonly again: number;
  readonly nextCallMs: number;
  readonly finishMs: number;
}

export async function measureKills(arena: Arena, count: number): Promise<Kills> {
  const draw = drawer(1);
  const moments = Array.from({ length: count }, (_, at) => ({
    afterCalls: 1 + Math.floor(draw('calls', at) * 8),
    delayMs: Math.floor(draw('delay', at) * LATENCY_MS),
  }));
  const found = new Map(CONTESTANTS.map((kind) => [kind, [] as Recovery[]]));
  const journalled: Recovery[] = [];
  for (const [at, moment] of moments.entries()) {
    const right = await calm(arena, at);
    for (const kind of CONTESTANTS) {
      const config = await arena.config(kind, await arena.model(LATENCY_MS));
      const recovery = await killOnce(arena, config, input(`${kind}-killed`, at), moment, right);
      found.get(kind)?.push(recovery);
      say(
        `kill ${at + 1} of ${count}: ${kind} asked ${recovery.again} again, finished after ${seconds(recovery.finishMs)} s`,
      );
    }
    const config = await arena.config('dbos', await arena.model(LATENCY_MS), true);
    journalled.push(await killOnce(arena, config, input('dbos-journal-killed', at), moment, right));
  }
  const of = (pick: (recoveries: readonly Recovery[]) => number) =>
    new Map(CONTESTANTS.map((kind) => [kind, pick(found.get(kind) ?? [])]));
  return {
    latencyMs: LATENCY_MS,
    again: of((all) => mean(all.map(({ again }) => again))),
    mostAgain: of((all) => Math.max(...all.map(({ again }) => again))),
    nextCall: of((all) => median(all.map(({ nextCallMs }) => nextCallMs)) / 1000),
    finish: of((all) => median(all.map(({ finishMs }) => finishMs)) / 1000),
    withJournal: mean(journalled.map(({ again }) => again)),
  };
}

function input(name: string, at: number): SearchInput {
  const [search] = benchSearches({
    shape: 'long',
    engine: 'postgresql',
    count: 1,
    name: `${name}-${at}`,
    firstSeed: 500 + at,
  });
  if (search === undefined) throw new Error('no search to kill');
  return search;
}

/** The same search undisturbed: its answer, and how often it asks the model. */
async function calm(arena: Arena, at: number): Promise<SearchEnd & { readonly asked: number }> {
  const model = await arena.modelServer(LATENCY_MS);
  const contestant = await startContestant(await arena.config('in-process', model.baseUrl));
  try {
    model.reset();
    const { ends } = await contestant.run([input('calm', at)]);
    const [end] = ends;
    if (end === undefined) throw new Error('the search did not end');
    return { ...end, asked: model.ledger().totals.asked };
  } finally {
    await contestant.close();
  }
}

async function killOnce(
  arena: Arena,
  config: ContestantConfig,
  search: SearchInput,
  moment: Moment,
  right: SearchEnd & { readonly asked: number },
): Promise<Recovery> {
  const model = await arena.modelServer(LATENCY_MS);
  const first = await startContestant(config);
  model.reset();
  const running = first.run([search]).catch((error: unknown) => {
    if (!(error instanceof ContestantKilled)) throw error;
    return null;
  });
  await Promise.race([model.billed(moment.afterCalls), running]);
  await sleep(moment.delayMs);
  await first.kill();
  if ((await running) !== null) throw new Error(`${config.kind} had finished before it was killed`);
  const before = model.ledger().totals.asked;

  const restartedAt = performance.now();
  const watch = nextAsked(model, before);
  const second = await startContestant(config);
  const { ends } = await second.run([search], { fresh: false });
  const finishMs = performance.now() - restartedAt;
  const nextCallAt = await watch.stop();
  await second.close();
  const [end] = ends;
  if (end?.status !== right.status || end.sql !== right.sql)
    throw new Error(`${config.kind} ended otherwise than without the kill: ${JSON.stringify(end)}`);
  return {
    again: model.ledger().totals.asked - right.asked,
    nextCallMs: (nextCallAt ?? performance.now()) - restartedAt,
    finishMs,
  };
}

/** When the ledger first shows more than so many requests; looked at every few milliseconds. */
function nextAsked(model: { ledger(): { totals: { asked: number } } }, asked: number) {
  let at: number | null = null;
  const timer = setInterval(() => {
    if (at === null && model.ledger().totals.asked > asked) at = performance.now();
  }, 5);
  return {
    stop: () => {
      clearInterval(timer);
      return Promise.resolve(at);
    },
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}
