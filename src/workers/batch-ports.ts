import type { BatchPorts } from '../activities/batch';
import type { ObjectStore } from '../ports';
import { createRunStore } from '../record/run-store';
import { sha256 } from '../sha256';

/** The final record without its rows: what a batch needs to know. */
export function batchPorts(store: ObjectStore): BatchPorts {
  return {
    store,
    readAnswer: async (searchId) => {
      const record = await createRunStore(store, searchId, sha256).find('result', searchId);
      if (record === null) return null;
      const { id, status, endedBy, answer, sql, reason, usage } = record;
      return { id, status, endedBy, answer, sql, reason, usage };
    },
  };
}
