/**
 * What an iteration found enters the memory and the archive (Algorithm 1, UpdateArchive): new updates and plans are merged,
 * readings that they refute are withdrawn, and what a person ruled out or pinned stays so.
 */
import type { SearchState, Settings } from '../../domain';
import { addUnanswerable } from '../candidate';
import type { Expansion } from '../findings';
import { enforce } from '../steering';
import { mergeExpansions } from './merge';
import { withdrawRefuted } from './refute';

export function remember(state: SearchState, expansions: readonly Expansion[], settings: Settings): SearchState {
  const merged = enforce(withdrawRefuted(mergeExpansions(state, expansions, settings)));
  return expansions.reduce(
    (at, { impossible, trajectory, absenceShown }) =>
      impossible === null ? at : addUnanswerable(at, trajectory, impossible, absenceShown),
    merged,
  );
}
