/**
 * Role `redel`: an agent that may have helpers (paper, App. ReDel; docs/methods). The root is shown the question; a helper is shown its subtask alone, and reports instead of answering.
 * What the tools are, how SQL is written and how an answer is given is as in `react.ts`.
 */
import { z } from 'zod';
import type { Redel } from '../../domain';
import type { ChatMessage, ModelRequest } from '../../domain/ports';
import {
  called,
  cameBack,
  endProblems,
  endRules,
  endShape,
  lookingRules,
  NOTE_RULE,
  queriesOf,
  SENTENCE,
  toolProblems,
  toolRule,
  toolShape,
  webRules,
  type ReactMode,
  type ReactQuery,
  type ReactReply,
  type ReactTurn,
} from '../react/prompt';
import { parseReply, replySchema, sketch, unless, type Parsed, type Problem } from '../../roles/shared/reply';
import { wantsSentence, type PromptContext } from '../../roles/shared/prompt-parts';
import * as shared from '../../roles/shared/prompt-parts';

export interface RedelPrompt extends PromptContext, ReactMode {
  readonly redel: Redel;
  readonly turns: readonly ReactTurn[];
  readonly callsLimit: number;
}

const ABOUT = ['table', 'column', 'value', 'constraint', 'other'] as const;
const Finding = z.object({ about: z.enum(ABOUT), fact: z.string() });

/** A reply as it is written; what the agent may not do is left out. */
export interface RedelReply extends Partial<Omit<ReactReply, 'note' | 'action'>> {
  readonly note: string;
  readonly action: 'tool_call' | 'delegate' | 'end';
  readonly subtasks?: readonly string[];
  readonly findings?: readonly z.infer<typeof Finding>[];
  readonly report?: string | null;
}

export interface RedelAction {
  readonly note: string;
  readonly action: RedelReply['action'];
  readonly tool: ReactReply['tool'];
  readonly queries: readonly ReactQuery[];
  readonly query: string | null;
  readonly url: string | null;
  readonly subtasks: readonly string[];
  /** How a helper ends. */
  readonly report: string | null;
  readonly answer: string | null;
  readonly finalSql: string | null;
  readonly coverage: string | null;
  readonly unanswerable: boolean;
}

/** `seed`: a helper may be begun once more than this share of the agent's tool calls is used. */
export const LATE = 0.6;
/** `seed`: turns that the agent makes itself in any case. */
export const FIRST_TURNS = 3;
const SUBTASK_CHARS = 4_000;

export function isHelper({ redel }: Pick<RedelPrompt, 'redel'>): boolean {
  return redel.level !== undefined;
}

/** The paper's agent queries itself; that of ReDel's authors has helpers for it. */
export function isSeed({ redel }: Pick<RedelPrompt, 'redel'>): boolean {
  return redel.figures === 'seed';
}

/** The deepest level differs: ReDel counts that of the agents which may still delegate. */
function mayDelegate({ redel: { figures, depth, level = 0 } }: RedelPrompt): boolean {
  return figures === 'seed' ? level < depth : level <= depth;
}

/** ReDel's root has no tool but its helpers. */
function hasTools(input: RedelPrompt): boolean {
  return isSeed(input) || isHelper(input);
}

function mostSubtasks({ redel }: RedelPrompt): number {
  return redel.figures === 'seed' ? 1 : redel.children;
}

/** After the first `turns` turns: tool calls of the agent and of all agents, and actions that began a helper. */
export function spentAfter({ redel, turns: made, callsLimit }: RedelPrompt, turns: number) {
  const helpers = made
    .slice(0, turns)
    .map((turn) => (turn.helpers ?? []).filter(({ outcome }) => outcome !== 'refused'));
  const actions = helpers.filter((begun) => begun.length > 0).length;
  const theirs = helpers.flat().reduce((sum, { calls }) => sum + calls, 0);
  const own = turns - (redel.figures === 'seed' ? actions : 0);
  const all = (redel.callsBefore ?? 0) + turns - actions + theirs;
  return { own, actions, all, isSpent: own >= callsLimit || all >= (redel.allCalls ?? Infinity) };
}

function replyOf(input: RedelPrompt): z.ZodType<RedelReply> {
  const may = mayDelegate(input);
  const tools = hasTools(input);
  const ending = isSeed(input) ? { findings: z.array(Finding) } : { report: z.string().nullable() };
  const shape = {
    note: z.string(),
    action: z.enum([...(tools ? (['tool_call'] as const) : []), ...(may ? (['delegate'] as const) : []), 'end']),
    ...(tools ? toolShape(input) : {}),
    ...(may ? { subtasks: z.array(z.string()) } : {}),
    ...(isHelper(input) ? ending : endShape(input)),
  };
  // zod cannot infer members that are there only for some agents.
  return z.object(shape) as unknown as z.ZodType<RedelReply>;
}

export function redelSchema(input: RedelPrompt): ModelRequest['schema'] {
  return replySchema('redel', replyOf(input));
}

export function renderRedel(input: RedelPrompt): ChatMessage[] {
  const { question } = input;
  const ofHelper = isHelper(input);
  const sentence = !ofHelper && wantsSentence(question);
  const rules = [
    openingOf(input),
    actionRules(input),
    ...(sentence ? [SENTENCE] : []),
    ...(hasTools(input) ? webRules(question) : []),
    shared.replyRule(sketch(replyOf(input))),
  ];
  const ending = isSeed(input) ? 'findings' : 'report';
  const user = [
    ...shared.databaseSections(input),
    shared.rulesSection(rules),
    ...shared.searchSections(input),
    ...shared.knowledgeSections(input, true),
    // A model wrote it, maybe after it read something hostile.
    ofHelper ? `Subtask: ${shared.plain(question.text)}` : shared.questionSection(question),
    `Wanted at the end: ${ofHelper ? ending : `finalSql${sentence ? ' and answer' : ''}`}.`,
    budget(input, 0),
  ];
  return [
    ...shared.conversation(input.dialect, user),
    ...input.turns.flatMap((turn, at): ChatMessage[] => [
      { role: 'assistant', content: JSON.stringify(written(turn, input)) },
      { role: 'user', content: `${outcome(turn, input)}\n${budget(input, at + 1)}` },
    ]),
  ];
}

export function parseRedel(text: string, input: RedelPrompt): Parsed<RedelAction> {
  const parsed = parseReply(text, replyOf(input), (reply) => problemsOf(reply, input));
  if (parsed.kind === 'invalid') return parsed;
  const { reply } = parsed;
  return {
    kind: 'ok',
    reply: {
      ...{ note: reply.note, action: reply.action, tool: reply.tool ?? null },
      queries: queriesOf(reply).map(({ why, sql }) => ({ why, sql: shared.tidySql(sql) })),
      ...{ query: reply.query ?? null, url: reply.url ?? null },
      subtasks: subtasksOf(reply),
      report: reportOf(reply),
      answer: reply.answer ?? null,
      finalSql: shared.tidyOptionalSql(reply.finalSql ?? null),
      coverage: shared.tidyOptionalSql(reply.coverage ?? null),
      unanswerable: reply.unanswerable ?? false,
    },
  };
}

function subtasksOf({ subtasks = [] }: RedelReply): readonly string[] {
  return subtasks.map((task) => task.trim()).filter((task) => task !== '');
}

function reportOf({ findings, report }: RedelReply): string | null {
  if (findings === undefined) return report?.trim() || null;
  return findings.map(({ about, fact }) => `- ${about}: ${fact}`).join('\n') || null;
}

function openingOf(input: RedelPrompt): string {
  if (isHelper(input))
    return 'You look into one point of the database for a coordinator, one action per turn. You report facts; the question behind the subtask is not yours to answer.';
  return isSeed(input)
    ? 'You answer the question by running queries, one action per turn. Helpers can look into narrow points for you, as a last resort.'
    : 'You answer the question through helpers, one action per turn. You cannot query the database yourself; your helpers can.';
}

function actionRules(input: RedelPrompt): string {
  const actions = [
    ...(hasTools(input) ? [toolRule(input)] : []),
    ...(mayDelegate(input) ? [delegateRule(input)] : []),
    isHelper(input) ? reportRule(input) : endRules(input),
  ];
  const how = [
    ...(hasTools(input) ? [lookingRules(input)] : []),
    ...(isHelper(input)
      ? []
      : [
          '- One result proves nothing. Before you end, cross-check by another route: another aggregation or join path, a control count, a few rows by hand. If checks disagree, or the result is empty, zero or all NULL, find out why and revise your reading; never explain it away.',
        ]),
    '- Mind the budget: keep a call for the last check, and end with the best you have when it is spent.',
    NOTE_RULE,
  ];
  const helpers = mayDelegate(input) ? [`HELPERS\n${helperRules(input)}`] : [];
  return [`ACTIONS\n${actions.join('\n')}`, ...helpers, `HOW\n${how.join('\n')}`].join('\n\n');
}

function delegateRule(input: RedelPrompt): string {
  const most = mostSubtasks(input);
  const many = most === 1 ? 'one subtask' : `1 to ${most} subtasks, whose helpers work at the same time`;
  return `- delegate: subtasks, ${many}. A helper can query. It sees the schema and its subtask, and nothing of the question or of this conversation: name tables, columns, values and dates in it. What it reports comes back.`;
}

function reportRule(input: RedelPrompt): string {
  return isSeed(input)
    ? '- end: findings, each a fact that the schema or rows showed, with what it is about: which tables and columns matter, which values were found, which constraints hold. Say what you could not find, too.'
    : '- end: report, what you found, as precisely as the rows show it, and what you could not find.';
}

function helperRules({ redel }: RedelPrompt): string {
  if (redel.figures === 'seed')
    return `- Before the first action, estimate how many tool calls the question takes. Most take 5 to 15: make them yourself, and delegate nothing that your own budget still allows.
- A helper is refused before more than ${LATE * 100} % of your tool calls are used, and in your first ${FIRST_TURNS} turns. You may have ${redel.children} in all.
- Narrow and specific: list the columns of a table with what they mean, check whether rows with a value exist, verify a join on a column. "Solve the query" or "find the answer" is refused.
- Take in what is reported and go on working; only you end with an answer.`;
  return `- Break what you were asked into simpler steps, one subtask each, and delegate in one action all that do not wait for each other. Delegate again for what depends on their reports.
- Never pass on the whole of what you were asked: a subtask that repeats it is refused.`;
}

function written(turn: ReactTurn, input: RedelPrompt): RedelReply {
  const { note, helpers } = turn;
  if (helpers === undefined) return called(turn, input);
  return { note, action: 'delegate', subtasks: helpers.map(({ task }) => task) };
}

function outcome(turn: ReactTurn, input: RedelPrompt): string {
  const { helpers } = turn;
  if (helpers === undefined) return cameBack(turn, input);
  return helpers.map((helper, at) => shared.data(`helper ${at + 1}, ${helper.outcome}`, helper.text)).join('\n');
}

/** The paper shows the budgets of the agent, of a helper and of all in every prompt. */
function budget(input: RedelPrompt, turns: number): string {
  const { redel, callsLimit } = input;
  const spent = spentAfter(input, turns);
  const used = [
    `Tool calls used: ${spent.own} of ${callsLimit} by you`,
    ...(redel.allCalls === undefined ? [] : [`${spent.all} of ${redel.allCalls} by all agents`]),
  ].join(', ');
  const theirs = mayDelegate(input) ? ` A helper has ${redel.childCalls}.` : '';
  const mayHelp = isSeed(input) && mayBegin(input, spent);
  const left = mayHelp ? 'delegate or end' : 'end';
  return `${used}.${theirs}${spent.isSpent ? ` No tool calls left: the action must be ${left}.` : ''}`;
}

/** Whether the paper's agent may have one more helper, sooner or later. */
export function mayBegin(input: RedelPrompt, { actions, all }: { actions: number; all: number }): boolean {
  const { redel } = input;
  return mayDelegate(input) && actions < redel.children && all < (redel.allCalls ?? Infinity);
}

function problemsOf(reply: RedelReply, input: RedelPrompt): Problem[] {
  const { isSpent } = spentAfter(input, input.turns.length);
  const none = (action: string) =>
    unless(!isSpent, 'action', `found "${action}" with no tool calls left`, 'use "end" with the best so far');
  switch (reply.action) {
    case 'tool_call':
      return isSpent ? none('tool_call') : toolProblems({ ...reply, tool: reply.tool ?? null }, input);
    case 'delegate':
      return !isSeed(input) && isSpent ? none('delegate') : subtaskProblems(reply, input);
    case 'end':
      if (isHelper(input)) {
        const name = isSeed(input) ? 'findings' : 'report';
        return unless(
          reportOf(reply) !== null,
          name,
          'found nothing',
          'say what you found, and what you could not find',
        );
      }
      return endProblems(
        { unanswerable: reply.unanswerable ?? false, answer: reply.answer ?? null, finalSql: reply.finalSql ?? null },
        `or use "${hasTools(input) ? 'tool_call' : 'delegate'}"`,
      );
    default:
      return reply.action satisfies never;
  }
}

function subtaskProblems(reply: RedelReply, input: RedelPrompt): Problem[] {
  const tasks = subtasksOf(reply);
  const most = mostSubtasks(input);
  const longest = Math.max(0, ...tasks.map(({ length }) => length));
  return [
    ...unless(tasks.length > 0, 'subtasks', 'found none', 'write what the helper is to find out'),
    ...unless(tasks.length <= most, 'subtasks', `found ${tasks.length}`, `write at most ${most}`),
    ...unless(new Set(tasks).size === tasks.length, 'subtasks', 'found one twice', 'write each once'),
    ...unless(longest <= SUBTASK_CHARS, 'subtasks', `found ${longest} characters`, `write at most ${SUBTASK_CHARS}`),
  ];
}
