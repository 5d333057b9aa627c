/**
 * The clock of a search as a relation, `gate_clock`: one row with `now` and `today`. SQL reads it like a table, and the
 * compiler puts it in front as a CTE with the time at which the question was asked (rule S8).
 *
 * 1. No model sees the time, so that none can write it into SQL: "last week" stays a computation.
 * 2. The same SQL under a later clock is the same text with another CTE: a question that is asked again never gets the
 *    rows of an older clock, and costs no model call.
 */
import type { Dialect } from '../domain';
import type { PlanOperator } from './compile';
import { DIALECTS } from './dialects';

export const CLOCK = 'gate_clock';

/** The words for a model, as part of the question's context. */
export const CLOCK_CONTEXT = `the clock is the relation ${CLOCK}, one row: now (timestamp), today (date); in SQLite both are ISO text. Any SQL may read it beside its tables, undeclared. "Now", "today", "last week", "this year" come from it, never from a clock function or a literal date.`;

/** Wall time where the question is asked, as databases read it: `2026-11-22 09:30:00`. */
export function clockAt(ms: number): string {
  const at = new Date(ms);
  const two = (number: number): string => String(number).padStart(2, '0');
  const date = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-');
  return `${date} ${[at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':')}`;
}

export function readsClock(relations: readonly string[]): boolean {
  return relations.some((relation) => relation.toLowerCase() === CLOCK);
}

/** The operator that the compiler puts in front of SQL that reads the clock. */
export function clockOperator(clock: string, dialect: Dialect): PlanOperator {
  return {
    name: CLOCK,
    body: { sql: clockSql(clock, dialect), reads: [], relations: [], hasWith: false },
    bindings: {},
  };
}

function clockSql(clock: string, dialect: Dialect): string {
  return `SELECT ${DIALECTS[dialect].clock(clock, clock.slice(0, 10))}`;
}

const COMPILED =
  /\bgate_clock AS \(\nSELECT (?:TIMESTAMP |DATETIME )?'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d' AS now, (?:DATE )?'\d{4}-\d\d-\d\d' AS today\n\)/g;

/** A compiled statement under another clock, if there is one; a statement that reads no clock is returned as it is. */
export function withClock(sql: string, clock: string | undefined, dialect: Dialect): string {
  if (clock === undefined) return sql;
  return sql.replace(COMPILED, () => `${CLOCK} AS (\n${clockSql(clock, dialect)}\n)`);
}

/** Whether a compiled statement was given a clock. */
export function isClocked(sql: string): boolean {
  return new RegExp(COMPILED.source).test(sql);
}
