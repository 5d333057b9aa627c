/**
 * Role `react`: the baseline agent (paper, App. ReAct): one JSON action per turn, `tool_call` or `end`, cross-checks
 * before it ends, a budget of tool calls. Turns are replayed as a conversation, so that its prefix stays cacheable.
 */
import { z } from 'zod';
import type { ChatMessage } from '../ports';
import { parseReply, replySchema, sketch } from './reply';
import type { Parsed, Problem } from './reply';
import * as shared from './shared';
import type { PromptContext } from './shared';

export interface ReactTurn {
  readonly note: string;
  readonly sql: string;
  /** The rows as CSV, or what happened instead. */
  readonly outcomeCsv: string;
}

export interface ReactInput extends PromptContext {
  readonly turns: readonly ReactTurn[];
  readonly callsUsed: number;
  readonly callsLimit: number;
}

export const ReactReply = z.object({
  note: z.string(),
  action: z.enum(['tool_call', 'end']),
  tool: z.enum(['execute_sql']).nullable(),
  sql: z.string().nullable(),
  answer: z.string().nullable(),
  finalSql: z.string().nullable(),
  unanswerable: z.boolean(),
});
export type ReactReply = z.infer<typeof ReactReply>;

export const reactSchema = replySchema('react', ReactReply);

export function renderReact(input: ReactInput): ChatMessage[] {
  const system = [
    `You answer questions about a ${shared.engineName(input.dialect)} database by running queries, one action per turn.`,
    shared.AUTHORITY,
    RULES,
    shared.engineGuide(input.dialect),
    shared.replyRule(sketch(ReactReply)),
  ];
  const user = [
    ...shared.databaseSections(input),
    ...shared.knowledgeSections(input, true),
    shared.questionSection(input.question),
    input.question.outputMode === 'answer'
      ? 'Wanted at the end: answer in words or values, and finalSql.'
      : 'Wanted at the end: finalSql.',
    budget(input.callsLimit - (input.callsUsed - input.turns.length)),
  ];
  return [...shared.conversation(system, user), ...input.turns.flatMap((turn, at) => turnMessages(turn, at, input))];
}

export function parseReact(text: string, input: ReactInput): Parsed<ReactReply> {
  const parsed = parseReply(text, ReactReply, (reply) => checkAction(reply, input));
  if (parsed.kind === 'invalid') return parsed;
  const { reply } = parsed;
  return {
    kind: 'ok',
    reply: { ...reply, sql: shared.tidyOptionalSql(reply.sql), finalSql: shared.tidyOptionalSql(reply.finalSql) },
  };
}

const RULES = `ACTIONS
- tool_call: tool execute_sql with sql, one read-only SELECT. The rows come back as CSV, possibly cut.
- end: finalSql, one SELECT that yields exactly the columns asked for, in the order asked, no helper columns, no rounding unless asked; answer, if wanted.
- end with unanswerable true, finalSql null and the reason in answer: only if the fact asked for is not stored in any column, join or code. An empty result is no such reason.

HOW
- Look before you write: values, formats, units, codes, NULLs, duplicates, join cardinality. Names can mislead. Never guess a table, column or value.
- Prefer several small queries to one large one.
- One query that ran proves nothing. Before you end, cross-check by another route: another aggregation or join path, a control count, a few rows by hand. If checks disagree, or the result is empty, zero or all NULL, find out why and revise your reading; never explain it away.
- Mind the budget of tool calls: keep one for the last check, and end with the best you have when it is spent.
- note: what you learned and what this step is for, in one or two sentences.`;

function turnMessages(turn: ReactTurn, at: number, input: ReactInput): ChatMessage[] {
  const reply: ReactReply = {
    note: turn.note,
    action: 'tool_call',
    tool: 'execute_sql',
    sql: turn.sql,
    answer: null,
    finalSql: null,
    unanswerable: false,
  };
  const usedThen = input.callsUsed - (input.turns.length - 1 - at);
  const content = `${shared.data('result', turn.outcomeCsv)}\n${budget(input.callsLimit - usedThen)}`;
  return [
    { role: 'assistant', content: JSON.stringify(reply) },
    { role: 'user', content },
  ];
}

function budget(left: number): string {
  return left > 0 ? `Tool calls left: ${left}.` : 'No tool calls left: the action must be end.';
}

function checkAction(reply: ReactReply, input: ReactInput): Problem[] {
  if (reply.action === 'tool_call') {
    if (input.callsUsed >= input.callsLimit)
      return [
        {
          where: 'action',
          found: 'found "tool_call" with no tool calls left',
          allowed: 'use "end" with the best answer so far',
        },
      ];
    return [
      ...(reply.tool === null
        ? [{ where: 'tool', found: 'found null', allowed: 'use "execute_sql" with action tool_call' }]
        : []),
      ...(reply.sql === null
        ? [{ where: 'sql', found: 'found null', allowed: 'write the SELECT to run, or use action "end"' }]
        : []),
    ];
  }
  if (reply.unanswerable)
    return reply.answer === null
      ? [{ where: 'answer', found: 'found null with unanswerable true', allowed: 'say which fact is not stored' }]
      : [];
  return [
    ...(reply.finalSql === null
      ? [
          {
            where: 'finalSql',
            found: 'found null with action "end"',
            allowed: 'write the final SELECT, set unanswerable to true, or use "tool_call"',
          },
        ]
      : []),
    ...(reply.answer === null && input.question.outputMode === 'answer'
      ? [{ where: 'answer', found: 'found null', allowed: 'state the answer, as this question wants one' }]
      : []),
  ];
}
