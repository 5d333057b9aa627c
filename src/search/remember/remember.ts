/**
 * What an iteration found enters the memory and the archive (Algorithm 1, UpdateArchive): new updates and plans are merged,
 * readings that they refute are withdrawn, and what a person ruled out or pinned stays so.
 */
import type { SearchState, Settings } from '../../domain';
import { addUnanswerable } from '../candidate';
import type { Expansion } from '../findings';
import { enforce } from '../steering';
import { mergeExpansion } from './merge';
import { withdrawRefuted } from './refute';

export function remember(state: SearchState, expansion: Expansion, settings: Settings): SearchState {
  const merged = enforce(withdrawRefuted(mergeExpansion(state, expansion, settings)));
  const { impossible, trajectory, absenceShown } = expansion;
  return impossible === null ? merged : addUnanswerable(merged, trajectory, impossible, absenceShown);
}
