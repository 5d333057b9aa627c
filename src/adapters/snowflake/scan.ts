/**
 * The cost guard: before a statement runs, it compares the most bytes that the statement could read with a ceiling. The
 * figure comes from the plan (`EXPLAIN USING JSON`), which the server compiles without a warehouse. It counts the
 * micro-partitions left after compiling; joins may skip more of them later. A plan without the figure reads no table and
 * passes. A statement without a plan is refused, because nothing bounds it.
 */
import { oneLine } from '../../clip';
import { overCeiling, type Outcome } from '../kit/engine';
import { size } from '../../size';
import { isCancelled, isOfStatement } from './errors';

interface Scan {
  readonly bytesAssigned?: number;
  readonly partitionsAssigned?: number;
  readonly partitionsTotal?: number;
}

interface Plan {
  readonly GlobalStats?: Scan;
  /** The operations of each step; those that read a table name it. */
  readonly Operations?: readonly (readonly (Scan & { readonly objects?: readonly string[] })[])[];
}

/** Null when the statement is within the ceiling. Errors of the statement itself are thrown. */
export async function refuseScan(
  query: (
    sql: string,
    how: { readonly maxRows?: number; readonly describeOnly?: boolean },
  ) => Promise<{ readonly rows: readonly (readonly unknown[])[] }>,
  sql: string,
  ceiling: number,
): Promise<Outcome | null> {
  let explained: string;
  try {
    const { rows } = await query(`EXPLAIN USING JSON ${sql}`, { maxRows: 1 });
    explained = String(rows[0]?.[0]);
  } catch (error) {
    if (!isOfStatement(error) || isCancelled(error)) throw error;
    // Compile the statement alone: then an error in it gives positions in its own text.
    await query(sql, { describeOnly: true });
    return unbounded((error as Error).message, ceiling);
  }
  const plan = planOf(explained);
  return plan === null ? unbounded('the answer to EXPLAIN is none', ceiling) : refusePlan(plan, sql, ceiling);
}

function refusePlan(
  { GlobalStats: all = {}, Operations: steps = [] }: Plan,
  sql: string,
  ceiling: number,
): Outcome | null {
  const bytes = all.bytesAssigned ?? 0;
  if (bytes <= ceiling) return null;
  const parts = steps.flat().filter(({ objects }) => objects !== undefined);
  const [largest] = parts.sort((a, b) => (b.bytesAssigned ?? 0) - (a.bytesAssigned ?? 0));
  const name = largest?.objects?.[0];
  const isNamed = largest !== undefined && name !== undefined && isIn(sql, name);
  const message = overCeiling({
    what: 'the statement would scan too much',
    estimate: `up to ${figure(all)}`,
    ceiling: size(ceiling),
    largest: isNamed ? `the largest part is ${name} (${figure(largest)})` : undefined,
    advice:
      'compare columns that the rows are stored by, such as dates or ids, with constants, and leave out tables that are ' +
      'not needed; what joins, subqueries and LIMIT leave out while running does not count',
  });
  return { kind: 'refused', message };
}

function unbounded(reason: string, ceiling: number): Outcome {
  return {
    kind: 'refused',
    message:
      `what the statement would scan cannot be told, and the ceiling is ${size(ceiling)}: Snowflake shows no plan ` +
      `(${oneLine(reason)}); leave out INFORMATION_SCHEMA and views that hide what they read`,
  };
}

function planOf(explained: string): Plan | null {
  try {
    const parsed: unknown = JSON.parse(explained);
    return typeof parsed === 'object' ? parsed : null;
  } catch {
    return null;
  }
}

/** A table that only a view reads is not named: whoever may read the view may not know the table. */
function isIn(sql: string, object: string): boolean {
  const name = object.slice(object.lastIndexOf('.') + 1).replaceAll('"', '');
  return sql.toUpperCase().includes(name.toUpperCase());
}

function figure({ bytesAssigned = 0, partitionsAssigned, partitionsTotal }: Scan): string {
  const count = (value: number): string => value.toLocaleString('en-US');
  if (partitionsAssigned === undefined || partitionsTotal === undefined) return size(bytesAssigned);
  return `${size(bytesAssigned)} in ${count(partitionsAssigned)} of ${count(partitionsTotal)} micro-partitions`;
}
