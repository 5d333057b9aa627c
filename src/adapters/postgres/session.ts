/**
 * The statements of a read-only transaction (design §7).
 *
 * 1. Every statement is the query of a server-side cursor: `DECLARE … CURSOR FOR` takes one SELECT or VALUES and nothing
 *    else (no COPY, no COMMIT, no SET, no data-modifying WITH), whatever the text says, and the rows come in pages.
 * 2. It goes through the extended protocol, where the server refuses a second statement.
 * 3. A savepoint before each statement, so that one that fails does not affect the later ones.
 * 4. A small result costs one round trip: BEGIN, the statement and its first page are sent together. A single statement
 *    takes one round trip for any result: all its rows are asked for at once, and the end of the transaction with them.
 *    With a ceiling on plan costs there is one more: the plan is checked once the cursor is open, before it reads a row.
 */
import type { SqlResult, SqlValue } from '../../domain';
import type { SqlOptions } from '../../ports/sql-engine';
import { MAX_RESULT_BYTES, stopwatch } from '../results';
import { StepFailed, type Answer, type Field, type Step, columnKind } from './batch';
import type { GateClient, Target } from './connection';
import { toResult } from './errors';
import { MAX_PAGE_BYTES, type Transaction } from './transaction';

const CURSOR = 'gate_cursor';
/** Put before the caller's statement; positions in the server's messages include its length. */
export const DECLARE = `DECLARE ${CURSOR} NO SCROLL CURSOR FOR `;
const EXPLAIN = 'EXPLAIN (FORMAT JSON) ';
/** Small, because the width of the rows is not known yet; later pages are sized by the rows received. */
const FIRST_PAGE = 100;
const NEXT_PAGE = 10_000;

export interface Limits {
  readonly target: Target;
  /** Statements with a higher planner estimate are refused; null: no limit. */
  readonly maxPlanCost: number | null;
}

/** A statement cost the connection. Holds its result, so that the other statements can run again without it. */
export class Lost extends Error {
  constructor(readonly result: SqlResult) {
    super('the statement cost its connection');
  }
}

const OVERRUN: SqlResult = {
  kind: 'sql-error',
  message: `the rows of this result are too large (more than ${MAX_PAGE_BYTES / 1024 / 1024} MB at once): select parts of the values, for example left(column, 1000), or their length`,
  code: '54000',
  elapsedMs: 0,
};

/**
 * The rows received before the connection was closed, for a single statement. With several statements there are none: the
 * others run again in a new snapshot, and these rows are from the old one.
 */
function overrun(error: unknown, lone: boolean, elapsedMs: number): SqlResult {
  if (!(error instanceof StepFailed) || !lone || error.answer.rows.length === 0) return OVERRUN;
  const { fields, rows } = error.answer;
  return { kind: 'rows', columns: columnsOf(fields), rows, truncated: true, elapsedMs };
}

/** `last`: no other statement follows, so nothing has to be undone. */
export async function execute(
  transaction: Transaction,
  sql: string,
  options: SqlOptions,
  { target, maxPlanCost }: Limits,
  last: boolean,
): Promise<SqlResult> {
  const elapsed = stopwatch();
  try {
    const result = await fetchAll(
      transaction,
      traced(sql, options),
      options.maxRows,
      maxPlanCost,
      () => elapsed() > options.timeoutMs,
    );
    if ('kind' in result) return result;
    if (result.late) return { kind: 'timeout', afterMs: options.timeoutMs };
    const { columns, rows, truncated } = result;
    return { kind: 'rows', columns, rows, truncated, elapsedMs: elapsed() };
  } catch (error) {
    if (transaction.client.overran) throw new Lost(overrun(error, transaction.lone, elapsed()));
    if (transaction.client.wasCut) throw new Lost({ kind: 'timeout', afterMs: options.timeoutMs });
    if (!(error instanceof StepFailed)) throw error;
    const offset = DECLARE.length + (maxPlanCost !== null && error.step === 0 ? EXPLAIN.length : 0);
    return toResult(error.reason, target, { timeoutMs: options.timeoutMs, elapsedMs: elapsed() }, offset);
  } finally {
    if (!last) transaction.undo();
  }
}

/** The type OIDs of a statement's columns, without reading a row; or the error. */
export async function columnTypes(
  transaction: Transaction,
  sql: string,
  options: SqlOptions,
  target: Target,
): Promise<number[] | SqlResult> {
  const { timeoutMs } = options;
  try {
    const { fields } = await transaction.send([declare(traced(sql, options)), page(0)], transaction.lone);
    return fields.map((field) => field.dataTypeID);
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    return toResult(error.reason, target, { timeoutMs, elapsedMs: 0 }, DECLARE.length);
  }
}

/** Leaves the transaction as it was, cursor included, whether `use` succeeds or fails. */
export async function guarded<T>(client: GateClient, use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } finally {
    // Not awaited: later queries are queued after it. It fails only after a lost connection, and `use` reports that.
    client.query('ROLLBACK TO SAVEPOINT gate').catch(() => undefined);
  }
}

/**
 * The trace as a comment in sqlcommenter's form, for the server's log and its statistics. It is last, so no position moves, and
 * on a line of its own, because the statement may end in a comment.
 */
function traced(sql: string, { traceparent }: SqlOptions): string {
  return traceparent === undefined ? sql : `${sql}\n/*traceparent='${traceparent}'*/`;
}

const columnsOf = (fields: readonly Field[]): Fetched['columns'] =>
  fields.map(({ name, dataTypeID }) => ({ name, kind: columnKind(dataTypeID) }));
const declare = (sql: string): Step => ({ kind: 'statement', text: `${DECLARE}${sql}` });
const page = (rows: number): Step => ({ kind: 'page', cursor: CURSOR, rows });

interface Fetched {
  readonly columns: { name: string; kind: ReturnType<typeof columnKind> }[];
  readonly rows: SqlValue[][];
  readonly truncated: boolean;
  readonly late: boolean;
}

async function fetchAll(
  transaction: Transaction,
  sql: string,
  maxRows: number,
  maxPlanCost: number | null,
  isLate: () => boolean,
): Promise<Fetched | SqlResult> {
  const { client, lone } = transaction;
  let size = lone ? maxRows + 1 : Math.min(FIRST_PAGE, maxRows + 1);
  let answer: Answer;
  if (maxPlanCost === null) {
    answer = await transaction.send([declare(sql), page(size)], lone);
  } else {
    // The cursor is opened in the same message: until rows are fetched it reads nothing.
    const { printed } = await transaction.send([
      { kind: 'statement', text: `${EXPLAIN}${DECLARE}${sql}` },
      declare(sql),
    ]);
    const refused = refusePlan(printed[0] ?? '[]', maxPlanCost);
    if (refused !== null) return refused;
    answer = await transaction.send([page(size)], lone);
  }
  const columns = columnsOf(answer.fields);
  const { rows } = answer;
  let bytes = client.receivedBytes;
  for (let came = rows.length; ;) {
    const more = came === size;
    const truncated = rows.length > maxRows || (bytes > MAX_RESULT_BYTES && more);
    if (truncated || !more)
      return { columns, rows: rows.length > maxRows ? rows.slice(0, maxRows) : rows, truncated, late: false };
    if (isLate()) return { columns, rows: [], truncated: true, late: true };
    const fitting = Math.ceil(((MAX_RESULT_BYTES - bytes) * rows.length) / Math.max(1, bytes)) + 1;
    size = Math.min(NEXT_PAGE, maxRows + 1 - rows.length, fitting);
    const next = await transaction.send([page(size)]);
    for (const row of next.rows) rows.push(row);
    came = next.rows.length;
    bytes += client.receivedBytes;
  }
}

/** A node of `EXPLAIN (FORMAT JSON)`. */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Total Cost': number;
  readonly 'Plan Rows': number;
  readonly 'Relation Name'?: string;
  readonly 'CTE Name'?: string;
  readonly 'Function Name'?: string;
  readonly Plans?: readonly PlanNode[];
}

/**
 * The cost guard: compares the planner's cost estimate with a ceiling before the statement runs. Costs are in the
 * planner's own unit (a page read in sequence is 1), which is not time: each database needs its own ceiling.
 *
 * `explained`: the text that EXPLAIN gave. Null when the plan is within the ceiling.
 */
export function refusePlan(explained: string, ceiling: number): SqlResult | null {
  const [first] = JSON.parse(explained) as { Plan?: PlanNode }[];
  const plan = first?.Plan;
  if (plan === undefined || plan['Total Cost'] <= ceiling) return null;
  const worst = mostExpensive(plan);
  const step = `${worst['Node Type']}${over(worst)}`;
  return {
    kind: 'refused',
    message:
      `the plan is too expensive here: estimated cost ${figure(plan['Total Cost'])} for ${rowsText(plan)}, ` +
      `the ceiling is ${figure(ceiling)}; its most expensive step is ${step} (cost ${figure(ownCost(worst))}, ` +
      `${rowsText(worst)}): join on keys, filter or aggregate earlier`,
  };
}

function rowsText({ 'Plan Rows': rows }: PlanNode): string {
  return `${figure(rows)} ${rows === 1 ? 'row' : 'rows'}`;
}

/** The step that adds most to the cost of the steps below it. */
function mostExpensive(plan: PlanNode): PlanNode {
  let worst = plan;
  const visit = (node: PlanNode): void => {
    if (ownCost(node) > ownCost(worst)) worst = node;
    node.Plans?.forEach(visit);
  };
  visit(plan);
  return worst;
}

function ownCost(node: PlanNode): number {
  const below = (node.Plans ?? []).reduce((sum, child) => sum + child['Total Cost'], 0);
  return Math.max(0, node['Total Cost'] - below);
}

/** The relations below a step, at most four. */
function over(node: PlanNode): string {
  const names = new Set<string>();
  const visit = (at: PlanNode): void => {
    const name = at['Relation Name'] ?? at['CTE Name'] ?? at['Function Name'];
    if (name !== undefined) names.add(name);
    at.Plans?.forEach(visit);
  };
  visit(node);
  if (names.size === 0) return '';
  const shown = [...names].slice(0, 4).join(', ');
  return ` over ${shown}${names.size > 4 ? ', …' : ''}`;
}

function figure(value: number): string {
  return value >= 1e15 ? value.toExponential(1) : Math.round(value).toLocaleString('en-US');
}
