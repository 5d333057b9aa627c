/**
 * The statements of a read-only transaction (design §7).
 *
 * 1. Every statement is the query of a server-side cursor: `DECLARE … CURSOR FOR` takes one SELECT or VALUES and nothing
 *    else (no COPY, no COMMIT, no SET, no data-modifying WITH), whatever the text says, and the rows come in pages.
 * 2. It goes through the extended protocol, where the server refuses a second statement.
 * 3. A savepoint before each statement, so that one that fails does not affect the later ones.
 * 4. A small result costs one round trip: BEGIN, the statement and its first page are sent together. With a ceiling on plan
 *    costs there is one more: the plan is checked once the cursor is open, before it reads a row.
 */
import { Query, type QueryArrayResult, type QueryConfig, type QueryResult } from 'pg';
import type { SqlResult, SqlValue } from '../../domain';
import type { SqlOptions } from '../../domain/ports/sql-engine';
import { MAX_RESULT_BYTES, stopwatch } from '../results';
import type { GateClient } from './connection';
import { toResult, type Target } from './errors';
import type { Transaction } from './transaction';
import { columnKind, converterFor } from './values';

const CURSOR = 'gate_cursor';
/** Put before the caller's statement; positions in the server's messages include its length. */
const DECLARE = `DECLARE ${CURSOR} NO SCROLL CURSOR FOR `;
const EXPLAIN = 'EXPLAIN (FORMAT JSON) ';
/** Small, because the width of the rows is not known yet; later pages are sized by the rows received. */
const FIRST_PAGE = 100;
const NEXT_PAGE = 10_000;
/** A page of rows larger than this closes the connection. */
const MAX_PAGE_BYTES = 128 * 1024 * 1024;
/** How long after its time limit a statement is given up, if the server's own statement_timeout does not end it. */
const CUT_AFTER_MS = 2_000;

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

export function execute(
  transaction: Transaction,
  sql: string,
  options: SqlOptions,
  limits: Limits,
): Promise<SqlResult> {
  const { timeoutMs, maxRows } = options;
  const elapsed = stopwatch();
  return attempt(transaction, sql, options, limits, async (first, explained) => {
    if (explained !== null) {
      const refused = refusePlan(await explained, limits.maxPlanCost ?? Number.POSITIVE_INFINITY);
      if (refused !== null) return refused;
    }
    const { client } = transaction;
    let size = Math.min(FIRST_PAGE, maxRows + 1);
    let page = await (first ?? fetchPage(client, size));
    const columns = page.fields.map(({ name, dataTypeID }) => ({ name, kind: columnKind(dataTypeID) }));
    const { rows } = page;
    let bytes = client.receivedBytes;
    for (;;) {
      const more = page.rows.length === size;
      const truncated = rows.length > maxRows || (bytes > MAX_RESULT_BYTES && more);
      if (truncated || !more)
        return { kind: 'rows', columns, rows: rows.slice(0, maxRows), truncated, elapsedMs: elapsed() };
      if (elapsed() > timeoutMs) return { kind: 'timeout', afterMs: timeoutMs };
      const fitting = Math.ceil(((MAX_RESULT_BYTES - bytes) * rows.length) / Math.max(1, bytes)) + 1;
      size = Math.min(NEXT_PAGE, maxRows + 1 - rows.length, fitting);
      page = await fetchPage(client, size);
      for (const row of page.rows) rows.push(row);
      bytes += client.receivedBytes;
    }
  });
}

/** The type OIDs of a statement's columns, without reading a row; or the error. */
export function columnTypes(
  transaction: Transaction,
  sql: string,
  options: SqlOptions,
  target: Target,
): Promise<number[] | SqlResult> {
  return attempt(transaction, sql, { ...options, maxRows: -1 }, { target, maxPlanCost: null }, async (first) => {
    const { fields = [] } = (await first) ?? {};
    return fields.map(({ dataTypeID }) => dataTypeID);
  });
}

type Page = QueryArrayResult<SqlValue[]>;

/** Sends the statement, and its first page unless its plan is to be looked at; then `read` awaits them in their order. */
async function attempt<T>(
  transaction: Transaction,
  sql: string,
  options: SqlOptions,
  { target, maxPlanCost }: Limits,
  read: (first: Promise<Page> | null, explained: Promise<unknown> | null) => Promise<T>,
): Promise<T | SqlResult> {
  const { client } = transaction;
  const { timeoutMs, maxRows, traceparent } = options;
  // The trace is a comment in sqlcommenter's form, for the server's log and its statistics. It is last, so no position moves,
  // and on a line of its own, because the statement may end in a comment.
  const text = `${DECLARE}${sql}${traceparent === undefined ? '' : `\n/*traceparent='${traceparent}'*/`}`;
  const elapsed = stopwatch();
  const giveUp = setTimeout(() => client.cut(), timeoutMs + CUT_AFTER_MS);
  const begun = transaction.begin();
  const explained = maxPlanCost === null ? null : extended(client, `${EXPLAIN}${text}`);
  // The cursor is opened in the same message as the plan is asked for: until rows are fetched it reads nothing.
  const declared = extended(client, text);
  const first = maxPlanCost === null ? fetchPage(client, Math.min(FIRST_PAGE, maxRows + 1)) : null;
  for (const sent of [explained, declared, first]) sent?.catch(() => undefined); // awaited below, in their order
  let offset = DECLARE.length;
  try {
    await begun;
  } catch (error) {
    clearTimeout(giveUp);
    throw error;
  }
  try {
    if (explained !== null) {
      offset += EXPLAIN.length;
      await explained;
      offset -= EXPLAIN.length;
    }
    await declared;
    return await read(first, explained?.then(({ rows: [row] }) => row?.['QUERY PLAN']) ?? null);
  } catch (error) {
    if (client.overran) throw new Lost(OVERRUN);
    if (client.wasCut) throw new Lost({ kind: 'timeout', afterMs: timeoutMs });
    return toResult(error, target, { timeoutMs, elapsedMs: elapsed() }, offset);
  } finally {
    clearTimeout(giveUp);
    transaction.undo();
  }
}

function extended(client: GateClient, text: string): Promise<QueryResult<Record<string, unknown>>> {
  return client.query({ text, queryMode: 'extended' } as QueryConfig);
}

/** The columns of the open cursor and its next rows; 0 asks for the columns only. */
function fetchPage(client: GateClient, rows: number): Promise<Page> {
  client.allowBytes(MAX_PAGE_BYTES);
  return new Promise((resolve, reject) => {
    client.query(new PageQuery(rows, (error, page) => (error ? reject(error) : resolve(page))));
  });
}

/** The driver's connection, at the level of protocol messages. */
interface Wire {
  describe(message: { type: 'P'; name: string }): void;
  execute(message: { portal: string; rows: number }): void;
  sync(): void;
}

/**
 * A page that is read directly from the cursor's portal (portals and cursors are the same to the server), so that the server
 * shows the statement as what runs, and not a FETCH.
 */
class PageQuery extends Query {
  readonly #rows: number;

  constructor(rows: number, done: (error: Error | null, page: Page) => void) {
    const types = { getTypeParser: converterFor };
    super({ text: '', rowMode: 'array', types } as unknown as QueryConfig, done as never);
    this.#rows = rows;
  }

  override readonly submit = (connection: unknown): null => {
    const wire = connection as Wire;
    wire.describe({ type: 'P', name: CURSOR });
    if (this.#rows > 0) wire.execute({ portal: CURSOR, rows: this.#rows });
    wire.sync();
    return null;
  };

  handlePortalSuspended(): void {
    // More rows are asked for by another page.
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
 * `explained`: what EXPLAIN gave. Null when the plan is within the ceiling.
 */
function refusePlan(explained: unknown, ceiling: number): SqlResult | null {
  const plan = (explained as { Plan?: PlanNode }[] | undefined)?.[0]?.Plan;
  if (plan === undefined || plan['Total Cost'] <= ceiling) return null;
  // The step that adds most to the cost of the steps below it.
  const worst = nodesOf(plan).reduce((most, node) => (ownCost(node) > ownCost(most) ? node : most));
  const read = new Set(
    nodesOf(worst).flatMap((node) => node['Relation Name'] ?? node['CTE Name'] ?? node['Function Name'] ?? []),
  );
  const over = [...read].slice(0, 4).join(', ');
  const step = `${worst['Node Type']}${over === '' ? '' : ` over ${over}${read.size > 4 ? ', …' : ''}`}`;
  return {
    kind: 'refused',
    message:
      `the plan is too expensive here: estimated cost ${figure(plan['Total Cost'])} for ${rowsText(plan)}, ` +
      `the ceiling is ${figure(ceiling)}; its most expensive step is ${step} (cost ${figure(ownCost(worst))}, ` +
      `${rowsText(worst)}): join on keys, filter or aggregate earlier`,
  };
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];
const ownCost = ({ Plans = [], 'Total Cost': cost }: PlanNode): number =>
  Math.max(
    0,
    Plans.reduce((rest, below) => rest - below['Total Cost'], cost),
  );
const rowsText = ({ 'Plan Rows': rows }: PlanNode): string => `${figure(rows)} ${rows === 1 ? 'row' : 'rows'}`;
const figure = (value: number): string =>
  value >= 1e15 ? value.toExponential(1) : Math.round(value).toLocaleString('en-US');
