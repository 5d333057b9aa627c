/**
 * One parse per text. The same statement is inspected when its reply is read, when it is compiled and when the guard lets it
 * through, and a profile query in every search; a parser takes milliseconds. What an inspector says depends on the text
 * alone, so that it may be remembered.
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

/** Many callers get the same one. */
function shared(inspection: Inspection): Inspection {
  if (inspection.kind === 'select') for (const names of [inspection.relations, inspection.ctes]) Object.freeze(names);
  return Object.freeze(inspection);
}
