/** The reply of role `plan`: its schema and its checks. What a check finds goes back to the model, with what is allowed. */
import { z } from 'zod';
import { Assumption, ColumnType, OPERATOR_NAME } from '../domain';
import type { Problem } from './reply';
import { SentenceReply, wantsSentence } from './sentence';
import type { PromptContext } from './shared';
import { notListed, TestReply } from './test-reply';
import * as web from './web';

export const AssumptionReply = z.object({
  kind: Assumption.shape.kind,
  statement: z.string(),
  risk: z.number(),
});

const OperatorReply = z.object({
  name: z.string(),
  purpose: z.string(),
  intent: z.string(),
  relations: z.array(z.string()),
  inputs: z.array(z.string()),
  columns: z.array(z.object({ name: z.string(), type: ColumnType, meaning: z.string() })),
  grain: z.array(z.string()),
  mapping: z.string().nullable(),
  sql: z.string().nullable(),
  assumptions: z.array(AssumptionReply),
});

/** Keys stand in the order in which a model should think: the outline before the verdict, doubt after the SQL. */
export const PlanReply = z.object({
  outline: z.string(),
  kind: z.enum(['plan', 'unanswerable']),
  reason: z.string().nullable(),
  operators: z.array(OperatorReply),
  ordered: z.boolean(),
  control: z.string().nullable(),
  wording: z.array(
    z.object({ operator: z.string(), taken: z.string(), other: z.string(), otherSql: z.string().nullable() }),
  ),
  bottleneck: z.string().nullable(),
  potential: z.number(),
  tests: z.array(TestReply),
});
/** `sentence` is there only where the question wants one. */
export type PlanReply = z.infer<typeof PlanReply> & { readonly sentence?: string | null };

/** What this very prompt asks for. */
export function planReply({ question }: PromptContext): z.ZodType<PlanReply> & typeof PlanReply {
  if (!wantsSentence(question)) return PlanReply;
  const { wording, bottleneck, potential, tests, ...rest } = PlanReply.shape;
  return z.object({ ...rest, sentence: SentenceReply, wording, bottleneck, potential, tests });
}

/** Where the search may look things up; what it may not stands in no schema. */
export function webReply(context: PromptContext, tools: readonly web.WebTool[]) {
  const { outline, kind, ...rest } = planReply(context).shape;
  return z.object({
    outline,
    kind: z.enum([...kind.options, 'lookup']),
    lookups: web.lookupList(tools),
    ...rest,
  });
}

export function checkPlan(reply: PlanReply): Problem[] {
  if (reply.kind === 'unanswerable')
    return reply.reason === null
      ? [{ where: 'reason', found: 'found null', allowed: 'say which fact is missing and where you looked' }]
      : [];
  if (reply.operators.length === 0)
    return [
      { where: 'operators', found: 'found []', allowed: 'a plan has at least one operator, the last the answer' },
    ];
  const names = reply.operators.map(({ name }) => name);
  const unknown = (where: string, name: string) => (names.includes(name) ? [] : [notListed(where, name, names)]);
  return [
    ...reply.operators.flatMap((_, at) => checkOperator(reply, at)),
    ...(reply.bottleneck === null ? [] : unknown('bottleneck', reply.bottleneck)),
    ...(reply.potential < 0
      ? [{ where: 'potential', found: `found ${reply.potential}`, allowed: 'use 0 or more' }]
      : []),
    ...reply.wording.flatMap(({ operator }, at) => unknown(`wording[${at}].operator`, operator)),
  ];
}

function checkOperator(reply: PlanReply, at: number): Problem[] {
  const operator = reply.operators[at];
  if (operator === undefined) return [];
  const where = `operators[${at}]`;
  const { name, columns } = operator;
  const earlier = reply.operators.slice(0, at).map((other) => other.name);
  const lower = columns.map((column) => column.name.toLowerCase());
  const problems: Problem[] = [];
  const add = (field: string, found: string, allowed: string) =>
    problems.push({ where: `${where}.${field}`, found, allowed });

  if (!OPERATOR_NAME.test(name)) add('name', `found "${name}"`, 'use op_ and 1 to 50 of a-z, 0-9, _');
  if (earlier.includes(name)) add('name', `${name} is used twice`, 'give every operator its own name');
  if (operator.intent.trim() === '') add('intent', 'found ""', 'say in one sentence what the rows mean');
  for (const input of operator.inputs)
    if (!earlier.includes(input))
      add(
        'inputs',
        `"${input}" is no earlier operator`,
        `inputs takes ${earlier.join(', ') || 'nothing here'}; base tables go into relations`,
      );
  if (columns.length === 0) add('columns', 'found []', 'declare at least one output column');
  lower.forEach((column, index) => {
    if (column.trim() === '') add(`columns[${index}].name`, 'found ""', 'name the column as the SELECT does');
    else if (lower.indexOf(column) !== index)
      add(`columns[${index}].name`, `${column} is declared twice`, 'give each column its own name');
  });
  for (const column of operator.grain)
    if (!columns.some((declared) => declared.name === column))
      add(
        'grain',
        `"${column}" is no output column`,
        `use ${columns.map((declared) => declared.name).join(', ')}, or [] for a single row`,
      );
  if (operator.sql === null && operator.mapping === null)
    add('sql', 'sql and mapping are both null', 'write sql, or describe the open mapping');
  operator.assumptions.forEach((assumption, index) =>
    problems.push(...checkAssumption(assumption, `${where}.assumptions[${index}]`)),
  );
  const used =
    at === reply.operators.length - 1 || reply.operators.slice(at + 1).some(({ inputs }) => inputs.includes(name));
  if (!used)
    add('name', `no later operator reads ${name}`, 'put the answer last and drop operators that it does not use');
  return problems;
}

export function checkAssumption(assumption: z.infer<typeof AssumptionReply>, where: string): Problem[] {
  return [
    ...(assumption.statement.trim() === ''
      ? [{ where: `${where}.statement`, found: 'found ""', allowed: 'state what is assumed' }]
      : []),
    ...(assumption.risk >= 0 && assumption.risk <= 1
      ? []
      : [{ where: `${where}.risk`, found: `found ${assumption.risk}`, allowed: 'use a number from 0 to 1' }]),
  ];
}
