/**
 * Bodies: the SQL texts of operators, normalised so that equal texts get equal ids (rules S3, S4, S8). Only blanks,
 * semicolons and comments after the statement are dropped. The statement itself is never edited.
 */
import type { Body, Operator, OperatorView } from '../domain';
import type { Inspection } from '../domain/ports';
import { ANY, tokensOf } from './lexer';

/** Hexadecimal SHA-256 of a text; passed in, because workflow code imports this file. */
export type Hash = (text: string) => string;

export type SelectInspection = Extract<Inspection, { kind: 'select' }>;

/** The statement without blanks, semicolons and comments after its last token. */
export function normaliseSql(sql: string): string {
  const last = tokensOf(sql, 'any').findLast(({ raw }) => raw !== ';');
  return last === undefined ? '' : sql.slice(0, last.at + last.raw.length).trimStart();
}

/**
 * `reads` are the operator names that the text reads, its own name included when it recurses; every other relation of
 * the inspection is a base relation.
 */
export function makeBody(sql: string, reads: readonly string[], inspection: SelectInspection, hash: Hash): Body {
  const text = normaliseSql(sql);
  const used = [...new Set(reads.filter((name) => inspection.relations.some((each) => sameName(each, name))))].sort();
  return {
    bodyId: bodyId(text, used, hash),
    sql: text,
    relations: [...new Set(inspection.relations.filter((each) => !used.some((name) => sameName(each, name))))].sort(),
    reads: used,
    recursive: false,
    hasWith: inspection.hasWith,
  };
}

/** A body as `makeBody` makes it, of the operator `self`: reading itself makes it recursive. */
export function makeOperatorBody(
  sql: string,
  operator: { readonly name: string; readonly inputs: readonly string[] },
  inspection: SelectInspection,
  hash: Hash,
): Body {
  const body = makeBody(sql, [...operator.inputs, operator.name], inspection, hash);
  return { ...body, recursive: body.reads.includes(operator.name) };
}

/**
 * A hash of the text as an engine reads it, so that a different layout is not a different derivation (rule S4). The part
 * before the dot does not depend on the names of the operators that the text reads (`textOf`).
 */
export function bodyId(sql: string, reads: readonly string[], hash: Hash): string {
  const plain = plainSql(sql);
  const text = `b${hash(nameless(plain, reads)).slice(0, 16)}`;
  // The part after the dot includes the names: else `op_a.n - op_b.n` and `op_b.n - op_a.n` would have the same id.
  return reads.length === 0 ? text : `${text}.${hash(JSON.stringify([plain, reads])).slice(0, 8)}`;
}

/** Equal for bodies that differ at most in the names of the operators they read. */
export function textOf(bodyId: string): string {
  return bodyId.split('.', 1)[0] ?? bodyId;
}

/** Replaces names by numbers, in the order in which they appear in the text. */
function nameless(plain: string, names: readonly string[]): string {
  const places: string[] = [];
  const placed = (word: string): string => {
    const name = word.replace(/^"(.*)"$/s, '$1').toLowerCase();
    if (!names.some((other) => other.toLowerCase() === name)) return word;
    if (!places.includes(name)) places.push(name);
    return `$${places.indexOf(name)}`;
  };
  return plain.replace(WORDS, placed);
}

/** Here a word may hold a `$`. */
const WORDS = new RegExp(['[A-Za-z_][\\w$]{0,127}', ...ANY.map(([, { source }]) => source)].join('|'), 'gu');

/** The SQL without comments, layout and the case of unquoted words; quoted pieces stay as they are. */
export function plainSql(sql: string): string {
  let plain = '';
  let end = 0;
  for (const { kind, raw, at } of tokensOf(sql, 'any')) {
    // Blanks beside brackets and commas are layout; elsewhere a blank may separate two words or signs.
    const needsSpace = at > end && plain !== '' && !/[(,]$/.test(plain.slice(-1)) && !/^[(),]/.test(raw);
    plain += (needsSpace ? ' ' : '') + (kind === 'word' || raw.length === 1 ? raw.toLowerCase() : raw);
    end = at + raw.length;
  }
  return plain;
}

function sameName(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase();
}

/**
 * The structural half of the reuse key (rule S3) and the control view of an operator (design D1). The shape covers base
 * relations, output columns and grain. The control loop compares the intent and the bodies of the inputs.
 */

type Interface = Pick<Operator, 'relations' | 'columns' | 'grain'>;

export function operatorShape(operator: Interface, hash: Hash): string {
  const relations = [...new Set(operator.relations.map(lower))].sort();
  const columns = operator.columns.map((column) => [lower(column.name), column.type]);
  const grain = [...new Set(operator.grain.map(lower))].sort();
  return `s${hash(JSON.stringify([relations, columns, grain])).slice(0, 16)}`;
}

/** The control view of an operator as the planner wrote it: nothing is grounded yet. */
export function toOperatorView(operator: Operator, hash: Hash): OperatorView {
  const assumptions = operator.body.kind === 'assumed' ? operator.body.assumptions : [];
  return {
    name: operator.name,
    state: operator.body.kind,
    bodyId: operator.body.kind === 'assumed' ? operator.body.bodyId : null,
    updateId: null,
    shape: operatorShape(operator, hash),
    intent: operator.intent,
    inputs: operator.inputs,
    readsBase: operator.relations.length > 0,
    risk: assumptions.reduce((highest, assumption) => Math.max(highest, assumption.risk), 0),
    assumptions: assumptions.length,
    immaterial: null,
    barren: 0,
  };
}

function lower(text: string): string {
  return text.toLowerCase();
}
