import type * as AppLayer from '../app/layer';
import type { Held, HeldEntry, HeldRule, OpenQuestion } from '../layer/state';
import type { LayerEvent } from '../domain';
import type { LayerCommand } from '../app/given';
import { saidBy } from '../app/surroundings';
import { either, told, type Inside } from './inside';

export interface OfDatabase {
  /** A configured name, a file, a folder of data files, or a URL. Left out: the only configured database. */
  readonly db?: string;
}

export interface Saying extends OfDatabase {
  /** Who says it, at most 100 characters. Left out: the user of this process. */
  readonly author?: string;
  /** Why. */
  readonly note?: string;
}

export interface Checking extends OfDatabase {
  /** Of one check, in milliseconds. Left out: 25,000. */
  readonly timeoutMs?: number;
  /** Ends the checks. */
  readonly leave?: AbortSignal;
}

export interface ListedLayer {
  readonly database: string;
  /** Proved by counts. */
  readonly entries: readonly HeldEntry[];
  /** Said by people. */
  readonly rules: readonly HeldRule[];
  /** What no data can decide: `answer` takes them. */
  readonly questions: readonly OpenQuestion[];
  /** ISO time; null: never. */
  readonly verifiedAt: string | null;
}

/** `entry` is everywhere the id of an entry or a rule, or the beginning of one. */
export class Layers {
  readonly #inside: Inside;

  /** @internal */
  constructor(inside: Inside) {
    this.#inside = inside;
  }

  /** `all`: also what is broken, suspended, superseded or rejected. */
  async list(options: OfDatabase & { readonly all?: boolean } = {}): Promise<ListedLayer> {
    return this.#on(options, (_, { layer, database }) => {
      const isShown = ({ status }: Held): boolean => options.all === true || status === 'active';
      const { entries, rules } = layer;
      return { database: database.name, ...layer, entries: entries.filter(isShown), rules: rules.filter(isShown) };
    });
  }

  /** With what happened to it, oldest first. */
  async show(entry: string, options: OfDatabase = {}): Promise<Held & { readonly history: readonly LayerEvent[] }> {
    return this.#on(options, (app, open) => {
      const held = app.findEntry(open, entry);
      return { ...held, history: app.historyOf(open, held) };
    });
  }

  /** Runs all checks again, and keeps what they show. */
  async verify(options: Checking = {}): Promise<AppLayer.Verdict> {
    return this.#on(options, (app, open) => app.verifyLayer(open, this.#checking(options)));
  }

  /** Says that it is right, with the figures of now. */
  async confirm(entry: string, options: Saying = {}): Promise<Held> {
    return (await this.#tell({ kind: 'confirm', entry }, options)).held;
  }

  /** Says that it is wrong: it and all that rests on it are used no more. */
  async reject(entry: string, options: Saying = {}): Promise<Held> {
    return (await this.#tell({ kind: 'reject', entry }, options)).held;
  }

  /** Words it anew; its check stays. */
  async edit(entry: string, statement: string, options: Saying = {}): Promise<AppLayer.Stated> {
    return this.#tell({ kind: 'edit', entry, statement }, options);
  }

  /** States a rule in at most 2,000 characters; it should name the tables and columns that it is about. */
  async add(statement: string, options: Saying = {}): Promise<AppLayer.Stated> {
    return this.#tell({ kind: 'add', statement }, options);
  }

  /** States a claim, which is kept only if the rows show it. */
  async prove(claim: AppLayer.ClaimToAdd, options: Saying & Checking = {}): Promise<readonly AppLayer.Proved[]> {
    return this.#on(options, (app, open) => app.addClaim(open, claim, this.#said(options), this.#checking(options)));
  }

  /** Answers an open question, by its id or the beginning of it. */
  async answer(question: string, text: string, options: Saying = {}): Promise<AppLayer.Stated> {
    return this.#tell({ kind: 'answer', question, text }, options);
  }

  #tell(command: LayerCommand, options: Saying): Promise<AppLayer.Stated> {
    return this.#on(options, (app, open) => app.tellLayer(open, command, this.#said(options)));
  }

  #on<T>({ db }: OfDatabase, work: (app: typeof AppLayer, open: AppLayer.OpenLayer) => T | Promise<T>): Promise<T> {
    return told(async () => {
      const app = await import('../app/layer');
      return work(app, await app.openLayer(this.#inside.at(), db));
    });
  }

  #said(saying: Saying): AppLayer.Said {
    return saidBy(this.#inside.at(), saying);
  }

  #checking({ timeoutMs, leave }: Checking): AppLayer.CheckOptions {
    const { at, closing } = this.#inside;
    return { timeoutMs, now: at().now(), signal: either(leave, closing) };
  }
}
