/**
 * Makes the commit of a conversation (role `look`) into a plan and its claims: every SQL is checked by the engine's parser
 * (rule S8), and what a rival puts in becomes a body. Columns are known only once the operators have run.
 */
import type { Assumption, Body, Claim, ColumnType, Operator, Plan, SqlResult } from '../../domain';
import type { LookReply } from '../../domain/turns';
import { CLOCK } from '../../sql/clock';
import type { SelectText } from '../../sql/compile';
import { vacuousCheck } from '../../sql/checks';
import {
  operatorBody,
  queryBody,
  selectText,
  storeBody,
  type BodyScope,
  type Made,
  type SearchScope,
} from '../shared/bodies';
import type { StepContext } from '../shared/context';
import { clockOf, type LoadedPlan } from '../shared/load-plan';
import { knownRelation } from '../plan/step';

/** The body that the operator has under another reading. */
export interface Edited {
  readonly operator: string;
  readonly body: Body;
}

export interface BuiltClaim {
  readonly operator: string;
  readonly statement: string;
  readonly rows: string;
  readonly check: SelectText;
  readonly rivals: readonly {
    readonly reading: string;
    readonly edited: Edited | null;
    /** Why its `instead` cannot be used: no matter where its counts refute it. */
    readonly fault: string | null;
  }[];
}

export interface BuiltCommit {
  /** Without columns. */
  readonly plan: LoadedPlan;
  readonly claims: readonly BuiltClaim[];
  readonly assumed: LookReply['assumed'];
  readonly control: Body | null;
  readonly coverage: Body | null;
  readonly wording: readonly (LookReply['wording'][number] & { readonly edited: Edited | null })[];
}

/** The commit, or what is wrong with it, a line each. */
export function buildCommit(
  context: StepContext,
  scope: SearchScope,
  planId: string,
  reply: LookReply,
): BuiltCommit | readonly string[] {
  const problems: string[] = [];
  const take = <T>(made: Made<T>): T | null => {
    if (made.kind === 'ok') return made.value;
    problems.push(made.error);
    return null;
  };
  const operators = reply.operators.flatMap(({ name, intent, sql }, at): (readonly [Operator, Body])[] => {
    const inputs = reply.operators.slice(0, at).map((other) => other.name);
    if (scope.relations.some((relation) => relation.toLowerCase() === name))
      problems.push(`${name} is the name of a table: choose another`);
    const body = take(operatorBody(sql, { name, relations: [], inputs }, scope));
    return body === null ? [] : [[operatorOf(scope, { name, intent }, body), body]];
  });
  const known = operators.map(([{ name }]) => name);
  const query = (sql: string | null, what: string): Body | null =>
    sql === null ? null : take(queryBody(sql, what, scope, known));
  const edited = (operator: string, instead: Instead) => {
    const made = instead === null ? null : edit(operators, operator, instead, scope);
    return typeof made === 'string' ? { edited: null, fault: made } : { edited: made, fault: null };
  };
  const bodies = new Map(operators.map(([{ name }, { sql }]) => [name, sql]));
  const claims = reply.claims.flatMap((claim, at): BuiltClaim[] => {
    const check = take(selectText(claim.check, `the check of claim ${at + 1}`, scope, known));
    const rivals = claim.rivals.map(({ reading, instead }) => ({ reading, ...edited(claim.operator, instead) }));
    const hasSql = rivals.map((rival) => rival.edited !== null);
    const fault = vacuousCheck(claim.check, hasSql, scope.description.dialect, bodies);
    if (fault !== null) problems.push(`the check of claim ${at + 1}: ${fault}`);
    const { operator, statement, rows } = claim;
    return check === null ? [] : [{ operator, statement, rows, check, rivals }];
  });
  const control = query(reply.control, 'control');
  const coverage = query(reply.coverage, 'coverage');
  // Another reading that cannot be run is told in words only.
  const wording = reply.wording.map((choice) => ({ ...choice, ...edited(choice.operator, choice.instead) }));
  if (problems.length > 0) return problems;
  const plan = loaded(planId, reply, operators, clockOf(context, scope.description));
  return { plan, claims, assumed: reply.assumed, control, coverage, wording };
}

function operatorOf(scope: SearchScope, { name, intent }: Pick<Operator, 'name' | 'intent'>, body: Body): Operator {
  const tables = body.relations.filter((relation) => relation.toLowerCase() !== CLOCK);
  return {
    name,
    intent,
    purpose: intent,
    relations: [...new Set(tables.map((table) => knownRelation(table, scope.relations) ?? table))],
    inputs: body.reads.filter((read) => read !== name),
    columns: [],
    grain: [],
    body: { kind: 'assumed', bodyId: body.bodyId, assumptions: [] },
  };
}

function loaded(
  planId: string,
  { ordered, sentence }: LookReply,
  operators: readonly (readonly [Operator, Body])[],
  clock: ReturnType<typeof clockOf>,
): LoadedPlan {
  const plan: Plan = {
    planId,
    outline: '',
    operators: operators.map(([operator]) => operator),
    ordered,
    controlBodyId: null,
    wording: [],
    ...(sentence ? { sentence } : {}),
  };
  return {
    plan,
    ref: { planId, bodies: operators.map(([{ name }, { bodyId }]) => [name, bodyId, null]) },
    operators: operators.map(([operator, body]) => ({ operator, body, update: null, assumptions: [] })),
    ...clock,
  };
}

type Instead = LookReply['wording'][number]['instead'];

/** The SQL of the operator with the piece replaced. If the piece stands in another operator only, that one is edited. */
function edit(
  operators: readonly (readonly [Operator, Body])[],
  named: string,
  instead: NonNullable<Instead>,
  scope: BodyScope,
  mayEdit: (operator: Operator) => boolean = () => true,
): Edited | string {
  const ranked = operators
    .filter(([each]) => mayEdit(each))
    .sort(([a], [b]) => Number(b.name === named) - Number(a.name === named));
  for (const [operator, body] of ranked) {
    const sql = replaced(body.sql, instead, operator.name === named);
    if (sql === null) continue;
    const at = operators.findIndex(([{ name }]) => name === operator.name);
    const inputs = operators.slice(0, at).map(([{ name }]) => name);
    const made = operatorBody(sql, { name: operator.name, relations: [], inputs }, scope);
    if (made.kind === 'invalid') return made.error;
    // Otherwise the answer would be compared with itself, and the claim would seem to make no difference.
    if (made.value.bodyId === body.bodyId) return `instead leaves the SQL of ${operator.name} as it is`;
    return { operator: operator.name, body: made.value };
  }
  return `"${instead.of}" does not stand in the SQL of ${named}: copy the piece exactly as it is written there`;
}

/** The operator that reads one of the tables and has the piece, with the other in its place; null where none has it. */
export function editOf(
  plan: LoadedPlan,
  instead: NonNullable<Instead>,
  tables: readonly string[],
  scope: BodyScope,
): Edited | null {
  const operators = plan.operators.flatMap(({ operator, body }) => (body === null ? [] : [[operator, body] as const]));
  const made = edit(operators, '', instead, scope, (operator) => readsOneOf(tables, operator));
  return typeof made === 'string' ? null : made;
}

export function readsOneOf(tables: readonly string[], { relations }: Pick<Operator, 'relations'>): boolean {
  return relations.some((relation) => tables.some((table) => table.toLowerCase() === relation.toLowerCase()));
}

/** Null if the piece does not occur. Blanks may differ: replies are JSON, where line breaks get lost. */
function replaced(sql: string, { of, put }: NonNullable<Instead>, isNamed: boolean): string | null {
  const piece = of.trim();
  if (piece === '') return isNamed ? put : null;
  const pattern = piece
    .split(/\s+/)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('\\s+');
  // Not within a longer word: `v` is no piece of `value`.
  const [before, after] = [/^\w/.test(piece) ? '(?<!\\w)' : '', /\w$/.test(piece) ? '(?!\\w)' : ''];
  const found = new RegExp(before + pattern + after, 'g');
  return found.test(sql) ? sql.replace(found, () => put) : null;
}

/** The plan with the columns that its operators returned. */
export function withColumns(commit: BuiltCommit, results: readonly SqlResult[]): BuiltCommit {
  const operators = commit.plan.operators.map((each, at) => {
    const result = results[at];
    const columns = result?.kind === 'rows' ? result.columns : [];
    const declared = columns.map(({ name, kind }) => ({ name, type: TYPES[kind], meaning: '' }));
    return { ...each, operator: { ...each.operator, columns: declared } };
  });
  const plan = { ...commit.plan.plan, operators: operators.map(({ operator }) => operator) };
  return { ...commit, plan: { ...commit.plan, plan, operators } };
}

const TYPES: Readonly<Record<Extract<SqlResult, { kind: 'rows' }>['columns'][number]['kind'], ColumnType>> = {
  number: 'number',
  text: 'text',
  boolean: 'boolean',
  time: 'timestamp',
  json: 'json',
  other: 'other',
};

/** The risk of a claim that the data did not decide: the search attempts its operator. */
const UNDECIDED = 0.6;
/** Of one that holds with exceptions. */
const EXCEPTIONS = 0.15;

/** What is left open of an operator: claims that are not proved, and what no check can decide. */
export function assumptionsOf(
  { assumed }: BuiltCommit,
  name: string,
  claims: readonly (Pick<Claim, 'operator' | 'statement'> & { readonly state?: Claim['state'] })[],
): Assumption[] {
  const open = claims.filter(
    ({ operator, state }) => operator === name && state !== 'proved' && state !== 'immaterial',
  );
  return [
    ...open.map(({ statement, state }) => ({
      kind: 'meaning' as const,
      statement,
      risk: state === 'exceptions' ? EXCEPTIONS : UNDECIDED,
    })),
    ...assumed
      .filter(({ operator }) => operator === name)
      .map(({ statement, risk }) => ({ kind: 'other' as const, statement, risk })),
  ];
}

/** Stores bodies and plan, with the assumptions that are left open. */
export async function storeCommit(
  context: StepContext,
  { plan, control, coverage, wording, claims }: BuiltCommit,
  open: (operator: string) => readonly Assumption[],
): Promise<LoadedPlan> {
  const operators = plan.operators.map((each) => {
    const assumptions = [...open(each.operator.name)];
    const { bodyId } = each.body ?? { bodyId: '' };
    return {
      ...each,
      assumptions,
      operator: { ...each.operator, body: { kind: 'assumed' as const, bodyId, assumptions } },
    };
  });
  const rivals = claims.flatMap(({ rivals: all }) => all.flatMap(({ edited }) => edited?.body ?? []));
  const extras = [control, coverage, ...wording.map(({ edited }) => edited?.body ?? null), ...rivals];
  for (const { body, assumptions } of operators) if (body !== null) await storeBody(context, body, assumptions);
  for (const body of extras) if (body !== null) await storeBody(context, body);
  const content: Plan = {
    ...plan.plan,
    operators: operators.map(({ operator }) => operator),
    controlBodyId: control?.bodyId ?? null,
    ...(coverage === null ? {} : { coverageBodyId: coverage.bodyId }),
    wording: wording.map(({ operator, taken, other, edited }) => ({
      operator: edited?.operator ?? operator,
      taken,
      other,
      otherBodyId: edited?.body.bodyId ?? null,
    })),
  };
  await context.run.put('plan', content.planId, content);
  return { ...plan, plan: content, operators };
}
