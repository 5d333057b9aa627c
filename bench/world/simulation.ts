/**
 * Questions on processes, simulated: what waits for what, and how much is used at a time. A question is a sequence of
 * model calls; before and after each its process computes. The same code describes all parts on one machine (`bench load`,
 * by which it is checked) and many processes that share nothing but what is named here. The seed decides every draw.
 */
import { random } from '../../src/random';
import { Clock, Station, type Next } from './events';

export interface World {
  readonly seed: number;
  /** So many at once; or so many over a day, more sharply around its busiest hour the larger `sharpness` is. */
  readonly arrivals: { readonly atOnce: number } | { readonly perDay: number; readonly sharpness: number };
  /** Model calls of a question, each entry equally likely; questions at once take them in turn. */
  readonly calls: readonly number[];
  /** A log-normal distribution. */
  readonly model: { readonly medianSeconds: number; readonly sigma: number };
  /** Of a model call with its steps: what its process computes in turn with others, and what is computed beside it. */
  readonly cpuSeconds: { readonly inTurn: number; readonly beside: number };
  /** The cores that all of it shares; null: each process has its own, and the rest is computed elsewhere. */
  readonly sharedCores: number | null;
  readonly processes: {
    readonly most: number;
    /** Model calls at the same time in one of them. */
    readonly slots: number;
    readonly startSeconds: number;
    readonly lifetimeSeconds: number;
    readonly idleSeconds: number;
  };
  readonly shards: { readonly count: number; readonly secondsPerCall: number };
}

export interface Outcome {
  readonly calls: number;
  /** From the first arrival to the last answer. */
  readonly seconds: number;
  /** From arrival to answer, ascending. */
  readonly each: readonly number[];
  readonly mostInFlight: number;
  readonly mostProcesses: number;
  readonly starts: number;
  readonly processSeconds: number;
  /** Questions begun, and calls ended, a second: in the busiest second and in the busiest minute. */
  readonly begun: Peak;
  readonly ended: Peak;
  /** Share of the time in which the busiest shard wrote. */
  readonly busiestShard: number;
}

export interface Peak {
  readonly second: number;
  readonly minute: number;
}

export function simulate(world: World): Outcome {
  const { arrivals, calls, model, cpuSeconds } = world;
  const clock = new Clock();
  const draw = random(world.seed);
  const cores = world.sharedCores === null ? null : new Station(clock, world.sharedCores);
  const shards = Array.from({ length: world.shards.count }, () => new Station(clock, 1));
  const pool = new Pool(clock, world.processes);
  const [begun, ended]: [number[], number[]] = [[], []];
  const each: number[] = [];
  let [inFlight, mostInFlight, allCalls] = [0, 0, 0];

  const modelSeconds = (): number => {
    const normal = Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw());
    return model.medianSeconds * Math.exp(model.sigma * normal);
  };
  /** Half of what a call computes is before the model's answer and half behind it. */
  const compute = ({ core }: Process, then: Next): void => {
    const [inTurn, beside] = [cpuSeconds.inTurn / 2, cpuSeconds.beside / 2];
    if (cores === null) {
      core.hold(inTurn, then);
      return;
    }
    core.take(() =>
      cores.hold(inTurn, () => {
        core.give();
        cores.hold(beside, then);
      }),
    );
  };
  const begin = (count: number): void => {
    const since = clock.now;
    const shard = shards[Math.floor(draw() * shards.length)];
    inFlight += 1;
    mostInFlight = Math.max(mostInFlight, inFlight);
    allCalls += count;
    countAt(begun, clock.now);
    const call = (left: number): void => {
      if (left === 0) {
        inFlight -= 1;
        each.push(clock.now - since);
        return;
      }
      pool.take((process) => {
        compute(process, () =>
          clock.after(modelSeconds(), () => {
            compute(process, () => {
              pool.give(process);
              countAt(ended, clock.now);
              shard?.hold(world.shards.secondsPerCall, () => call(left - 1));
            });
          }),
        );
      });
    };
    call(count);
  };

  if ('atOnce' in arrivals) for (let at = 0; at < arrivals.atOnce; at += 1) begin(calls[at % calls.length] ?? 1);
  else overADay(clock, draw, arrivals, () => begin(calls[Math.floor(draw() * calls.length)] ?? 1));
  clock.run();
  pool.endAll();
  return {
    ...{ calls: allCalls, seconds: clock.now, each: each.sort((a, b) => a - b), mostInFlight },
    ...{ mostProcesses: pool.most, starts: pool.starts, processSeconds: pool.seconds },
    ...{ begun: peak(begun), ended: peak(ended) },
    busiestShard: Math.max(...shards.map(({ usedSeconds }) => usedSeconds)) / clock.now,
  };
}

const DAY = 86_400;

function overADay(clock: Clock, draw: () => number, day: { perDay: number; sharpness: number }, begin: Next): void {
  const share = (at: number): number => Math.exp(day.sharpness * (Math.cos(2 * Math.PI * (at / DAY - 0.5)) - 1));
  const mean = Array.from({ length: 1_440 }, (_, minute) => share(minute * 60)).reduce((a, b) => a + b) / 1_440;
  const most = day.perDay / DAY / mean;
  const next = (): void =>
    clock.after(-Math.log(1 - draw()) / most, () => {
      if (clock.now > DAY) return;
      if (draw() < share(clock.now)) begin();
      next();
    });
  next();
}

interface Process {
  readonly core: Station;
  readonly startedAt: number;
  busy: number;
  lastUsed: number;
}

/** Processes are started when a call finds no free slot, take no new call at the end of their life, and end when idle. */
class Pool {
  most = 0;
  starts = 0;
  seconds = 0;
  #starting = 0;
  readonly #open = new Set<Process>();
  /** At the end of their life, with calls under way. */
  readonly #draining = new Set<Process>();
  readonly #waiting = new Set<(process: Process) => void>();

  constructor(
    private readonly clock: Clock,
    private readonly limits: World['processes'],
  ) {}

  /** The process with the fewest calls gets the next one: all of them poll. */
  take(then: (process: Process) => void): void {
    let free: Process | null = null;
    for (const process of this.#open) if (process.busy < (free?.busy ?? this.limits.slots)) free = process;
    if (free !== null) {
      this.#use(free, then);
      return;
    }
    this.#waiting.add((process) => then(process));
    const all = this.#open.size + this.#draining.size + this.#starting;
    if (all < this.limits.most && this.#starting * this.limits.slots < this.#waiting.size) this.#start();
  }

  give(process: Process): void {
    process.busy -= 1;
    process.lastUsed = this.clock.now;
    if (this.#open.has(process)) this.#serve(process);
    if (process.busy > 0) return;
    if (this.#draining.has(process)) this.#end(process);
    else if (this.limits.idleSeconds < Infinity)
      this.clock.after(this.limits.idleSeconds, () => this.#endIfIdle(process));
  }

  endAll(): void {
    for (const process of this.#open) this.#end(process);
  }

  #start(): void {
    this.#starting += 1;
    this.starts += 1;
    this.most = Math.max(this.most, this.#open.size + this.#draining.size + this.#starting);
    this.clock.after(this.limits.startSeconds, () => {
      this.#starting -= 1;
      const now = this.clock.now;
      const process: Process = { core: new Station(this.clock, 1), startedAt: now, busy: 0, lastUsed: now };
      this.#open.add(process);
      if (this.limits.lifetimeSeconds < Infinity)
        this.clock.after(this.limits.lifetimeSeconds, () => this.#drain(process));
      this.#serve(process);
    });
  }

  #serve(process: Process): void {
    for (const next of this.#waiting) {
      if (process.busy >= this.limits.slots) return;
      this.#waiting.delete(next);
      this.#use(process, next);
    }
  }

  #use(process: Process, then: (process: Process) => void): void {
    process.busy += 1;
    then(process);
  }

  #drain(process: Process): void {
    if (!this.#open.delete(process)) return;
    this.#draining.add(process);
    if (process.busy === 0) this.#end(process);
  }

  #endIfIdle(process: Process): void {
    const idle = this.clock.now - process.lastUsed >= this.limits.idleSeconds;
    if (this.#open.has(process) && process.busy === 0 && idle) this.#end(process);
  }

  #end(process: Process): void {
    this.#open.delete(process);
    this.#draining.delete(process);
    this.seconds += this.limits.startSeconds + this.clock.now - process.startedAt;
  }
}

function countAt(seconds: number[], now: number): void {
  const at = Math.floor(now);
  for (let missing = seconds.length; missing <= at; missing += 1) seconds.push(0);
  seconds[at] = (seconds[at] ?? 0) + 1;
}

function peak(seconds: readonly number[]): Peak {
  const minutes: number[] = [];
  seconds.forEach((count, at) => (minutes[Math.floor(at / 60)] = (minutes[Math.floor(at / 60)] ?? 0) + count / 60));
  const most = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b), 0);
  return { second: most(seconds), minute: most(minutes) };
}
