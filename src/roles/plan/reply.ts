/** The reply of role `plan`: its schema and its checks. What a check finds goes back to the model, with what is allowed. */
import { z } from 'zod';
import { Assumption, ColumnType, OPERATOR_NAME } from '../../domain';
import { oneOf, unless, type Problem } from '../shared/reply';
import { SentenceReply } from '../../domain/turns';
import { wantsSentence } from '../shared/sentence';
import type { PromptContext } from '../shared/prompt-parts';
import { TestReply } from '../shared/tests';
import * as web from '../shared/lookups';

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

type OperatorReply = z.infer<typeof OperatorReply>;

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

export function checkPlan({ kind, reason, operators, bottleneck, potential, wording }: PlanReply): Problem[] {
  if (kind === 'unanswerable')
    return unless(reason !== null, 'reason', 'found null', 'say which fact is missing and where you looked');
  const names = operators.map(({ name }) => name);
  if (names.length === 0)
    return unless(false, 'operators', 'found []', 'a plan has at least one operator, the last the answer');
  return [
    ...operators.flatMap((operator, at) => checkOperator(operator, at, operators)),
    ...(bottleneck === null ? [] : oneOf('bottleneck', bottleneck, names)),
    ...unless(potential >= 0, 'potential', `found ${potential}`, 'use 0 or more'),
    ...wording.flatMap(({ operator }, at) => oneOf(`wording[${at}].operator`, operator, names)),
  ];
}

function checkOperator(operator: OperatorReply, at: number, operators: readonly OperatorReply[]): Problem[] {
  const { name, intent, inputs, grain, sql, mapping, assumptions } = operator;
  const where = `operators[${at}]`;
  const earlier = operators.slice(0, at).map((other) => other.name);
  const later = operators.slice(at + 1);
  const columns = operator.columns.map((column) => column.name);
  const lower = columns.map((column) => column.toLowerCase());
  const need = (holds: boolean, field: string, found: string, allowed: string): Problem[] =>
    unless(holds, `${where}.${field}`, found, allowed);
  const takes = `inputs takes ${earlier.join(', ') || 'nothing here'}; base tables go into relations`;
  const isRead = later.length === 0 || later.some((other) => other.inputs.includes(name));
  return [
    ...need(OPERATOR_NAME.test(name), 'name', `found "${name}"`, 'use op_ and 1 to 50 of a-z, 0-9, _'),
    ...need(!earlier.includes(name), 'name', `${name} is used twice`, 'give every operator its own name'),
    ...need(intent.trim() !== '', 'intent', 'found ""', 'say in one sentence what the rows mean'),
    ...inputs.flatMap((input) => need(earlier.includes(input), 'inputs', `"${input}" is no earlier operator`, takes)),
    ...need(columns.length > 0, 'columns', 'found []', 'declare at least one output column'),
    ...lower.flatMap((column, index) =>
      column.trim() === ''
        ? need(false, `columns[${index}].name`, 'found ""', 'name the column as the SELECT does')
        : need(
            lower.indexOf(column) === index,
            `columns[${index}].name`,
            `${column} is declared twice`,
            'give each column its own name',
          ),
    ),
    ...grain.flatMap((column) =>
      need(
        columns.includes(column),
        'grain',
        `"${column}" is no output column`,
        `use ${columns.join(', ')}, or [] for a single row`,
      ),
    ),
    ...need(
      sql !== null || mapping !== null,
      'sql',
      'sql and mapping are both null',
      'write sql, or describe the open mapping',
    ),
    ...assumptions.flatMap((each, index) => checkAssumption(each, `${where}.assumptions[${index}]`)),
    ...need(
      isRead,
      'name',
      `no later operator reads ${name}`,
      'put the answer last and drop operators that it does not use',
    ),
  ];
}

export function checkAssumption({ statement, risk }: z.infer<typeof AssumptionReply>, where: string): Problem[] {
  return [
    ...unless(statement.trim() !== '', `${where}.statement`, 'found ""', 'state what is assumed'),
    ...unless(risk >= 0 && risk <= 1, `${where}.risk`, `found ${risk}`, 'use a number from 0 to 1'),
  ];
}
