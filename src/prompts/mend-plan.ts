/**
 * Slips in a plan reply that have one right correction, made here instead of paid for in another call. What the SQL of an
 * operator reads is known from its text, so a forgotten or misplaced declaration changes nothing (the engine's parser still
 * has the last word, rule S8). A doubt that the reply states anywhere is never dropped.
 */
import type { PlanReply } from './plan-reply';

type OperatorReply = PlanReply['operators'][number];

/** Beside SQL, an open mapping that the reply wants tested is a doubt as good as any; else it only explains the SQL. */
const OPEN_RISK = 0.5;
const EXPLAINED_RISK = 0.1;

export function mendPlan(reply: PlanReply): PlanReply {
  const wanted = new Set([reply.bottleneck ?? '', ...reply.tests.map(({ operator }) => operator)]);
  const names = reply.operators.map(({ name }) => name);
  const mended = reply.operators.map((operator, at) =>
    mendOperator(operator, names.slice(0, at), wanted.has(operator.name)),
  );
  const operators = withoutUnread(mended);
  const kept = new Set(operators.map(({ name }) => name));
  const stays = ({ operator }: { readonly operator: string }) => kept.has(operator) || !names.includes(operator);
  return {
    ...reply,
    operators,
    bottleneck: reply.bottleneck !== null && stays({ operator: reply.bottleneck }) ? reply.bottleneck : null,
    wording: reply.wording.filter(stays),
    tests: reply.tests.filter(stays),
  };
}

function mendOperator(operator: OperatorReply, earlier: readonly string[], isWanted: boolean): OperatorReply {
  const { sql, mapping, assumptions } = operator;
  const relations = operator.relations.map(bare);
  const reads = earlier.filter((name) => sql !== null && new RegExp(`\\b${escaped(name)}\\b`, 'i').test(sql));
  const named = [...operator.inputs, ...relations.filter((name) => earlier.includes(name)), ...reads];
  const isTable = (name: string) => !/^op_/i.test(name);
  const both = sql !== null && mapping !== null;
  const risk = isWanted ? OPEN_RISK : EXPLAINED_RISK;
  return {
    ...operator,
    relations: unique([...relations.filter((name) => !earlier.includes(name)), ...named.filter(isTable)]),
    inputs: unique(named.filter((name) => !isTable(name))),
    grain: operator.grain.map((name) => declared(operator, name)),
    mapping: both ? null : mapping,
    // Where the doubt is spelled out already, the mapping says nothing new.
    assumptions:
      both && !assumptions.some((each) => each.risk >= risk)
        ? [...assumptions, { kind: 'other', statement: mapping, risk }]
        : assumptions,
  };
}

/** As the columns spell it: neither engine's plain names heed case. */
function declared({ columns }: OperatorReply, name: string): string {
  return columns.find((column) => column.name.toLowerCase() === name.toLowerCase())?.name ?? name;
}

/**
 * Operators that the answer does not read have no say in it. Only where everything it reads is written: the readers of an
 * open mapping are not known yet, so a missing input there is a mistake that its writer has to mend.
 */
function withoutUnread(operators: readonly OperatorReply[]): OperatorReply[] {
  const names = operators.map(({ name }) => name);
  const reached = new Set<string>();
  for (const operator of [...operators].reverse()) {
    if (reached.size > 0 && !reached.has(operator.name)) continue;
    if (operator.sql === null) return [...operators];
    for (const name of [operator.name, ...operator.inputs]) reached.add(name);
  }
  if (new Set(names).size < names.length || [...reached].some((name) => !names.includes(name))) return [...operators];
  return operators.filter(({ name }) => reached.has(name));
}

/** `"Order Items"` as the description has it: quotes are SQL's, and no part of the name. */
function bare(relation: string): string {
  return relation.replace(
    /(^|\.)(?:"((?:[^"]|"")+)"|`([^`]+)`|\[([^\]]+)\])(?=\.|$)/g,
    (_, dot: string, quoted?: string, ticked?: string, bracketed?: string) =>
      dot + (quoted?.replaceAll('""', '"') ?? ticked ?? bracketed ?? ''),
  );
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)];
}

function escaped(name: string): string {
  return name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
