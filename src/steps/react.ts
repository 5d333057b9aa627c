/** The steps of the method `react` (paper, App. B.1) over the same journal, store, schema text and record. */
import type { Observation, SqlResult } from '../domain';
import type { Acted, ActInput, FinalInput, FinalRun, ToolInput, ToolRun } from '../methods/react';
import { parseReact, reactSchema, renderReact, type ReactReply, type ReactTurn } from '../prompts';
import { normaliseSql } from '../search/body';
import { clockOperator } from '../search/clock';
import { compileSelect } from '../search/compile';
import { resultText } from '../search/preview';
import type { ModelOutcome } from '../search/steps';
import { clockIn, finishCandidate } from './candidate';
import { runError } from './body-errors';
import type { Contents } from './contents';
import { once, openInspector, runSql, type SqlRun, type StepContext } from './context';
import { contentId, runModelStep } from './model-step';
import { promptContext } from './prompt-context';

/** Observations need an operator; this name stands for the agent, which has none. */
const AGENT = 'op_agent';

export async function act(context: StepContext, step: ActInput): Promise<ModelOutcome<Acted>> {
  const prompt = {
    ...(await promptContext(context, step.memory)),
    turns: await Promise.all(step.turns.map((id) => turnOf(context, id))),
    callsUsed: step.callsUsed,
    callsLimit: step.callsLimit,
  };
  return runModelStep(context, step, {
    role: 'react',
    schema: reactSchema(context.input.question),
    messages: () => renderReact(prompt),
    parse: (text) => parseReact(text, prompt),
    read: (reply) => Promise.resolve({ kind: 'ok', store: () => storeAction(context, contentId(step), reply) }),
  });
}

async function storeAction(context: StepContext, actionId: string, reply: ReactReply): Promise<Acted> {
  const ends = reply.action === 'end';
  if (ends && reply.unanswerable) return { kind: 'unanswerable', reason: reply.answer ?? 'no reason given' };
  const web = ends ? null : webOf(reply);
  const sql = ends ? reply.finalSql : web === null ? reply.sql : null;
  await context.run.put('action', actionId, {
    schemaVersion: 1,
    actionId,
    note: reply.note,
    sql,
    answer: ends ? reply.answer : null,
    ...(web === null ? {} : { web }),
  });
  if (web !== null) return { kind: 'web', actionId, tool: web.tool };
  return { kind: ends ? 'end' : 'tool', actionId };
}

function webOf({ tool, query, url }: ReactReply): NonNullable<Contents['action']['web']> | null {
  if (tool === 'web_search') return { tool, request: query?.trim() ?? '' };
  return tool === 'fetch_url' ? { tool, request: url?.trim() ?? '' } : null;
}

async function turnOf(context: StepContext, observationId: string): Promise<ReactTurn> {
  const observation = await context.run.get('observation', observationId);
  const action = await context.run.get('action', observation.proposalId);
  const { web } = observation;
  if (web !== undefined) {
    const [page] = web.tool === 'fetch_url' ? web.citations : [];
    const { tool, request, text } = web;
    return { note: action.note, sql: '', outcomeCsv: '', web: { tool, request, text, source: page ?? null } };
  }
  const result = observation.tests[0]?.result ?? { kind: 'refused' as const, message: 'nothing was run' };
  return { note: action.note, sql: action.sql ?? '', outcomeCsv: resultText(result, context.settings.csvChars) };
}

export async function tool(context: StepContext, step: ToolInput): Promise<ToolRun> {
  return once(context, async () => {
    const action = await context.run.get('action', step.actionId);
    const { sql, result, takenAt, usage } = await runOne(context, normaliseSql(action.sql ?? ''));
    const observation: Observation = {
      schemaVersion: 1,
      observationId: step.position,
      proposalId: step.actionId,
      tests: [{ operator: AGENT, probeSql: sql, result, hypotheses: [], materiality: null }],
    };
    await context.run.put('observation', step.position, { ...observation, takenAt });
    const isEmpty = result.kind === 'rows' && result.rows.length === 0;
    return { observationId: step.position, outcome: isEmpty ? 'empty' : result.kind, usage };
  });
}

/** Runs the final SQL before the agent may end; an error goes back to it. */
export async function final(context: StepContext, step: FinalInput): Promise<FinalRun> {
  return once(context, async () => {
    const action = await context.run.get('action', step.actionId);
    const { sql, result, takenAt, usage } = await runOne(context, normaliseSql(action.sql ?? ''));
    const run = await finishCandidate(
      context,
      {
        schemaVersion: 1,
        candidateId: step.candidateId,
        sql,
        result,
        takenAt,
        ...clockIn(context, sql),
        digest: null,
        control: null,
        ordered: false,
        wording: [],
        plan: null,
        answer: action.answer,
      },
      [],
      usage,
    );
    return { ...run, error: runError(result) };
  });
}

/** `sql`: as it was run, with the clock that it reads. */
async function runOne(
  context: StepContext,
  text: string,
): Promise<Omit<SqlRun, 'results'> & { readonly sql: string; readonly result: SqlResult }> {
  const { inspector, dialect } = await openInspector(context);
  const inspection = inspector.inspect(text);
  if (inspection.kind !== 'select') {
    const { takenAt, usage } = await runSql(context, []);
    return { sql: text, result: { kind: 'refused', message: inspection.message }, takenAt, usage };
  }
  const { clock } = context.input;
  const sql =
    clock === undefined ? text : compileSelect([clockOperator(clock, dialect)], { ...inspection, sql: text }, dialect);
  const { results, takenAt, usage } = await runSql(context, [sql]);
  return { sql, result: results[0] ?? { kind: 'refused', message: 'nothing was run' }, takenAt, usage };
}
