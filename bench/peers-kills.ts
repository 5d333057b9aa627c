/**
 * The cost of a SIGKILL for each contestant: repeated model calls, and the time from the restart to the next call and to the
 * end. The moment of the kill is a number of milliseconds after the n-th completion, drawn from a seed, the same for all. A
 * call that was in flight counts as repeated, because a provider may bill it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { SearchInput } from '../src/domain';
import type { SimulatedModel } from '../simulated-model';
import { drawer } from '../simulated-model/draw';
import { ContestantKilled, startContestant } from './contestants/child';
import { CONTESTANTS, type ContestantConfig, type ContestantKind } from './contestants/contestant';
import type { SearchEnd } from './contestants/process';
import { say } from './figure';
import { Field, type Arena } from './world/arena';
import { benchSearches } from './world/searches';

export const LATENCY_MS = 200;
const TRIES = 3;

interface Moment {
  readonly afterCalls: number;
  readonly delayMs: number;
}

export interface Recovery {
  readonly again: number;
  readonly nextCallMs: number;
  readonly finishMs: number;
}

export interface Kills {
  readonly recoveries: ReadonlyMap<ContestantKind, readonly Recovery[]>;
  /** How often a search had ended before its kill, also when it was tried again earlier. */
  readonly late: ReadonlyMap<ContestantKind, number>;
  readonly failures: ReadonlyMap<ContestantKind, string>;
  /** Model calls of the undisturbed searches. */
  readonly calls: readonly number[];
}

export async function measureKills(arena: Arena, count: number): Promise<Kills> {
  const model = await arena.modelServer(LATENCY_MS);
  const rights = await undisturbed(arena, model, count);
  const draw = drawer(1);
  const recoveries = new Map(CONTESTANTS.map((kind) => [kind, [] as Recovery[]]));
  const late = new Map(CONTESTANTS.map((kind) => [kind, 0]));
  const field = new Field();
  for (const [at, right] of rights.entries()) {
    const drawn = { calls: draw('calls', at), delayMs: Math.floor(draw('delay', at) * LATENCY_MS) };
    for (const kind of CONTESTANTS)
      await field.attempt(kind, async () => {
        const config = await arena.config(kind, model.baseUrl);
        // Another call follows the last one that a kill waits for.
        let afterCalls = 1 + Math.floor(drawn.calls * Math.max(1, right.asked - 2));
        for (let [tries, delayMs] = [1, drawn.delayMs]; tries <= TRIES; tries += 1) {
          const search = searchOf(`${kind}-killed${tries}`, at);
          const recovery = await killOnce(model, config, search, { afterCalls, delayMs }, right);
          const what =
            recovery === null
              ? 'had ended'
              : `asked ${recovery.again} again, ended after ${seconds(recovery.finishMs)} s`;
          say(`kill ${at + 1} of ${count}, ${afterCalls} calls and ${delayMs} ms: ${kind} ${what}`);
          if (recovery !== null) {
            recoveries.get(kind)?.push(recovery);
            return;
          }
          late.set(kind, (late.get(kind) ?? 0) + 1);
          [afterCalls, delayMs] = [Math.ceil(afterCalls / 2), 0];
        }
      });
  }
  return { recoveries, late, failures: field.failures, calls: rights.map(({ asked }) => asked) };
}

type Right = SearchEnd & { readonly asked: number };

function searchOf(name: string, at: number): SearchInput {
  const [search] = benchSearches({
    ...{ shape: 'endless', engine: 'postgresql', count: 1, name: `${name}-${at}`, firstSeed: 500 + at },
    overrides: { iterations: 3 },
  });
  if (search === undefined) throw new Error('no search to kill');
  return search;
}

/** The same searches undisturbed: their answers, and how often they ask the model. */
async function undisturbed(arena: Arena, model: SimulatedModel, count: number): Promise<readonly Right[]> {
  const contestant = await startContestant(await arena.config('in-process', model.baseUrl));
  try {
    const rights: Right[] = [];
    for (let at = 0; at < count; at += 1) {
      model.reset();
      const { ends } = await contestant.run([searchOf('undisturbed', at)]);
      for (const end of ends) rights.push({ ...end, asked: model.ledger().totals.asked });
    }
    return rights;
  } finally {
    await contestant.kill();
  }
}

/** null: the search had ended before it was killed. */
async function killOnce(
  model: SimulatedModel,
  config: ContestantConfig,
  search: SearchInput,
  moment: Moment,
  right: Right,
): Promise<Recovery | null> {
  const first = await startContestant(config);
  model.reset();
  const running = first.run([search]).catch((error: unknown) => {
    if (!(error instanceof ContestantKilled)) throw error;
    return null;
  });
  try {
    await Promise.race([model.billed(moment.afterCalls), running]);
    await sleep(moment.delayMs);
  } finally {
    await first.kill();
  }
  if ((await running) !== null) return null;
  const before = model.ledger().totals.asked;

  const restartedAt = performance.now();
  const watch = nextAsked(model, before);
  const second = await startContestant(config);
  try {
    const { ends } = await second.run([search], { fresh: false });
    const finishMs = performance.now() - restartedAt;
    const [end] = ends;
    if (end?.status !== right.status || end.sql !== right.sql)
      throw new Error(`it ended otherwise than without the kill: ${JSON.stringify(end)}`);
    const again = model.ledger().totals.asked - right.asked;
    return { again, nextCallMs: (watch.stop() ?? performance.now()) - restartedAt, finishMs };
  } finally {
    watch.stop();
    await second.kill();
  }
}

/** When the ledger first shows more than so many requests; looked at every few milliseconds. */
function nextAsked(model: SimulatedModel, asked: number) {
  let at: number | null = null;
  const timer = setInterval(() => {
    if (at === null && model.ledger().totals.asked > asked) at = performance.now();
  }, 5);
  return {
    stop: () => {
      clearInterval(timer);
      return at;
    },
  };
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}
