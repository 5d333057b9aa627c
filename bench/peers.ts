/**
 * The price of durability: the same searches in-process, on GATE and on the peers a user could pick instead, in one run with
 * the same model server, database and moments of SIGKILL.
 *
 * 1. Every contestant has a process of its own. All run in every round, each round begins with another one, the first round
 *    warms up and does not count; a ratio is the median of those within a round, so that a busy machine is busy for all.
 * 2. The steps are the product's, and what a step stores carries the model's reply: on every engine it answers the call if the
 *    step comes again. The others are spared the write before each call, by which GATE tells what may have been billed.
 * 3. What was asked of the model is read from its ledger, never from the contestants.
 * 4. A power cut may cost every engine but LangGraph on SQLite its last moments: PostgreSQL runs without `fsync` here, and
 *    GATE's SQLite waits for the disk only at checkpoints. A killed process costs none of them anything.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CONTESTANTS, type ContestantKind } from './contestants/contestant';
import { bench, give, median, part, say, SHORT, type Figure } from './figure';
import { LATENCY_MS, measureKills, type Recovery } from './peers-kills';
import { Arena, type Bytes } from './world/arena';
import { installPeers, peersInstalled } from './world/peer-packages';
import { benchSearches } from './world/searches';

const ROUNDS = SHORT ? 1 : 5;
const ITERATIONS = SHORT ? 4 : 12;
const SEARCHES = SHORT ? 20 : 60;
const AT_A_TIME = 20;
const KILLS = SHORT ? 2 : 6;
/** How much more a peer may do than GATE. */
const AHEAD = { 20: 1.15, 500: 1 } as const;
const LATENCIES = SHORT ? ([20] as const) : ([20, 500] as const);
type Latency = keyof typeof AHEAD;

type PerContestant<T> = ReadonlyMap<ContestantKind, T>;
type Failures = PerContestant<string>;

async function measurePeers(): Promise<readonly Figure[]> {
  if (!peersInstalled()) {
    say('installing the peers in bench/peers …');
    installPeers();
  }
  const folder = mkdtempSync(join(tmpdir(), 'gate-bench-peers-'));
  const arena = await Arena.open(folder);
  try {
    for (const latencyMs of LATENCIES) await part(`many, model at ${latencyMs} ms`, () => many(arena, latencyMs));
    for (const latencyMs of LATENCIES) await part(`alone, model at ${latencyMs} ms`, () => alone(arena, latencyMs));
    await part('kills', () => kills(arena));
    return [];
  } finally {
    await arena.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A long search alone: what the engine adds to each model call, SQL steps and checkpoints included. */
async function alone(arena: Arena, latencyMs: Latency): Promise<Figure[]> {
  const inputs = (kind: ContestantKind) =>
    benchSearches({
      ...{ shape: 'endless', engine: 'postgresql', count: ROUNDS + 1, name: `${kind}-alone-${latencyMs}` },
      overrides: { iterations: ITERATIONS },
    });
  const walls = samples();
  const calls: number[] = [];
  const failures = await arena.withField(await arena.model(latencyMs), async (field) => {
    for (let round = 0; round <= ROUNDS; round += 1) {
      await field.round(round, async (one) => {
        const { kind } = one.config;
        const { ends } = await one.run(inputs(kind).slice(round, round + 1));
        if (round > 0) walls.get(kind)?.push(ends[0]?.ms ?? Number.NaN);
        if (round > 0 && kind === 'in-process') calls.push(ends[0]?.llmCalls ?? Number.NaN);
      });
      say(`model at ${latencyMs} ms: long search, round ${round} of ${ROUNDS}`);
    }
    return field.failures;
  });
  const base = walls.get('in-process') ?? [];
  const perCall = each(walls, (all) => pairs(all, base, (ms, other, at) => (ms - other) / (calls[at] ?? Number.NaN)));
  const slowdown = each(walls, (all) => pairs(all, base, (ms, other) => ms / other));
  const how = `search of ${median(calls)} model calls of ${latencyMs} ms, alone; median of ${ROUNDS}`;
  if (latencyMs === 500)
    give({
      ...{ name: 'GATE: wall time over in-process, model at 500 ms', unit: 'times', atMost: 1.015, how },
      value: slowdown.get('gate') ?? Number.NaN,
    });
  const overhead = { name: `overhead per model call, model at ${latencyMs} ms`, unit: 'ms', how };
  return [
    ...rows(overhead, perCall, failures).filter(({ contestant }) => contestant !== 'in-process'),
    ...rows({ name: `wall time / in-process, model at ${latencyMs} ms`, unit: 'times', how }, slowdown, failures),
  ];
}

/** Usual searches, twenty at a time; what they take of the processors and leave behind. */
async function many(arena: Arena, latencyMs: Latency): Promise<Figure[]> {
  const inputs = (kind: ContestantKind, round: number) =>
    benchSearches({
      ...{ shape: 'usual', engine: 'postgresql', count: SEARCHES, name: `${kind}-many-${latencyMs}-${round}` },
      firstSeed: 1 + round * SEARCHES,
    });
  const [perHour, cpuMs] = [samples(), samples()];
  const before = await arena.bytes();
  const failures = await arena.withField(await arena.model(latencyMs), async (field) => {
    for (let round = 0; round <= ROUNDS; round += 1)
      await field.round(round, async (one) => {
        const { kind } = one.config;
        const cpuBefore = arena.cpuSeconds(one);
        const { ms } = await one.run(inputs(kind, round), { concurrency: AT_A_TIME });
        const cpu = arena.cpuSeconds(one) - cpuBefore;
        const what = `${(ms / 1000).toFixed(1)} s, ${cpu.toFixed(1)} s of processor time`;
        say(`model at ${latencyMs} ms, round ${round} of ${ROUNDS}, ${SEARCHES} searches: ${kind} ${what}`);
        if (round === 0) return;
        perHour.get(kind)?.push((SEARCHES / ms) * 3_600_000);
        cpuMs.get(kind)?.push((1000 * cpu) / SEARCHES);
      });
    return field.failures;
  });
  const how = `${SEARCHES} searches of preset fast, ${AT_A_TIME} at a time, median of ${ROUNDS} rounds`;
  const name = `searches per hour, ${AT_A_TIME} at a time, model at ${latencyMs} ms`;
  const own = perHour.get('gate') ?? [];
  const ratios = each(perHour, (all) => pairs(all, own, (value, gate) => value / gate));
  const peers = CONTESTANTS.filter((kind) => kind !== 'gate' && kind !== 'in-process' && !failures.has(kind));
  const best = Math.max(...peers.map((kind) => ratios.get(kind) ?? Number.NaN));
  const lead = `best peer / GATE, searches per hour, model at ${latencyMs} ms`;
  const cpu = { name: `processor time per search, model at ${latencyMs} ms`, unit: 'ms' };
  give(
    { name: lead, value: best, unit: 'times', atMost: AHEAD[latencyMs], how },
    ...rows({ name, unit: '1/h', better: 'higher', how }, each(perHour, median), failures, ratios),
    ...rows({ ...cpu, how: 'its process, its engine, PostgreSQL' }, each(cpuMs, median), failures),
  );
  return latencyMs === LATENCIES[0] ? keptRows(before, await arena.bytes(), failures) : [];
}

function keptRows(before: Bytes, after: Bytes, failures: Failures): Figure[] {
  const count = SEARCHES * (ROUNDS + 1);
  const how = `growth over ${count} searches`;
  const of = (what: 'engine' | 'store') => (kind: ContestantKind) =>
    ((after.get(kind)?.[what] ?? 0) - (before.get(kind)?.[what] ?? 0)) / count / 1024;
  const engine = new Map(CONTESTANTS.map((kind) => [kind, of('engine')(kind)]));
  const total = new Map(CONTESTANTS.map((kind) => [kind, of('engine')(kind) + of('store')(kind)]));
  return [
    { name: 'GATE: kept per search', value: total.get('gate') ?? Number.NaN, unit: 'KB', atMost: 60, how },
    ...rows({ name: 'kept per search by the engine', unit: 'KB', how }, engine, failures),
    ...rows({ name: 'kept per search with the store', unit: 'KB', how: 'GATE: also intents' }, total, failures),
  ];
}

async function kills(arena: Arena): Promise<Figure[]> {
  const { recoveries, late, failures, calls } = await measureKills(arena, KILLS);
  const how = `SIGKILL at ${KILLS} seeded moments of searches of ${Math.min(...calls)} to ${Math.max(...calls)} calls of ${LATENCY_MS} ms`;
  const of = (pick: (one: Recovery) => number, summary: (values: readonly number[]) => number) =>
    each(recoveries, (all) => summary(all.map(pick)));
  const nextCall = of(({ nextCallMs }) => nextCallMs / 1000, median);
  const next = { name: 'from restart to the next model call', unit: 's', how: `${how}; median` };
  give({ ...next, name: `GATE: ${next.name}`, value: nextCall.get('gate') ?? Number.NaN, atMost: 0.5 });
  const again = ({ again: calls }: Recovery): number => calls;
  return [
    ...rows({ name: 'model calls asked again per kill', unit: 'calls', how }, of(again, mean), failures),
    ...rows(
      { name: 'most asked again after one kill', unit: 'calls', how },
      of(again, (all) => Math.max(...all)),
      failures,
    ),
    ...rows(next, nextCall, failures),
    ...rows(
      { name: 'from restart to the end', unit: 's', how: 'median; the rest of the search included' },
      of(({ finishMs }) => finishMs / 1000, median),
      failures,
    ),
    ...rows(
      { name: 'kills that came too late', unit: '', how: 'and were tried again at an earlier moment' },
      late,
      failures,
    ),
  ];
}

const samples = () => new Map(CONTESTANTS.map((kind) => [kind, [] as number[]]));

function each<T>(values: PerContestant<readonly T[]>, summary: (all: readonly T[]) => number): PerContestant<number> {
  return new Map([...values].map(([kind, all]) => [kind, summary(all)]));
}

/** The median over the rounds. */
function pairs(
  all: readonly number[],
  base: readonly number[],
  compare: (value: number, base: number, round: number) => number,
): number {
  return median(all.map((value, round) => compare(value, base[round] ?? Number.NaN, round)));
}

function rows(
  figure: Pick<Figure, 'name' | 'unit' | 'how' | 'better'>,
  values: PerContestant<number>,
  failures: Failures,
  ratios?: PerContestant<number>,
): Figure[] {
  const own = values.get('gate') ?? Number.NaN;
  return CONTESTANTS.map((kind) => {
    const [value, failed] = [values.get(kind) ?? Number.NaN, failures.get(kind)];
    const ratio = ratios?.get(kind) ?? (own === 0 ? null : value / own);
    return { ...figure, value, contestant: kind, ratio, ...(failed === undefined ? {} : { failed }) };
  });
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

bench(measurePeers);
