/**
 * A fork: a new search that continues from a checkpoint of another one (design D4). It copies everything that the parent had
 * stored until then, including the journal of its model calls (D2), and does not need the parent afterwards.
 *
 * 1. The objects of its steps are copied as they are stored. What they refer to is written again first: that resets its age, so
 *    `gate ops gc` does not delete it (`objects.ts`).
 * 2. Later work of the parent and its ending are not copied: the fork decides and pays for itself.
 * 3. The checkpoint is written last. A fork with its checkpoint is complete, and making it again changes nothing.
 */
import type { Remark, SearchInput, SearchState } from '../domain';
import { StoreError, type ObjectStore } from '../domain/ports';
import { each } from '../limiter';
import { NO_USAGE, ROOT } from '../domain/control-view';
import { objectKey } from './objects';
import { createRunStore } from './run-store';
import { referencesIn, withoutKinds } from './stored-contents';

export interface Fork {
  /** The checkpoint of the parent after `input.parent.iteration`. */
  readonly state: SearchState;
  /** Its `parent` must be set. */
  readonly input: SearchInput;
  readonly hint: Pick<Remark, 'author' | 'text'> | null;
  readonly nowMs: number;
}

/** Returns the state that the fork starts from. */
export async function storeFork(store: ObjectStore, fork: Fork): Promise<SearchState> {
  const { input, hint, nowMs } = fork;
  const { parent, searchId } = input;
  if (parent === undefined) throw new Error('a fork has a parent');
  const run = createRunStore(store, searchId);
  const checkpoint = `i${parent.iteration + 1}`;
  const made = await run.find('checkpoint', checkpoint);
  if (made !== null && made.searchId === searchId && (await run.find('input', searchId)) !== null) return made;
  const without = input.settings.layer === undefined ? ['known', 'told'] : [];
  await copyObjects(store, fork, parent, without);
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
async function copyObjects(
  store: ObjectStore,
  { state, input }: Fork,
  from: NonNullable<SearchInput['parent']>,
  without: readonly string[],
): Promise<void> {
  const prefix = `runs/${from.searchId}/`;
  const taken = (await store.list(prefix)).filter((key) => isBefore(key.slice(prefix.length), state, from.iteration));
  const copied = async (key: string, neededBy: string): Promise<string> => {
    const text = await store.get(key);
    if (text !== null) return text;
    throw new StoreError(
      'missing',
      `${key} is missing from the store (${neededBy}): restore it, or fork another search`,
    );
  };
  await each(taken, async (key) => {
    const text = withoutKinds(await copied(key, 'the fork copies it'), key, without);
    for (const name of referencesIn(text, key)) {
      const object = objectKey(name);
      await store.put(object, await copied(object, `${key} needs it`), { overwrite: true });
    }
    await store.put(`runs/${input.searchId}/${key.slice(prefix.length)}`, text, { overwrite: true });
  });
}

/** Whether an object, by its key below the search, was there when the iteration ended. */
export function isBefore(key: string, state: SearchState, after: number): boolean {
  const [, folder, id = ''] = /^([a-z]+)\/(.+)\.json$/.exec(key) ?? [];
  if (folder === 'remark') return state.steered?.remarks.includes(id) ?? false;
  if (folder !== 'steps' && folder !== 'intent' && folder !== 'reply') return false;
  // Positions begin with the iteration, as in `i12.t3.s1.a1.ground`. Of those outside iterations only `prepare` came before.
  const iteration = /^i(\d+)\./.exec(id)?.[1];
  return iteration === undefined ? id.startsWith('prepare.') : Number(iteration) <= after;
}
