/**
 * A fork: a new search that continues from a checkpoint of another one (design D4). It copies everything that the parent had
 * stored until then, including the journal of its model calls (D2), and does not need the parent afterwards.
 *
 * 1. Contents are copied as they are stored. An object that one refers to is written again first: that resets its age, so
 *    `gate ops gc` does not delete it (`objects.ts`).
 * 2. Later work of the parent and its ending are not copied: the fork decides and pays for itself.
 * 3. The checkpoint is written last. A fork with its checkpoint is complete, and making it again changes nothing.
 */
import type { Remark, SearchInput, SearchState } from '../domain';
import { StoreError, type ObjectStore } from '../domain/ports';
import type { Hash } from '../sql/body';
import { each } from '../limiter';
import { NO_USAGE, ROOT } from '../domain/control-view';
import { objectKey } from './objects';
import { createRunStore, referenceIn } from './run-store';

interface ForkDeps {
  readonly store: ObjectStore;
  readonly hash: Hash;
}

export interface Fork {
  /** The checkpoint of the parent after `input.parent.iteration`. */
  readonly state: SearchState;
  /** Its `parent` must be set. */
  readonly input: SearchInput;
  readonly hint: Pick<Remark, 'author' | 'text'> | null;
  readonly nowMs: number;
}

/** Returns the state that the fork starts from. */
export async function storeFork(deps: ForkDeps, fork: Fork): Promise<SearchState> {
  const { input, hint, nowMs } = fork;
  const { parent, searchId } = input;
  if (parent === undefined) throw new Error('a fork has a parent');
  const run = createRunStore(deps.store, searchId, deps.hash);
  const checkpoint = `i${parent.iteration + 1}`;
  const made = await run.find('checkpoint', checkpoint);
  if (made !== null && made.searchId === searchId && (await run.find('input', searchId)) !== null) return made;
  const without = input.settings.layer === undefined ? ['known', 'told'] : [];
  await copyContents(deps.store, fork, parent, without);
  const state = forkedState(fork);
  if (hint !== null) {
    const remarkId = state.steered?.remarks.at(-1) ?? 'h1';
    const remark = { remarkId, kind: 'hint', target: null, at: new Date(nowMs).toISOString() } as const;
    await run.put('remark', remarkId, { ...remark, author: hint.author, text: hint.text });
  }
  await run.put('input', searchId, input);
  await run.put('checkpoint', checkpoint, state);
  return state;
}

/** The fork's first state. It counts only its own usage; its limits are those of its input. */
export function forkedState({ state, input, hint, nowMs }: Fork): SearchState {
  const { steered } = state;
  const remarks = steered?.remarks ?? [];
  const told = hint === null ? remarks : [...remarks, `h${remarks.length + 1}`];
  const { settings } = input;
  return {
    ...(settings.procedure === undefined ? withoutConversation(state) : state),
    searchId: input.searchId,
    startedAtMs: nowMs,
    usage: NO_USAGE,
    // The fork's settings may allow more plans of the root.
    trajectories: state.trajectories.map((trajectory) =>
      trajectory.id === ROOT && trajectory.status === 'exhausted' && trajectory.selections < settings.maxPlans
        ? { ...trajectory, status: 'open' as const }
        : trajectory,
    ),
    ...(steered === undefined && hint === null
      ? {}
      : {
          steered: {
            ...{ vetoes: [], pins: [], ...steered, remarks: told, budgets: null },
            ...(hint === null ? {} : { unheard: [...(steered?.unheard ?? []), ...told.slice(remarks.length)] }),
          },
        }),
  };
}

/** A fork by a method that has no conversation hands over to the search, as the conversation itself does. */
function withoutConversation(state: SearchState): SearchState {
  const { looking, candidates } = state;
  if (looking?.phase !== 'look') return state;
  return {
    ...state,
    looking: { ...looking, phase: 'search' },
    candidates: candidates.map((candidate) => ({ ...candidate, status: 'withdrawn' as const })),
  };
}

/** `without`: kinds that the fork may not use. */
async function copyContents(
  store: ObjectStore,
  { state, input }: Fork,
  from: NonNullable<SearchInput['parent']>,
  without: readonly string[],
): Promise<void> {
  const prefix = `runs/${from.searchId}/`;
  const taken = (await store.list(prefix)).filter((key) => {
    const [, kind, id] = /^([a-z-]+)\/(.+)\.json$/.exec(key.slice(prefix.length)) ?? [];
    return (
      kind !== undefined && id !== undefined && !without.includes(kind) && isBefore(kind, id, state, from.iteration)
    );
  });
  const copied = async (key: string, neededBy: string): Promise<string> => {
    const text = await store.get(key);
    if (text !== null) return text;
    throw new StoreError(
      'missing',
      `${key} is missing from the store (${neededBy}): restore it, or fork another search`,
    );
  };
  await each(taken, async (key) => {
    const text = await copied(key, 'the fork copies it');
    const reference = referenceIn(text, key);
    const object = reference && objectKey(reference.name);
    if (object !== null) await store.put(object, await copied(object, `${key} needs it`), { overwrite: true });
    await store.put(`runs/${input.searchId}/${key.slice(prefix.length)}`, text, { overwrite: true });
  });
}

/** Whether a content existed when the iteration ended. */
export function isBefore(kind: string, id: string, state: SearchState, after: number): boolean {
  if (['input', 'result', 'selection', 'restated', 'kept'].includes(kind)) return false;
  if (kind === 'remark') return state.steered?.remarks.includes(id) ?? false;
  if (kind === 'candidate') return state.candidates.some((candidate) => candidate.id === id);
  // Structural ids begin with the iteration, as in `i12.t3.s1.a1.ground`; others tell the content. A checkpoint has the number
  // of the next iteration; the one forked from is written separately.
  const iteration = /^i(\d+)(?:\.|$)/.exec(id)?.[1];
  if (iteration !== undefined) return Number(iteration) <= after;
  // Of steps and calls outside iterations, only `prepare` came before; `select` belongs to the ending.
  return !['checkpoint', 'step', 'intent', 'reply'].includes(kind) || id === 'prepare' || id.startsWith('prepare.');
}
