/**
 * What a search has stored: one object a step, under its position.
 *
 * 1. A step writes all contents that it made, with its output, as one object when it ends. Objects never change: where two
 *    tries of a step end, the first one counts. The name of the object tells the step's input too: a step that comes again with
 *    another input, where a search that was cut short is asked again, is another object.
 * 2. The input, the journal (an intent before a model call, a reply after it), remarks of people and the final record are
 *    objects of their own. A reply and a record carry what their step had made until then, and so are the object of that step.
 * 3. Contents that many searches share, such as the schema, are stored once by their hash (`objects.ts`). The name of a step's
 *    object that refers to some ends in `REFERRING`.
 * 4. A process remembers what it wrote or read of a search. Each step lists the objects of its search and reads the unknown ones;
 *    not even that where this process has run all steps of the workflow so far (`Holding`).
 */
import type { SearchInput } from '../domain';
import { BoundedMap } from '../bounded-map';
import { canonical, compareText } from '../domain/canonical';
import { StoreError, type ObjectStore } from '../domain/ports';
import type { Holding } from '../domain/ports/step-parts';
import { each } from '../limiter';
import { sha256 } from '../sha256';
import type { Contents, Kind } from './contents';
import { envelopeOf } from './envelope';
import { perStore } from './per-store';
import { contentOf, dataOf, ownContent, PLAIN, REFERRING, storedJson, type Entry, type Made } from './stored-contents';

/** Where `gate-bench` keeps what judges said. */
export const JUDGEMENTS = 'judgements/';

export type RunStore = Pick<Run, keyof Run>;

export interface StepStore {
  readonly run: RunStore;
  /** What the step gave, if it has ended before. */
  done(): Promise<{ readonly output: unknown } | null>;
  /** Writes the step's object. Returns the output that the store holds: another try may have ended first. */
  end<T>(output: T): Promise<T>;
}

/** Kinds that are objects of their own. */
const OWN = ['input', 'intent', 'reply', 'remark', 'result'] as const;
type Own = (typeof OWN)[number];
/** What this process knows of a search. */
interface Known {
  readonly keys: Set<string>;
  /** By kind and id. */
  readonly contents: Map<string, unknown>;
  /** Of steps, by key without its ending. */
  readonly outputs: Map<string, unknown>;
  after: number;
  chars: number;
  /** The run of the workflow at whose beginning all was read. */
  runId: string | null;
}

const MOST_CHARS = 32 * 1024 * 1024;
const knownTo = perStore(() => new BoundedMap<Known>(MOST_CHARS));
interface Place {
  readonly store: ObjectStore;
  readonly searchId: string;
  readonly folder: string;
  readonly holding: Holding | undefined;
}

/** `folder`: of contents that belong to no search. */
export function createRunStore(
  store: ObjectStore,
  searchId: string,
  { holding, folder = `runs/${searchId}` }: { readonly holding?: Holding | undefined; readonly folder?: string } = {},
): RunStore {
  return new Run({ store, searchId, folder, holding }, null);
}

/** Stores the input of a search, which every step loads first. */
export async function storeInput(store: ObjectStore, input: SearchInput): Promise<void> {
  await createRunStore(store, input.searchId).put('input', input.searchId, input);
}

class Run {
  readonly searchId: string;
  private readonly known: Known;
  private opened: Promise<void> | null = null;
  private pending = new Map<string, Entry>();

  constructor(
    private readonly place: Place,
    /** The key of the step's object, without its ending; null: outside of steps. */
    private readonly stepKey: string | null,
  ) {
    this.searchId = place.searchId;
    this.known = knownOf(place);
  }

  /** Of another search. */
  of(searchId: string): RunStore {
    return createRunStore(this.place.store, searchId);
  }

  async get<K extends Kind>(kind: K, id: string): Promise<Contents[K]> {
    const found = await this.find(kind, id);
    if (found !== null) return found;
    const what = `${kind} ${id} of ${this.place.folder}/`;
    throw new StoreError('missing', `${what} is missing from the store: restore it, or ask with --fresh`);
  }

  async find<K extends Kind>(kind: K, id: string): Promise<Contents[K] | null> {
    const found = isOwn(kind) ? await this.findOwn(kind, id) : await this.findMade(nameOf(kind, id));
    return (found ?? null) as Contents[K] | null;
  }

  /** All of a kind, by id. */
  async all<K extends Kind>(kind: K): Promise<ReadonlyMap<string, Contents[K]>> {
    await this.open();
    const { keys, contents } = this.known;
    const own = `${this.place.folder}/${kind}/`;
    const names = isOwn(kind)
      ? [...keys].filter((key) => key.startsWith(own)).map((key) => key.slice(own.length, -PLAIN.length))
      : [...new Set([...contents.keys(), ...this.pending.keys()])]
          .filter((name) => name.startsWith(nameOf(kind, '')))
          .map((name) => name.slice(nameOf(kind, '').length));
    const found = await each(names.sort(compareText), async (id) => [id, await this.find(kind, id)] as const);
    return new Map(found.flatMap(([id, content]) => (content === null ? [] : [[id, content]])));
  }

  /**
   * Within a step, a content that is no object of its own is written when the step ends; the same step finds it before.
   * `overwrite: false`: another text under the key of an object of its own is a conflict.
   */
  async put<K extends Kind>(kind: K, id: string, data: Contents[K], options = { overwrite: true }): Promise<void> {
    if (isOwn(kind)) return this.putOwn(kind, id, data, options);
    if (this.stepKey !== null) {
      this.pending.set(nameOf(kind, id), { kind, id, data });
      return;
    }
    const alone = new Run(this.place, `${this.place.folder}/steps/${kind}.${id}`);
    await alone.put(kind, id, data);
    await alone.write(null, options);
  }

  async delete(kind: 'reply', id: string): Promise<void> {
    const key = this.keyOf(kind, id);
    await this.place.store.delete(key);
    this.known.keys.delete(key);
  }

  /** For one step. `input` tells whether a finished one was asked the same. */
  step(position: string, input: unknown): StepStore {
    const { place } = this;
    const key = `${place.folder}/steps/${position}.${sha256(canonical(input)).slice(0, 8)}`;
    const run = new Run(place, key);
    // A step within another begins where that one has looked.
    if (this.stepKey !== null) run.opened = this.opened;
    return {
      run,
      done: async () => {
        await run.open();
        const { outputs } = run.known;
        return outputs.has(key) ? { output: outputs.get(key) } : null;
      },
      end: async <T>(output: T): Promise<T> => (await run.write(output, { overwrite: false })) as T,
    };
  }

  /** What the steps gave that have ended, by position. */
  async outputs(): Promise<ReadonlyMap<string, unknown>> {
    await this.open();
    const found = [...this.known.outputs].map(([key, output]): [string, unknown] => [positionOf(key), output]);
    return new Map(found);
  }

  /** Writes what is pending as the step's object. Returns the output that is stored. */
  private async write(output: unknown, options: { readonly overwrite: boolean }): Promise<unknown> {
    const { known, stepKey } = this;
    if (stepKey === null) throw new Error('no step is open');
    const { made, refers } = await this.made([]);
    const key = stepKey + (refers ? REFERRING : PLAIN);
    const text = envelopeOf('step', `{"made":${made},"output":${JSON.stringify(output ?? null)}}`);
    if (!(await this.store(key, text, options))) return known.outputs.get(stepKey);
    known.outputs.set(stepKey, output);
    return output;
  }

  /** False: somebody else wrote it first, and that is known now. */
  private async store(key: string, text: string, options: { readonly overwrite: boolean }): Promise<boolean> {
    const { place, known } = this;
    try {
      await place.store.put(key, text, options);
    } catch (error) {
      const first = isConflict(error) ? await loadObject(place, key) : null;
      if (first === null) throw error;
      this.pending = new Map();
      apply(known, first);
      return false;
    }
    known.keys.add(key);
    for (const [name, { data }] of this.pending) known.contents.set(name, data);
    this.pending = new Map();
    grown(place, known, text.length);
    return true;
  }

  /** What is pending, as JSON. Shared contents are objects by then. */
  private async made(before: readonly Entry[]): Promise<{ readonly made: string; readonly refers: boolean }> {
    const { known, place } = this;
    known.after += 1;
    const entries = await each([...this.pending.values()], async ({ kind, id, data }) => {
      const stored = await storedJson(place.store, kind, data);
      return { refers: stored.refers, json: `{"kind":"${kind}","id":${JSON.stringify(id)},${stored.json}}` };
    });
    const all = [...before.map((entry) => JSON.stringify(entry)), ...entries.map(({ json }) => json)];
    return {
      made: `{"after":${known.after},"contents":[${all.join(',')}]}`,
      refers: entries.some(({ refers }) => refers),
    };
  }

  private async putOwn(kind: Own, id: string, data: unknown, options: { readonly overwrite: boolean }): Promise<void> {
    const { place, known } = this;
    const key = this.keyOf(kind, id);
    const { json } = await storedJson(place.store, kind, data);
    if (kind !== 'reply' && kind !== 'result') {
      await place.store.put(key, envelopeOf(kind, `{${json}}`), options);
      known.keys.add(key);
      if (isSettled(kind)) known.contents.set(nameOf(kind, id), data);
      return;
    }
    if (this.stepKey !== null) await this.open();
    const isNew = this.stepKey !== null && !known.keys.has(key);
    // Another text of the same carries on with what came with the first.
    const before = options.overwrite && !isNew ? await place.store.get(key) : null;
    const { made } = await this.made(before === null ? [] : madeIn(key, before).made.contents);
    const text = envelopeOf(kind, `{"made":${made},${json}}`);
    if (!(await this.store(key, text, options))) throw new StoreError('conflict', `${key} is already stored`);
  }

  private async findOwn(kind: Own, id: string): Promise<unknown> {
    const { place, known } = this;
    const key = this.keyOf(kind, id);
    if (this.stepKey !== null) {
      await this.open();
      // The journal is asked before each call: mostly it is known that nothing is there. People's remarks come at any time.
      if (kind !== 'remark' && !known.keys.has(key)) return null;
      const before = isSettled(kind) ? known.contents.get(nameOf(kind, id)) : undefined;
      if (before !== undefined) return before;
    }
    const text = await place.store.get(key);
    if (text === null) return null;
    const content = await ownContent(place.store, key, text);
    if (isSettled(kind)) known.contents.set(nameOf(kind, id), content);
    return content;
  }

  private async findMade(name: string): Promise<unknown> {
    const pending = this.pending.get(name);
    if (pending !== undefined) return pending.data;
    await this.open();
    return this.known.contents.get(name);
  }

  private keyOf(kind: Own, id: string): string {
    return `${this.place.folder}/${kind}/${id}${PLAIN}`;
  }

  private open(): Promise<void> {
    const { holding } = this.place;
    if (holding?.holdsAll === true && this.known.runId === holding.runId) return Promise.resolve();
    return (this.opened ??= this.read());
  }

  private async read(): Promise<void> {
    const { place, known } = this;
    const before = [...known.keys];
    const keys = await place.store.list(`${place.folder}/`);
    const stored = new Set(keys);
    const isGone = before.some((key) => !stored.has(key));
    if (isGone) forget(known);
    const unknown = keys.filter((key) => !known.keys.has(key));
    const objects = await each(unknown.filter(carries), (key) => loadObject(place, key));
    const found = objects.filter((object) => object !== null);
    for (const object of found.sort((a, b) => a.after - b.after || compareText(a.key, b.key))) apply(known, object);
    for (const key of unknown) known.keys.add(key);
    // Who asks again may have stored it again.
    known.contents.delete(nameOf('input', place.searchId));
    known.runId = isGone ? null : (place.holding?.runId ?? null);
    grown(place, known, 0);
  }
}

function isOwn(kind: Kind): kind is Own {
  return (OWN as readonly string[]).includes(kind);
}

/** Of a step's key without its ending. */
function positionOf(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1, key.lastIndexOf('.'));
}

/** Objects of their own that stay as they are while a search runs. */
function isSettled(kind: Own): boolean {
  return kind === 'input' || kind === 'remark';
}

function nameOf(kind: Kind, id: string): string {
  return `${kind}/${id}`;
}

/** Steps, replies and records carry contents. */
function carries(key: string): boolean {
  return /\/(steps|reply|result)\/[^/]+$/.test(key);
}

function isConflict(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'conflict';
}

function knownOf({ store, folder }: Place): Known {
  const all = knownTo(store);
  const found = all.get(folder);
  if (found !== undefined) return found;
  const known: Known = {
    ...{ keys: new Set(), contents: new Map(), outputs: new Map() },
    ...{ after: 0, chars: 0, runId: null },
  };
  all.set(folder, known, 0);
  return known;
}

/** Something was removed (`gate ops gc`, a reply that is asked for again): what is stored now is read anew. */
function forget(known: Known): void {
  known.keys.clear();
  known.contents.clear();
  known.outputs.clear();
  known.chars = 0;
}

function grown({ store, folder }: Place, known: Known, chars: number): void {
  known.chars += chars;
  const all = knownTo(store);
  const current = all.get(folder);
  if (current === known) all.set(folder, known, known.chars);
  // It was forgotten meanwhile, and another step began to remember: that does not know what this one has written.
  else if (current !== undefined) current.runId = null;
}

interface Loaded {
  readonly key: string;
  readonly after: number;
  readonly contents: readonly (readonly [name: string, content: unknown])[];
  /** undefined: it is no step. */
  readonly output: unknown;
  readonly chars: number;
}

function madeIn(key: string, text: string) {
  return dataOf(text, key) as { readonly made: Made; readonly output?: unknown };
}

/** null: it was deleted meanwhile. */
async function loadObject(place: Place, key: string): Promise<Loaded | null> {
  const text = await place.store.get(key);
  if (text === null) return null;
  const { made, output } = madeIn(key, text);
  const contents = await each(
    made.contents,
    async (entry) => [nameOf(entry.kind, entry.id), await contentOf(place.store, key, entry)] as const,
  );
  return { key, after: made.after, contents, chars: text.length, output };
}

function apply(known: Known, { key, after, contents, chars, output }: Loaded): void {
  known.keys.add(key);
  for (const [name, content] of contents) known.contents.set(name, content);
  const ending = key.endsWith(REFERRING) ? REFERRING : PLAIN;
  if (output !== undefined) known.outputs.set(key.slice(0, -ending.length), output);
  known.after = Math.max(known.after, after);
  known.chars += chars;
}
