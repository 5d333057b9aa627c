/**
 * Search attributes of a running workflow. Each update is an event in its history (design D3), so only changed values are
 * set: at most once in `QUIET_MS`, and at the end.
 */
import type { SearchAttributePair } from '@temporalio/common';
import { upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { ShownAttributes } from './search-attributes';

const QUIET_MS = 10_000;

export interface Attributes {
  /** Sets the attributes now. */
  set(pairs: readonly SearchAttributePair[]): void;
  /** Sets the attributes, unless some were set within `QUIET_MS`. */
  setNowAndThen(pairs: readonly SearchAttributePair[]): void;
}

/** `shown` undefined: no attributes are set. */
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
