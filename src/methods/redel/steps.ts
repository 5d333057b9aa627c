/** The steps of ReDel: one action of an agent that may have helpers, and what those found. */
import type { HelperReport, Observation } from '../../domain';
import {
  FIRST_TURNS,
  isHelper,
  isSeed,
  LATE,
  mayBegin,
  parseRedel,
  redelSchema,
  renderRedel,
  spentAfter,
  type RedelAction,
  type RedelPrompt,
} from './prompt';
import { agentPrompt, runTool, storeAction } from '../react/steps';
import type { ModelOutcome } from '../../domain/ports/step-parts';
import { createRunStore } from '../../record/run-store';
import { now, once, type StepContext } from '../../roles/shared/context';
import { contentId, runModelStep } from '../../roles/shared/model-step';
import type { HelperRun, RedelActed, RedelInput, ToolInput, ToolRun } from '../../domain/ports/steps';

/** A subtask that is more alike, of 100, to what the agent itself was asked is no part of it. Upstream's. */
const SIMILAR = 80;
/** The paper's examples of what is too broad, and their likes. */
const BROAD =
  /^(?:please\s+)?(?:solve|answer|find|get|give|write|compute|determine)\s+(?:me\s+)?(?:the|this|that)\s+(?:whole\s+|entire\s+|final\s+|user'?s\s+|original\s+)*(?:query|question|answer|task|problem|sql|result)\b.{0,40}$/is;

export async function redel(context: StepContext, step: RedelInput): Promise<ModelOutcome<RedelActed>> {
  const { method, redel: settings } = context.settings;
  if (settings === undefined) throw new Error(`role redel in a search by ${method}`);
  const prompt: RedelPrompt = { ...(await agentPrompt(context, step)), redel: settings };
  return runModelStep(context, step, {
    role: 'redel',
    schema: redelSchema(prompt),
    messages: () => renderRedel(prompt),
    parse: (text) => parseRedel(text, prompt),
    read: (reply) => () => store(context, contentId(step), reply, prompt),
  });
}

async function store(
  context: StepContext,
  actionId: string,
  reply: RedelAction,
  prompt: RedelPrompt,
): Promise<RedelActed> {
  const blank = { actionId, note: reply.note, sql: null, answer: null } as const;
  switch (reply.action) {
    case 'delegate': {
      const subtasks = reply.subtasks.map((text) => {
        const refused = refusal(text, prompt);
        return refused === null ? { text } : { text, refused };
      });
      await context.run.put('action', actionId, { ...blank, subtasks });
      const tasks = subtasks.map((each) => ('refused' in each ? null : each.text));
      return { kind: 'delegate', actionId, tasks };
    }
    case 'end':
      if (!isHelper(prompt)) break;
      await context.run.put('action', actionId, { ...blank, answer: reportText(reply, prompt) });
      return { kind: 'report', actionId };
    case 'tool_call':
      break;
    default:
      return reply.action satisfies never;
  }
  return storeAction(context, actionId, { ...reply, action: reply.action });
}

/** ReDel returns all that a helper said. */
function reportText({ note, report }: RedelAction, prompt: RedelPrompt): string {
  const said = isSeed(prompt) ? [] : [...prompt.turns.map((turn) => turn.note), note];
  return [...said, report ?? ''].filter((text) => text !== '').join('\n');
}

/** Why no helper gets the subtask, as the agent is told; null: one does. */
function refusal(text: string, prompt: RedelPrompt): string | null {
  const { turns, callsLimit, redel: settings } = prompt;
  const isSimilar = similarity(text, prompt.question.text) > SIMILAR;
  if (!isSeed(prompt))
    return isSimilar
      ? 'You should not hand on the whole task: do it yourself, or, if it is still too complex, split it into smaller steps and delegate those.'
      : null;
  const spent = spentAfter(prompt, turns.length);
  const late = Math.floor(LATE * callsLimit) + 1;
  if (turns.length < FIRST_TURNS || spent.own < late)
    return `Too early: work on it yourself until ${late} of your ${callsLimit} tool calls are used.`;
  if (!mayBegin(prompt, spent))
    return spent.actions >= settings.children
      ? `You have had all ${settings.children} helpers: go on yourself.`
      : 'All tool calls of all agents are used: end with what you have.';
  return isSimilar || BROAD.test(text)
    ? 'Too broad: name one narrow point, with its tables and columns. The question itself is yours to answer.'
    : null;
}

/** Runs the queries of an action, or reads what the helpers of an action that delegates found. */
export function tool(context: StepContext, step: ToolInput): Promise<ToolRun> {
  return step.helpers === undefined ? runTool(context, step) : readHelpers(context, step, step.helpers);
}

/** What came of the subtasks of an action, as an observation; each report is read from the helper's record. */
async function readHelpers(
  context: StepContext,
  step: ToolInput,
  runs: readonly (HelperRun | null)[],
): Promise<ToolRun> {
  return once(context, async () => {
    const { subtasks = [] } = await context.run.get('action', step.actionId);
    const helpers = await Promise.all(
      subtasks.map(({ text, refused = '' }, at) => helperReport(context, text, refused, runs[at] ?? null)),
    );
    const { position: observationId, actionId: proposalId } = step;
    const observation: Observation = { observationId, proposalId, tests: [], helpers };
    await context.run.put('observation', observationId, { ...observation, takenAt: now(context) });
    const outcome = helpers.some((helper) => helper.outcome === 'reported') ? 'rows' : 'empty';
    return { observationId: step.position, outcome, usage: {} };
  });
}

async function helperReport(
  { deps }: StepContext,
  task: string,
  refused: string,
  run: HelperRun | null,
): Promise<HelperReport> {
  if (run === null) return { task, helper: null, outcome: 'refused', text: refused, calls: 0 };
  if ('failed' in run)
    return { task, helper: null, outcome: 'failed', text: `The helper failed: ${run.failed}`, calls: 0 };
  const { helper, calls } = run;
  const record = await createRunStore(deps.store, helper, deps.hash).get('result', helper);
  if (record.answer !== null) return { task, helper, calls, outcome: 'reported', text: record.answer };
  const outcome = record.status === 'failed' ? 'failed' : 'silent';
  const why = record.reason ?? record.endedBy;
  return {
    task,
    helper,
    calls,
    outcome,
    text: `The helper ${outcome === 'failed' ? 'failed' : 'did not report'}: ${why}`,
  };
}

/**
 * How alike two texts are, from 0 to 100: twice their longest common subsequence in the sum of their lengths (the normalised
 * indel similarity, which rapidfuzz calls `ratio`).
 */
export function similarity(one: string, other: string): number {
  const [a, b] = [Array.from(one), Array.from(other)];
  if (a.length + b.length === 0) return 100;
  let lengths = new Uint32Array(b.length + 1);
  for (const character of a) {
    const next = new Uint32Array(b.length + 1);
    b.forEach((each, at) => {
      next[at + 1] = each === character ? at0(lengths, at) + 1 : Math.max(at0(lengths, at + 1), at0(next, at));
    });
    lengths = next;
  }
  return (200 * at0(lengths, b.length)) / (a.length + b.length);
}

function at0(lengths: Uint32Array, index: number): number {
  return lengths[index] ?? 0;
}
