/**
 * The library: a program asks as the command line does, by the same use cases (`src/app`), which load when they are needed.
 * Nothing is printed, no signal is listened to and no process is ended. Everything that goes wrong is a `GateError`.
 */
import * as z from 'zod';
import { openApp, searchOf, type App, type AppEvent } from '../app/app';
import { UsageError } from '../app/errors';
import type { AskOptions } from '../app/given';
import type { SearchStatus } from '../app/read';
import type { Steered, SteerCommand } from '../app/steer';
import type { Surroundings } from '../app/surroundings';
import type { WrittenConfig } from '../config';
import type { AnswerRecord } from '../domain';
import { Batches } from './batches';
import { Databases } from './databases';
import { Layers } from './layers';
import { either, told, type Inside, type Stopping } from './inside';
import { begin, type Underway } from './underway';

/** What `ask` tells: `progress` at most every 400 ms; `answer` comes last but for what is read for later questions. */
export type AskEvent = AppEvent;

export interface GateOptions {
  /**
   * Path of a configuration file, or what such a file holds; relative paths in it then begin at `cwd`. Left out: the file that
   * the command line reads (`GATE_CONFIG`, `gate.config.json` in `cwd` or in the user's configuration folder), if there is one.
   */
  readonly config?: string | WrittenConfig;
  /** Keys and settings; they go before the configuration. Left out: `process.env` as it is now. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Where relative paths begin. Left out: the working directory as it is now. */
  readonly cwd?: string;
}

const Given = z.strictObject({
  config: z.union([z.string().min(1), z.looseObject({})]).optional(),
  env: z.record(z.string(), z.string().optional()).optional(),
  cwd: z.string().min(1).optional(),
});

export interface StartedSearch {
  readonly id: string;
  /** Address in the Temporal UI; null: there is none, or the search has its answer. */
  readonly ui: string | null;
}

/** How long `result` waits while the search runs. */
export interface Waiting {
  /** In milliseconds, at most a day. Left out: it does not wait. */
  readonly waitMs?: number;
  /** Ends the waiting before. */
  readonly leave?: AbortSignal;
}

const DAY_MS = 86_400_000;
const WaitMs = z.strictObject({ waitMs: z.number().min(0).max(DAY_MS).default(0) });

export class Gate {
  /** The databases of the configuration, and others by path or URL. */
  readonly databases: Databases;
  /** What is kept of a database: conventions that its rows proved, and rules that people state. */
  readonly layer: Layers;
  /** Many questions at once. */
  readonly batch: Batches;
  readonly #inside: Inside;
  readonly #closing = new AbortController();
  readonly #following = new Set<Promise<unknown>>();
  #held: Promise<() => Promise<void>> | null = null;

  /** Opens with a configuration, or from the environment. Throws `UsageError` with one line for each mistake in it. */
  static async open(options: GateOptions = {}): Promise<Gate> {
    return told(async () => {
      const { given } = await import('../app/given');
      const { config, env = { ...process.env }, cwd = process.cwd() } = given(Given, options, 'Gate.open');
      const at: Surroundings = {
        ...{ cwd, platform: process.platform, now: () => Date.now() },
        env: typeof config === 'string' ? { ...env, GATE_CONFIG: config } : env,
        ...(typeof config === 'object' && { configuration: config }),
      };
      openApp(at);
      return new Gate(at);
    });
  }

  private constructor(at: Surroundings) {
    const { signal } = this.#closing;
    const here = (): Surroundings => {
      if (signal.aborted) throw new UsageError('this Gate is closed: open another one');
      return at;
    };
    this.#inside = {
      at: here,
      app: (onEvent) => openApp(here(), onEvent),
      closing: signal,
      hold: (app) => void (this.#held ??= held(app)),
      follow: (over) => {
        this.#following.add(over);
        void over.finally(() => this.#following.delete(over));
      },
    };
    this.databases = new Databases(this.#inside);
    this.layer = new Layers(this.#inside);
    this.batch = new Batches(this.#inside);
  }

  /**
   * Asks a question. It is one durable search, known by its id: asked again, it is joined while it runs, and its stored answer
   * is checked again without a model. A search that could not be answered has its `reason` in the record; one that failed throws
   * `SearchFailedError` with the record so far.
   */
  ask(text: string, options: AskOptions & Stopping = {}): Underway<AskEvent, AnswerRecord> {
    const { app: appFor, closing, hold, follow } = this.#inside;
    const { stop, leave, ...rest } = options;
    const patience = { stop, leave: either(leave, closing) };
    const { underway, over } = begin<AskEvent, AnswerRecord>(
      async ({ tell, tellResult }) => {
        const app = appFor((event) => {
          tell(event);
          if (event.kind === 'begun') hold(app);
          if (event.kind === 'answer') tellResult(event.record);
        });
        const [{ ask }, { askRequest }] = await Promise.all([import('../app/ask'), import('../app/given')]);
        const asked = await ask(askRequest(text, rest), app, patience);
        if (asked.kind === 'answer') return asked.record;
        throw new Error('a search that is waited for ended without an answer');
      },
      (next, last) => next.kind === 'progress' && last.kind === 'progress',
    );
    follow(over);
    return underway;
  }

  /**
   * Starts a search, or joins it, on which a worker in the background works; `result` waits for it. Needs a configuration from a
   * file or the environment.
   */
  async start(text: string, options: AskOptions = {}): Promise<StartedSearch> {
    return told(async () => {
      const app = this.#inside.app();
      const [{ ask }, { askRequest }] = await Promise.all([import('../app/ask'), import('../app/given')]);
      const asked = await ask(askRequest(text, options), app, 'background');
      return { id: searchOf(asked), ui: asked.ui };
    });
  }

  /** Where a search stands, with its record once it has ended. `id`: also the beginning of one, or `last`. */
  async result(id: string, options: Waiting = {}): Promise<SearchStatus> {
    return told(async () => {
      const { given } = await import('../app/given');
      const { waitMs } = given(WaitMs, { waitMs: options.waitMs }, 'result');
      const { standingWithin } = await import('../app/read');
      return standingWithin(id, this.#inside.app(), { waitMs, leave: either(options.leave, this.#inside.closing) });
    });
  }

  /** Tells a running search something, or a batch. Throws if it does not run, or refuses. */
  async steer(id: string, command: SteerCommand): Promise<Steered> {
    return told(async () => {
      const [app, { given }] = await Promise.all([import('../app/steer'), import('../app/given')]);
      return app.command(id, given(app.SteerCommand, command, 'steer'), this.#inside.app());
    });
  }

  /**
   * Leaves what is still asked (code `cancelled`; it goes on when it is asked again), waits at most 15 s for what answers proved
   * to be read for later questions, and stops the embedded Temporal if nobody else uses it. The process may then end by itself.
   */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#following);
    const held = this.#held;
    this.#held = null;
    await told(async () => (await held)?.());
  }
}

/** Only makes the next question faster. */
async function held(app: App): Promise<() => Promise<void>> {
  const { holdServer } = await import('../app/open-temporal');
  return holdServer(app).catch(() => () => Promise.resolve());
}
