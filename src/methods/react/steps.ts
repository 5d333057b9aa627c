/** The steps of the method `react` (paper, App. B.1) over the same journal, store, schema text and record. */
import type { Coverage, Observation } from '../../domain';
import { parseReact, reactSchema, renderReact, type ReactAction, type ReactTurn } from './prompt';
import { readCoverage } from '../../sql/coverage';
import { resultTexts } from '../../text/result-text';
import type { ModelOutcome } from '../../domain/ports/step-parts';
import { clockIn, finishCandidate } from '../../roles/sql/candidate';
import { runError } from '../../roles/shared/bodies';
import type { Contents } from '../../record/contents';
import { once, type StepContext } from '../../roles/shared/context';
import { contentId, runModelStep } from '../../roles/shared/model-step';
import { promptContext } from '../../roles/shared/prompt-context';
import { runQueries, type QueryRun } from '../../roles/sql/queries';
import { refused } from '../../roles/shared/statements';
import type { ActInput, Acted, FinalInput, FinalRun, ToolInput, ToolRun } from '../../domain/ports/steps';

/** Observations need an operator; this name stands for the agent, which has none. */
const AGENT = 'op_agent';

/** What the prompts of an agent are made from. */
export async function agentPrompt(context: StepContext, step: Omit<ActInput, 'role'>) {
  return {
    ...(await promptContext(context, step.memory)),
    turns: await Promise.all(step.turns.map((id) => turnOf(context, id))),
    callsUsed: step.callsUsed,
    callsLimit: step.callsLimit,
    queriesPerAction: queriesPerAction(context),
    // The paper's agent sees no rows before it asks for them, and counts none.
    coverage: context.settings.profiles,
  };
}

export async function react(context: StepContext, step: ActInput): Promise<ModelOutcome<Acted>> {
  const prompt = await agentPrompt(context, step);
  return runModelStep(context, step, {
    role: 'react',
    schema: reactSchema(prompt),
    messages: () => renderReact(prompt),
    parse: (text) => parseReact(text, prompt),
    read: (reply) => () => storeAction(context, contentId(step), reply),
  });
}

export async function storeAction(context: StepContext, actionId: string, reply: ReactAction): Promise<Acted> {
  const ends = reply.action === 'end';
  if (ends && reply.unanswerable) return { kind: 'unanswerable', reason: reply.answer ?? 'no reason given' };
  const web = ends ? null : webOf(reply);
  const isSeveral = !ends && web === null && queriesPerAction(context) > 1;
  const sql = ends ? reply.finalSql : web === null && !isSeveral ? (reply.queries[0]?.sql ?? null) : null;
  await context.run.put('action', actionId, {
    actionId,
    note: reply.note,
    sql,
    ...(isSeveral ? { queries: [...reply.queries] } : {}),
    answer: ends ? reply.answer : null,
    ...(ends && reply.coverage !== null ? { coverage: reply.coverage } : {}),
    ...(web === null ? {} : { web }),
  });
  if (web !== null) return { kind: 'web', actionId, tool: web.tool };
  return { kind: ends ? 'end' : 'tool', actionId };
}

/** Also of actions that hold one query, as `sql`. */
function queriesOf({ sql, queries }: Contents['action']): NonNullable<Contents['action']['queries']> {
  return queries ?? [{ why: '', sql: sql ?? '' }];
}

function queriesPerAction({ settings }: StepContext): number {
  return settings.queriesPerAction ?? 1;
}

function webOf({ tool, query, url }: ReactAction): NonNullable<Contents['action']['web']> | null {
  if (tool === 'web_search') return { tool, request: query?.trim() ?? '' };
  return tool === 'fetch_url' ? { tool, request: url?.trim() ?? '' } : null;
}

async function turnOf(context: StepContext, observationId: string): Promise<ReactTurn> {
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

export async function runTool(context: StepContext, step: ToolInput): Promise<ToolRun> {
  return once(context, async () => {
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
  });
}

/** The most that any of the queries gave. */
function bestOf(runs: readonly QueryRun[]): ToolRun['outcome'] {
  const outcomes = runs.map(({ result }) =>
    result.kind === 'rows' && result.rows.length === 0 ? 'empty' : result.kind,
  );
  return (['rows', 'empty'] as const).find((outcome) => outcomes.includes(outcome)) ?? outcomes[0] ?? 'refused';
}

/** Runs the final SQL before the agent may end, with its coverage in the same snapshot; an error of either goes back to it. */
export async function final(context: StepContext, step: FinalInput): Promise<FinalRun> {
  return once(context, async () => {
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
  });
}

/** A text: what is wrong with it. */
function coverageOf({ sql, result }: QueryRun): Coverage | string {
  const counts = readCoverage(result);
  return typeof counts === 'string' ? counts : { ...counts, sql };
}
