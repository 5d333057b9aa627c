/**
 * Parses each text once. The same statement is inspected when its reply is read, when it is compiled and when the guard
 * checks it; a profile query in every search. A parse takes milliseconds. The result depends on the text alone, so it can
 * be cached.
 */
import { BoundedMap } from '../bounded-map';
import type { Inspection, SqlInspector } from '../ports/sql-inspector';

const MAX_CHARS = 4 * 1024 * 1024;

export function inspectingOnce(inspector: SqlInspector, maxChars = MAX_CHARS): SqlInspector {
  const known = new BoundedMap<Inspection>(maxChars);
  return {
    inspect(sql) {
      const before = known.get(sql);
      if (before !== undefined) return before;
      const inspection = shared(inspector.inspect(sql));
      known.set(sql, inspection, sql.length);
      return inspection;
    },
  };
}

/** Frozen, because many callers share it. */
function shared(inspection: Inspection): Inspection {
  if (inspection.kind === 'select') for (const names of [inspection.relations, inspection.ctes]) Object.freeze(names);
  return Object.freeze(inspection);
}
