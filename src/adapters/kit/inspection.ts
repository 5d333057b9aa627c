/**
 * What the inspectors of all dialects share: limits, one statement, refusals met on the way through its tree, and each text
 * parsed once. The same statement is inspected when its reply is read, when it is compiled and when the guard checks it; a
 * profile query in every search. A parse takes milliseconds, and its result depends on the text alone.
 */
import { BoundedMap } from '../../bounded-map';
import type { Inspection, SqlInspector } from '../../domain/ports/sql-inspector';

/** Why a statement may not run, with what to write instead. */
export class Refusal extends Error {}
export class SyntaxProblem extends Error {}

/** A longer text would keep the parsers busy for seconds, and they block the process. */
export const MAX_STATEMENT_LENGTH = 100_000;
export const TOO_LONG = `the statement is longer than ${MAX_STATEMENT_LENGTH.toLocaleString('en-US')} characters: shorten it`;
const TOO_DEEP = 'the statement is nested too deeply: split it into CTEs';
const KEPT_CHARS = 4 * 1024 * 1024;

type Selected = Omit<Extract<Inspection, { kind: 'select' }>, 'kind'>;

/** `read` throws `Refusal`, `SyntaxProblem`, or a RangeError where the statement is nested too deeply. */
export function inspected(read: () => Selected): Inspection {
  try {
    return { kind: 'select', ...read() };
  } catch (error) {
    if (error instanceof Refusal) return { kind: 'refused', message: error.message };
    if (error instanceof SyntaxProblem) return { kind: 'syntax-error', message: error.message };
    if (error instanceof RangeError) return { kind: 'refused', message: TOO_DEEP };
    throw error;
  }
}

/** The only statement of a text. `messageOf`: what the parser says of an error in the text, in one line. */
export function onlyStatement<T>(
  sql: string,
  parse: (sql: string) => readonly T[],
  messageOf: (error: Error) => string,
): T {
  if (sql.length > MAX_STATEMENT_LENGTH) throw new Refusal(TOO_LONG);
  const [first, second] = parsed(sql, parse, messageOf);
  if (first === undefined) throw new Refusal('the statement is empty: write one SELECT');
  if (second !== undefined) throw new Refusal('only one statement is allowed: remove what follows the first semicolon');
  return first;
}

function parsed<T>(sql: string, parse: (sql: string) => readonly T[], messageOf: (error: Error) => string) {
  try {
    return parse(sql);
  } catch (error) {
    if (error instanceof RangeError || error instanceof Refusal) throw error;
    throw new SyntaxProblem(`${messageOf(error as Error)}${reservedAlias(sql)}`);
  }
}

const RESERVED_ALIAS =
  /\bas\s+(all|and|as|asc|between|by|case|check|default|desc|distinct|else|end|exists|from|group|having|in|index|is|join|left|limit|not|null|on|or|order|primary|references|right|select|set|table|then|to|union|using|values|when|where)\b(?!\s*\()/i;

/** Parsers tell only that something is wrong after it. */
function reservedAlias(sql: string): string {
  const [, word] = RESERVED_ALIAS.exec(sql) ?? [];
  return word === undefined ? '' : `: "${word}" is a reserved word, so no alias: choose another name`;
}

export function inspectingOnce(inspector: SqlInspector, maxChars = KEPT_CHARS): SqlInspector {
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
