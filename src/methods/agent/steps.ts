/** The steps of the agents (methods `react` and `redel`) over the same journal, store, schema text and record as the search. */
import type { Coverage, HelperReport, Observation } from '../../domain';
import type { ModelOutcome } from '../../domain/ports/step-parts';
import type { Acted, HelperRun, Given, Gives } from '../../domain/ports/steps';
import type { Contents } from '../../record/contents';
import { createRunStore } from '../../record/run-store';
import { runError } from '../../roles/shared/bodies';
import { now, type StepContext } from '../../roles/shared/context';
import { contentId, runModelStep } from '../../roles/shared/model-step';
import { promptContext } from '../../roles/shared/prompt-context';
import { refused } from '../../roles/shared/statements';
import { clockIn, finishCandidate } from '../../roles/sql/candidate';
import { runQueries, type QueryRun } from '../../roles/sql/queries';
import { readCoverage } from '../../sql/coverage';
import { resultTexts } from '../../text/result-text';
import {
  FIRST_TURNS,
  isHelper,
  isSeed,
  LATE,
  mayBegin,
  agentRole,
  spentAfter,
  type AgentAction,
  type AgentInput,
  type AgentTurn,
} from './prompt';

/** Observations need an operator; this name stands for the agent, which has none. */
const AGENT = 'op_agent';
/** A subtask that is more alike, of 100, to what the agent itself was asked is no part of it. Upstream's. */
const SIMILAR = 80;
/** The paper's examples of what is too broad, and their likes. */
const BROAD =
  /^(?:please\s+)?(?:solve|answer|find|get|give|write|compute|determine)\s+(?:me\s+)?(?:the|this|that)\s+(?:whole\s+|entire\s+|final\s+|user'?s\s+|original\s+)*(?:query|question|answer|task|problem|sql|result)\b.{0,40}$/is;

export async function act(context: StepContext, step: Given<'react' | 'redel'>): Promise<ModelOutcome<Acted>> {
  const { redel, profiles } = context.settings;
  const prompt: AgentInput = {
    ...(await promptContext(context, step.memory)),
    turns: await Promise.all(step.turns.map((id) => turnOf(context, id))),
    callsLimit: step.callsLimit,
    queriesPerAction: queriesPerAction(context),
    // The paper's agent sees no rows before it asks for them, and counts none.
    coverage: profiles,
    ...(step.role === 'redel' && { redel }),
  };
  return runModelStep(
    context,
    step,
    agentRole,
    prompt,
    (reply) => () => storeAction(context, contentId(step), reply, prompt),
  );
}

async function storeAction(
  context: StepContext,
  actionId: string,
  reply: AgentAction,
  prompt: AgentInput,
): Promise<Acted> {
  const { note, action, answer, finalSql, coverage } = reply;
  const store = (content: Partial<Contents['action']>) =>
    context.run.put('action', actionId, { actionId, note, sql: null, answer: null, ...content });
  if (action === 'delegate') {
    const subtasks = reply.subtasks.map((text) => {
      const why = refusal(text, prompt);
      return why === null ? { text } : { text, refused: why };
    });
    await store({ subtasks });
    return { kind: 'delegate', actionId, tasks: subtasks.map((each) => ('refused' in each ? null : each.text)) };
  }
  if (action === 'end' && isHelper(prompt)) {
    // ReDel returns all that a helper said.
    const said = isSeed(prompt) ? [] : [...prompt.turns.map((turn) => turn.note), note];
    await store({ answer: [...said, reply.report ?? ''].filter((text) => text !== '').join('\n') });
    return { kind: 'report', actionId };
  }
  if (action === 'end') {
    if (reply.unanswerable) return { kind: 'unanswerable', reason: answer ?? 'no reason given' };
    await store({ sql: finalSql, answer, ...(coverage !== null && { coverage }) });
    return { kind: 'end', actionId };
  }
  const web = webOf(reply);
  if (web !== null) {
    await store({ web });
    return { kind: 'web', actionId, tool: web.tool };
  }
  await store(prompt.queriesPerAction > 1 ? { queries: [...reply.queries] } : { sql: reply.queries[0]?.sql ?? null });
  return { kind: 'tool', actionId };
}

/** Why no helper gets the subtask, as the agent is told; null: one does. */
function refusal(text: string, prompt: AgentInput): string | null {
  const { turns, callsLimit } = prompt;
  const children = prompt.redel?.children ?? 0;
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
    return spent.actions >= children
      ? `You have had all ${children} helpers: go on yourself.`
      : 'All tool calls of all agents are used: end with what you have.';
  return isSimilar || BROAD.test(text)
    ? 'Too broad: name one narrow point, with its tables and columns. The question itself is yours to answer.'
    : null;
}

/** Also of actions that hold one query, as `sql`. */
function queriesOf({ sql, queries }: Contents['action']): NonNullable<Contents['action']['queries']> {
  return queries ?? [{ why: '', sql: sql ?? '' }];
}

function queriesPerAction({ settings }: StepContext): number {
  return settings.queriesPerAction ?? 1;
}

function webOf({ tool, query, url }: AgentAction): NonNullable<Contents['action']['web']> | null {
  if (tool === 'web_search') return { tool, request: query?.trim() ?? '' };
  return tool === 'fetch_url' ? { tool, request: url?.trim() ?? '' } : null;
}

async function turnOf(context: StepContext, observationId: string): Promise<AgentTurn> {
  const observation = await context.run.get('observation', observationId);
  const action = await context.run.get('action', observation.proposalId);
  const { web, helpers } = observation;
  if (helpers !== undefined) return { note: action.note, queries: [], helpers };
  if (web !== undefined) {
    const [page] = web.tool === 'fetch_url' ? web.citations : [];
    const { tool, request, text } = web;
    return { note: action.note, queries: [], web: { tool, request, text, source: page ?? null } };
  }
  const texts = resultTexts(
    observation.tests.map(({ result }) => result),
    context.settings.csvChars,
  );
  const queries = queriesOf(action).map((query, at) => ({ ...query, outcomeCsv: texts[at] ?? '' }));
  return { note: action.note, queries };
}

/** Runs the queries of an action, or reads what the helpers of an action that delegates found. */
export async function tool(context: StepContext, step: Given<'tool'>): Promise<Gives<'tool'>> {
  const { helpers } = step;
  if (helpers !== undefined) return readHelpers(context, step, helpers);
  const action = await context.run.get('action', step.actionId);
  const queries = queriesOf(action);
  const most = queriesPerAction(context);
  const { runs, takenAt, usage } = await runQueries(
    context,
    queries.slice(0, most).map(({ sql }) => sql),
  );
  const beyond = refused(`not run, because an action runs at most ${most} queries: ask again`);
  const observation: Observation = {
    observationId: step.position,
    proposalId: step.actionId,
    tests: queries.map((query, at) => {
      const { sql, result } = runs[at] ?? { sql: query.sql, result: beyond };
      return { operator: AGENT, probeSql: sql, result, hypotheses: [], materiality: null };
    }),
  };
  await context.run.put('observation', step.position, { ...observation, takenAt });
  return { observationId: step.position, outcome: bestOf(runs), usage };
}

/** The most that any of the queries gave. */
function bestOf(runs: readonly QueryRun[]): Gives<'tool'>['outcome'] {
  const outcomes = runs.map(({ result }) =>
    result.kind === 'rows' && result.rows.length === 0 ? 'empty' : result.kind,
  );
  return (['rows', 'empty'] as const).find((outcome) => outcomes.includes(outcome)) ?? outcomes[0] ?? 'refused';
}

/** Runs the final SQL before the agent may end, with its coverage in the same snapshot; an error of either goes back to it. */
export async function final(context: StepContext, step: Given<'final'>): Promise<Gives<'final'>> {
  const action = await context.run.get('action', step.actionId);
  const { coverage: counting } = action;
  const texts = [action.sql ?? '', ...(counting === undefined ? [] : [counting])];
  const { runs, takenAt, usage } = await runQueries(context, texts);
  const [{ sql, result }, counted] = runs as [QueryRun, QueryRun?];
  const coverage = counted === undefined ? null : coverageOf(counted);
  const run = await finishCandidate(
    context,
    {
      candidateId: step.candidateId,
      sql,
      result,
      takenAt,
      ...clockIn(context, sql),
      digest: null,
      control: null,
      ...(coverage === null || typeof coverage === 'string' ? {} : { coverage }),
      ordered: false,
      wording: [],
      plan: null,
      answer: action.answer,
    },
    [],
    usage,
  );
  const errors = [runError(result), typeof coverage === 'string' ? `coverage: ${coverage}` : null];
  return { ...run, error: errors.filter((error) => error !== null).join('\n') || null };
}

/** A text: what is wrong with it. */
function coverageOf({ sql, result }: QueryRun): Coverage | string {
  const counts = readCoverage(result);
  return typeof counts === 'string' ? counts : { ...counts, sql };
}

/** What came of the subtasks of an action, as an observation; each report is read from the helper's record. */
async function readHelpers(
  context: StepContext,
  step: Given<'tool'>,
  runs: readonly (HelperRun | null)[],
): Promise<Gives<'tool'>> {
  const { subtasks = [] } = await context.run.get('action', step.actionId);
  const helpers = await Promise.all(
    subtasks.map(({ text, refused: why = '' }, at) => helperReport(context, text, why, runs[at] ?? null)),
  );
  const { position: observationId, actionId: proposalId } = step;
  const observation: Observation = { observationId, proposalId, tests: [], helpers };
  await context.run.put('observation', observationId, { ...observation, takenAt: now(context) });
  const outcome = helpers.some((helper) => helper.outcome === 'reported') ? 'rows' : 'empty';
  return { observationId, outcome, usage: {} };
}

async function helperReport(
  { deps }: StepContext,
  task: string,
  why: string,
  run: HelperRun | null,
): Promise<HelperReport> {
  const none = { task, helper: null, calls: 0 };
  if (run === null) return { ...none, outcome: 'refused', text: why };
  if ('failed' in run) return { ...none, outcome: 'failed', text: `The helper failed: ${run.failed}` };
  const { helper, calls } = run;
  const record = await createRunStore(deps.store, helper).get('result', helper);
  const found = { task, helper, calls };
  if (record.answer !== null) return { ...found, outcome: 'reported', text: record.answer };
  const reason = record.reason ?? record.endedBy;
  return record.status === 'failed'
    ? { ...found, outcome: 'failed', text: `The helper failed: ${reason}` }
    : { ...found, outcome: 'silent', text: `The helper did not report: ${reason}` };
}

/**
 * How alike two texts are, from 0 to 100: twice their longest common subsequence in the sum of their lengths (the normalised
 * indel similarity, which rapidfuzz calls `ratio`).
 */
export function similarity(one: string, other: string): number {
  const [a, b] = [Array.from(one), Array.from(other)];
  if (a.length + b.length === 0) return 100;
  let lengths = b.map(() => 0);
  for (const character of a) {
    const next: number[] = [];
    b.forEach((each, at) => {
      const [left = 0, above = 0, before = 0] = [next[at - 1], lengths[at], lengths[at - 1]];
      next.push(each === character ? before + 1 : Math.max(above, left));
    });
    lengths = next;
  }
  return (200 * (lengths.at(-1) ?? 0)) / (a.length + b.length);
}
