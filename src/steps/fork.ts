/**
 * A fork: a new search that goes on from a checkpoint of another one (design D4). It takes along what the parent had
 * stored until then, the journal of its model calls included (D2), and needs the parent no more afterwards.
 *
 * 1. Contents are copied as they are stored; an object that one refers to is written again first, so that its age begins
 *    anew and no sweep takes it away (`objects.ts`).
 * 2. What the parent did after that iteration is left out, and so is its ending: the fork decides and pays for itself.
 * 3. The checkpoint is written last. A fork that has it is complete, and making it again changes nothing.
 */
import type { Remark, SearchInput, SearchState, Usage } from '../domain';
import { StoreError, type ObjectStore } from '../ports';
import type { Hash } from '../search/body';
import { NO_USAGE } from '../search/budgets';
import { ROOT } from '../search/frontier';
import { objectKey } from './objects';
import { createRunStore, referenceIn, type RunStore } from './run-store';
import { broughtBack } from './swept';

export interface ForkDeps {
  readonly store: ObjectStore;
  readonly hash: Hash;
}

export interface Fork {
  /** The checkpoint of the parent after `input.parent.iteration`. */
  readonly state: SearchState;
  /** With `parent`. */
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
  await copyContents(deps, fork.state, { from: parent.searchId, to: searchId, after: parent.iteration });
  const state = forkedState(fork);
  if (hint !== null) await keepHint(run, state.steered?.remarks.at(-1) ?? 'h1', hint, nowMs);
  await run.put('input', searchId, input);
  await run.put('checkpoint', checkpoint, state);
  return state;
}

/** It pays only what it adds itself; its limits are those of its input. */
export function forkedState({ state, input, hint, nowMs }: Fork): SearchState {
  const { steered } = state;
  const remarks = steered?.remarks ?? [];
  const told = hint === null ? remarks : [...remarks, `h${remarks.length + 1}`];
  const { settings } = input;
  return {
    ...state,
    searchId: input.searchId,
    startedAtMs: nowMs,
    usage: NO_USAGE,
    // Other settings may allow more plans.
    trajectories: state.trajectories.map((trajectory) =>
      trajectory.id === ROOT && trajectory.status === 'exhausted' && trajectory.selections < settings.maxPlans
        ? { ...trajectory, status: 'open' as const }
        : trajectory,
    ),
    ...(steered === undefined && hint === null
      ? {}
      : { steered: { vetoes: [], pins: [], ...steered, remarks: told, budgets: null } }),
  };
}

/** Usage as a plain record, for the input. */
export function usageRecord(usage: Usage): Record<string, number> {
  return { ...usage };
}

async function keepHint(
  run: RunStore,
  remarkId: string,
  { author, text }: Pick<Remark, 'author' | 'text'>,
  nowMs: number,
): Promise<void> {
  const at = new Date(nowMs).toISOString();
  await run.put('remark', remarkId, { schemaVersion: 1, remarkId, kind: 'hint', author, target: null, text, at });
}

interface Copying {
  readonly from: string;
  readonly to: string;
  readonly after: number;
}

const AT_ONCE = 16;

async function copyContents(deps: ForkDeps, state: SearchState, { from, to, after }: Copying): Promise<void> {
  const prefix = `runs/${from}/`;
  const taken = (await deps.store.list(prefix)).filter((key) => {
    const [, kind, id] = /^([a-z-]+)\/(.+)\.json$/.exec(key.slice(prefix.length)) ?? [];
    return kind !== undefined && id !== undefined && isBefore(kind, id, state, after);
  });
  const renewed = new Map<string, Promise<void>>();
  const copy = async (key: string): Promise<void> => {
    const text = await deps.store.get(key);
    if (text === null)
      throw new StoreError('missing', `${key} is missing from the store: restore it, or fork another search`);
    const reference = referenceIn(text, key);
    if (reference !== null) {
      const renewing = renewed.get(reference.name) ?? renew(deps.store, reference.name, key);
      renewed.set(reference.name, renewing);
      await renewing;
    }
    await deps.store.put(`runs/${to}/${key.slice(prefix.length)}`, text, { overwrite: true });
  };
  for (let at = 0; at < taken.length; at += AT_ONCE) await Promise.all(taken.slice(at, at + AT_ONCE).map(copy));
}

/** Whether a content was there when the iteration ended. */
export function isBefore(kind: string, id: string, state: SearchState, after: number): boolean {
  if (['input', 'result', 'version', 'refresh', 'selection'].includes(kind)) return false;
  // Checkpoints carry the iteration that runs next; the one of the fork is its own.
  if (kind === 'checkpoint') return iterationOf(id) !== null && (iterationOf(id) as number) <= after;
  if (kind === 'remark') return state.steered?.remarks.includes(id) ?? false;
  if (kind === 'candidate') return state.candidates.some((candidate) => candidate.id === id);
  const iteration = iterationOf(id);
  if (iteration !== null) return iteration <= after;
  // Of steps and calls outside iterations only the first one was before; `select` was the end.
  return !['step', 'intent', 'reply'].includes(kind) || id === 'prepare' || id.startsWith('prepare.');
}

/** Of a structural id such as `i12.t3.s1.a1.ground`; null for ids by content. */
function iterationOf(id: string): number | null {
  const digits = /^i(\d+)(?:\.|$)/.exec(id)?.[1];
  return digits === undefined ? null : Number(digits);
}

async function renew(store: ObjectStore, name: string, neededBy: string): Promise<void> {
  const key = objectKey(name);
  const text = (await store.get(key)) ?? (await broughtBack(store, key));
  if (text === null)
    throw new StoreError('missing', `${key} is missing from the store (${neededBy} needs it): restore it`);
  await store.put(key, text, { overwrite: true });
}
