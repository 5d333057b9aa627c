/**
 * Search attributes of a running workflow. Setting some is an event of its history (design D3): only changed values are
 * set, at the end and at most once in `QUIET_MS`.
 */
import type { SearchAttributePair } from '@temporalio/common';
import { upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { ShownAttributes } from './search-attributes';

const QUIET_MS = 10_000;

export interface Attributes {
  /** Sets them now. */
  set(pairs: readonly SearchAttributePair[]): void;
  /** Sets them unless some were set a moment ago. */
  setNowAndThen(pairs: readonly SearchAttributePair[]): void;
}

/** Undefined, as in the input of a workflow from before: none are set. */
export function openAttributes(shown: ShownAttributes | undefined): Attributes {
  let last = Date.now();
  const set = (pairs: readonly SearchAttributePair[]): void => {
    if (shown === undefined) return;
    const now = workflowInfo().typedSearchAttributes.getAll();
    const changed = pairs.filter(({ key, value }) => now.find((one) => one.key.name === key.name)?.value !== value);
    if (changed.length === 0) return;
    upsertSearchAttributes(changed);
    last = Date.now();
  };
  return {
    set,
    setNowAndThen: (pairs) => {
      if (Date.now() - last >= QUIET_MS) set(pairs);
    },
  };
}
