/**
 * The price of durability: the same searches in-process, on GATE and on the peers a user could pick instead, in one run with
 * the same model server, database and moments of SIGKILL.
 *
 * 1. Every contestant has a process of its own; runs are interleaved, so that a busy machine is busy for all.
 * 2. GATE keeps its journal of model calls, which is a part of it. The peers run without: their own durability has to do it.
 *    (The journal is a part of the steps, so it would work on them as well; one row shows it.)
 * 3. What was asked of the model is read from its ledger, never from the contestants.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CONTESTANTS, type ContestantKind } from './contestants/contestant';
import { median, printFigures, SHORT, say, type Figure } from './figure';
import { measureKills, type Kills } from './peers-kills';
import { Arena } from './world/arena';
import { installPeers, peersInstalled } from './world/peer-packages';
import { benchSearches } from './world/searches';

const REPEATS = SHORT ? 2 : 5;
const ITERATIONS = SHORT ? 8 : 24;
const SEARCHES = SHORT ? 20 : 60;
const LATENCIES = SHORT ? [20] : [20, 500];

type PerContestant = ReadonlyMap<ContestantKind, number>;

async function measurePeers(): Promise<readonly Figure[]> {
  if (!peersInstalled()) {
    say('installing the peers in bench/peers …');
    installPeers();
  }
  const folder = mkdtempSync(join(tmpdir(), 'gate-bench-peers-'));
  const arena = await Arena.open(folder);
  try {
    const figures: Figure[] = [];
    for (const latencyMs of LATENCIES) figures.push(...(await overhead(arena, latencyMs)));
    for (const latencyMs of LATENCIES) figures.push(...(await throughput(arena, latencyMs)));
    figures.push(...(await kills(arena)));
    return figures;
  } finally {
    await arena.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A long search alone: what the engine adds to each model call, SQL steps and checkpoints included. */
async function overhead(arena: Arena, latencyMs: number): Promise<Figure[]> {
  const modelUrl = await arena.model(latencyMs);
  const repeats = latencyMs >= 100 ? Math.min(2, REPEATS) : REPEATS;
  const inputs = (kind: ContestantKind) =>
    benchSearches({
      ...{ shape: 'endless', engine: 'postgresql', count: repeats + 1, name: `${kind}-alone-${latencyMs}` },
      overrides: { iterations: ITERATIONS },
    });
  const walls = new Map(CONTESTANTS.map((kind) => [kind, [] as number[]]));
  const calls: number[] = [];
  await arena.withContestants({ modelUrl }, async (contestants) => {
    for (let round = 0; round <= repeats; round += 1) {
      for (const one of contestants) {
        const { kind } = one.config;
        const { ends } = await one.run(inputs(kind).slice(round, round + 1));
        // The first round warms up.
        if (round > 0) walls.get(kind)?.push(ends[0]?.ms ?? Number.NaN);
        if (round > 0 && kind === 'in-process') calls.push(ends[0]?.llmCalls ?? Number.NaN);
      }
      say(`model at ${latencyMs} ms: long search, round ${round} of ${repeats}`);
    }
  });
  const alone = walls.get('in-process') ?? [];
  const perCall = new Map(
    CONTESTANTS.map((kind) => [
      kind,
      median((walls.get(kind) ?? []).map((ms, at) => (ms - (alone[at] ?? Number.NaN)) / (calls[at] ?? Number.NaN))),
    ]),
  );
  const slowdown = new Map(
    CONTESTANTS.map((kind) => [kind, median((walls.get(kind) ?? []).map((ms, at) => ms / (alone[at] ?? Number.NaN)))]),
  );
  const how = `search of ${median(calls)} model calls of ${latencyMs} ms, alone; median of ${repeats}`;
  return [
    ...rows({ name: `overhead per model call, model at ${latencyMs} ms`, unit: 'ms', how }, perCall, ['in-process']),
    ...rows({ name: `wall time / in-process, model at ${latencyMs} ms`, unit: 'times', how }, slowdown),
  ];
}

/** Usual searches, one after the other and twenty at a time; and what they leave behind. */
async function throughput(arena: Arena, latencyMs: number): Promise<Figure[]> {
  const modelUrl = await arena.model(latencyMs);
  const figures: Figure[] = [];
  for (const concurrency of [1, 20]) {
    const count = concurrency === 1 ? Math.ceil(SEARCHES / 6) : SEARCHES;
    const inputs = (kind: ContestantKind) =>
      benchSearches({ shape: 'usual', engine: 'postgresql', count, name: `${kind}-many-${latencyMs}-${concurrency}` });
    const perHour = new Map<ContestantKind, number>();
    const before = await arena.engineBytes();
    await arena.withContestants({ modelUrl }, async (contestants) => {
      for (const one of contestants) {
        const { kind } = one.config;
        const { ms } = await one.run(inputs(kind), { concurrency });
        perHour.set(kind, (count / ms) * 3_600_000);
        say(
          `model at ${latencyMs} ms: ${count} searches, ${concurrency} at a time: ${kind} ${(ms / 1000).toFixed(1)} s`,
        );
      }
    });
    const how = `${count} searches of preset fast, ${concurrency} at a time`;
    const name = `searches per hour, ${concurrency} at a time, model at ${latencyMs} ms`;
    figures.push(...rows({ name, unit: '1/h', better: 'higher', how }, perHour));
    if (concurrency === 1 || latencyMs !== LATENCIES[0]) continue;
    const after = await arena.engineBytes();
    const kilobytes = (kind: ContestantKind): number =>
      ((after.get(kind) ?? 0) - (before.get(kind) ?? 0)) / count / 1024;
    const stored = (kind: ContestantKind) =>
      arena.storeBytes(kind, new Set(inputs(kind).map(({ searchId }) => searchId)));
    const engine = new Map(CONTESTANTS.map((kind) => [kind, kilobytes(kind)]));
    const total = new Map(
      CONTESTANTS.map((kind) => {
        const { contents, journal } = stored(kind);
        return [kind, kilobytes(kind) + (contents + (kind === 'gate' ? journal : 0)) / count / 1024];
      }),
    );
    figures.push(
      ...rows(
        { name: "storage per search, the engine's own", unit: 'KB', how: `${how}; growth of its database` },
        engine,
        ['in-process'],
      ),
      ...rows(
        {
          name: 'storage per search, with the store',
          unit: 'KB',
          how: 'the same and the contents; of GATE also its journal',
        },
        total,
      ),
    );
  }
  return figures;
}

async function kills(arena: Arena): Promise<Figure[]> {
  const moments = SHORT ? 2 : 6;
  const results: Kills = await measureKills(arena, moments);
  const how = `SIGKILL at ${moments} seeded moments of searches of about 11 calls of ${results.latencyMs} ms; ledger of the model`;
  return [
    ...rows({ name: 'model calls asked again per kill', unit: 'calls', how }, results.again),
    ...rows({ name: 'most asked again after one kill', unit: 'calls', how }, results.mostAgain),
    ...rows({ name: 'from restart to the next model call', unit: 's', how: 'median' }, results.nextCall),
    ...rows(
      { name: 'from restart to the finish', unit: 's', how: 'median; the rest of the search included' },
      results.finish,
    ),
    {
      ...{ name: 'model calls asked again per kill, with our journal', unit: 'calls', atMost: null, ratio: null },
      ...{ value: results.withJournal, contestant: 'dbos', how: 'the same steps on DBOS, journal kept' },
    },
  ];
}

function rows(
  figure: Pick<Figure, 'name' | 'unit' | 'how' | 'better'>,
  values: PerContestant,
  except: readonly ContestantKind[] = [],
): Figure[] {
  const own = values.get('gate') ?? Number.NaN;
  return CONTESTANTS.filter((kind) => !except.includes(kind)).map((kind) => {
    const value = values.get(kind) ?? Number.NaN;
    return { ...figure, value, atMost: null, contestant: kind, ratio: own === 0 ? null : value / own };
  });
}

printFigures(measurePeers());
