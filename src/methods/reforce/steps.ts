/** The steps of the methods `reforce-…` over the same journal, store, SQL and record as the others. */
import type { SqlResult } from '../../domain';
import * as prompts from './prompts';
import type { PromptContext } from '../../roles/shared/prompt-parts';
import type { Prompt } from '../../roles/shared/reply';
import type { MemoryRef, ModelCall, ModelOutcome, UsageDelta } from '../../domain/ports/step-parts';
import { SCHEMA_ID } from '../../record/contents';
import { compressedTables, compressedText, withRows } from './compressed';
import { agree as agreeing, countsInVote, flawOf, repeats } from './same-results';
import { resultText } from '../../text/result-text';
import { clockIn, finishCandidate } from '../../roles/sql/candidate';
import { addDeltas, now, runSql, type StepContext } from '../../roles/shared/context';
import { contentId, runModelStep } from '../../roles/shared/model-step';
import { promptContext } from '../../roles/shared/prompt-context';
import { runQueries } from '../../roles/sql/queries';
import type { Given, Gives } from '../../domain/ports/steps';

/** Observations need an operator; this name stands for a vote, which has none. */
const VOTE = 'op_vote';
/** How many characters of a result the model sees, and of those it chooses among. */
const SHOWN_CHARS = 500;
const CHOICE_CHARS = 5_000;

export async function compress(context: StepContext, step: Given<'compress'>): Promise<Gives<'compress'>> {
  const { description } = await context.run.get('schema', SCHEMA_ID);
  const links = await Promise.all(step.linked.map((id) => context.run.get('link', id)));
  const kept = links.length === 0 ? null : new Map(links.map(({ table, columns }) => [table, columns]));
  const shown = compressedTables(description, kept);
  const hidden = context.settings.profileValues === false;
  const { results, usage } = await runSql(context, hidden ? [] : shown.map(({ rows }) => rows));
  const tables = shown.map((table, at) => withRows(table, results[at]));
  const text = `-- ${description.version}\n\n${compressedText(tables)}`;
  await context.run.put('compressed', step.position, { text, tables });
  const isLong = Buffer.byteLength(text) > (context.settings.reforce?.linkBytes ?? Infinity);
  const worded = context.input.question.outputMode === 'answer';
  return { schemaId: step.position, tables: isLong ? tables.length : 0, worded, usage };
}

export async function link(
  context: StepContext,
  step: Given<'reforce-link'>,
): Promise<ModelOutcome<Gives<'reforce-link'>>> {
  const { tables } = await context.run.get('compressed', step.schemaId);
  const { name, text } = tables[step.table] ?? { name: '', text: '' };
  const prompt = { ...(await shownIn(context, step)), schema: text };
  return ask(context, step, prompts.link, prompt, async ({ needed, columns }) => {
    if (needed === 'N') return { linkId: null };
    const linkId = contentId(step);
    await context.run.put('link', linkId, { table: name, columns });
    return { linkId };
  });
}

export async function format(
  context: StepContext,
  step: Given<'reforce-format'>,
): Promise<ModelOutcome<Gives<'reforce-format'>>> {
  return ask(context, step, prompts.format, await shownIn(context, step), async ({ header }) => {
    const formatId = contentId(step);
    await context.run.put('format', formatId, { header });
    return { formatId };
  });
}

export async function explore(
  context: StepContext,
  step: Given<'reforce-explore'>,
): Promise<ModelOutcome<Gives<'reforce-explore'>>> {
  const turns = await Promise.all(step.turns.map((turn) => exploreTurn(context, turn)));
  const prompt = { ...(await shownIn(context, step)), turns, asks: step.asks };
  return ask(context, step, prompts.explore, prompt, async ({ note, queries }) => {
    const actionId = contentId(step);
    await context.run.put('action', actionId, { actionId, note, sql: null, queries, answer: null });
    return { actionId, queries: queries.length };
  });
}

async function exploreTurn(
  context: StepContext,
  turn: Given<'reforce-explore'>['turns'][number],
): Promise<prompts.ExploreTurn> {
  const { note, queries = [] } = await context.run.get('action', turn.actionId);
  const [restId, from] = turn.rest;
  const left = await context.run.get('action', restId);
  const tests = turn.observationId === null ? [] : await testsOf(context, turn.observationId);
  return {
    reply: { note, queries },
    results: tests.map(({ sql, result }) => ({ sql, outcome: shown(result), isEmpty: isEmpty(result) })),
    failed: tests.some(({ result }) => !succeeded(result)),
    rest: (left.queries ?? []).slice(from).map(({ sql }) => sql),
  };
}

export async function runExploration(context: StepContext, step: Given<'explore'>): Promise<Gives<'explore'>> {
  const { queries = [] } = await context.run.get('action', step.actionId);
  const tests: Test[] = [];
  let usage: UsageDelta = {};
  let failed = false;
  for (const { sql } of queries.slice(step.from, step.from + step.most)) {
    const one = await runQueries(context, [sql]);
    usage = addDeltas(usage, one.usage);
    tests.push(...one.runs);
    failed = one.runs.some(({ result }) => !succeeded(result));
    if (failed) break;
  }
  await observe(context, step.position, step.actionId, tests, now(context));
  return { observationId: step.position, succeeded: tests.length - Number(failed), failed, usage };
}

export async function generate(
  context: StepContext,
  step: Given<'reforce-generate'>,
): Promise<ModelOutcome<Gives<'reforce-generate'>>> {
  const [turns, explored, header] = await Promise.all([
    Promise.all(step.turns.map((id) => generateTurn(context, id))),
    Promise.all(step.explored.map((id) => testsOf(context, id))),
    step.formatId === null ? null : context.run.get('format', step.formatId),
  ]);
  const prompt = {
    ...(await shownIn(context, step)),
    turns,
    format: header?.header ?? null,
    explored: explored
      .flat()
      .filter(({ result }) => succeeded(result))
      .map(({ sql, result }) => ({ sql, outcome: shown(result) })),
  };
  return ask(context, step, prompts.generate, prompt, async ({ note, sql }) => {
    const actionId = contentId(step);
    await context.run.put('action', actionId, { actionId, note, sql, answer: null });
    return { actionId };
  });
}

async function generateTurn(context: StepContext, observationId: string): Promise<prompts.GenerateTurn> {
  const { proposalId, tests } = await context.run.get('observation', observationId);
  const { note, sql } = await context.run.get('action', proposalId);
  const result = tests[0]?.result ?? { kind: 'refused' as const, message: 'it was not run' };
  return {
    reply: { note, sql: sql ?? '' },
    outcome: shown(result),
    succeeded: succeeded(result),
    flaw: flawOf(result),
  };
}

/** One query in one snapshot: its rows are the vote's candidate until a later one takes their place. */
export async function refine(context: StepContext, step: Given<'refine'>): Promise<Gives<'refine'>> {
  const action = await context.run.get('action', step.actionId);
  const { runs, takenAt, usage } = await runQueries(context, [action.sql ?? '']);
  const { sql, result } = runs[0] as Test;
  await observe(context, step.position, step.actionId, runs, takenAt);
  const earlier = await Promise.all(step.earlier.map((id) => testsOf(context, id)));
  const content = {
    ...{ candidateId: step.candidateId, sql, result, takenAt, ...clockIn(context, sql) },
    ...{ digest: null, control: null, ordered: false, wording: [], plan: null, answer: null },
  };
  const run = await finishCandidate(context, content, [], usage);
  return {
    ...run,
    observationId: step.position,
    repeats: earlier.flat().some((each) => repeats(each.result, result)),
    flawed: flawOf(result) !== null,
  };
}

export async function agree(context: StepContext, step: Given<'agree'>): Promise<Gives<'agree'>> {
  const contents = await Promise.all(step.candidates.map((id) => context.run.get('candidate', id)));
  const counting = contents.filter(({ result }) => countsInVote(result, step.explored));
  const found = counting.map(({ candidateId, result }) => {
    const others = counting.filter((other) => other.candidateId !== candidateId && agreeing(result, other.result));
    return [candidateId, others.map((other) => other.candidateId)] as const;
  });
  return { agreeing: Object.fromEntries(found.filter(([, others]) => others.length > 0)), usage: {} };
}

export async function choose(
  context: StepContext,
  step: Given<'reforce-choose'>,
): Promise<ModelOutcome<Gives<'reforce-choose'>>> {
  const contents = await Promise.all(step.candidates.map((id) => context.run.get('candidate', id)));
  const candidates = contents.map(({ sql, result }) => ({ sql, outcome: resultText(result, CHOICE_CHARS) }));
  const prompt = { ...(await shownIn(context, step)), candidates };
  return ask(context, step, prompts.choose, prompt, ({ choice }) =>
    Promise.resolve({ candidate: step.candidates[choice - 1] ?? '' }),
  );
}

export async function phrase(
  context: StepContext,
  step: Given<'reforce-answer'>,
): Promise<ModelOutcome<Gives<'reforce-answer'>>> {
  const content = await context.run.get('candidate', step.candidateId);
  const outcome = resultText(content.result, context.settings.csvChars);
  const prompt = { ...(await shownIn(context, step)), sql: content.sql, outcome };
  return ask(context, step, prompts.phrase, prompt, async ({ answer }) => {
    await context.run.put('candidate', step.candidateId, { ...content, answer });
    return { candidateId: step.candidateId };
  });
}

/** One model call of a role; a usable reply is stored as `store` says. */
function ask<Input, Reply, View>(
  context: StepContext,
  step: ModelCall,
  role: Prompt<Input, Reply>,
  prompt: Input,
  store: (reply: Reply) => Promise<View>,
): Promise<ModelOutcome<View>> {
  // Upstream asks about tables at temperature 0.
  const options = step.role === 'reforce-link' ? { temperature: 0 } : {};
  return runModelStep(context, step, role, prompt, (reply) => () => store(reply), options);
}

interface Test {
  readonly sql: string;
  readonly result: SqlResult;
}

async function testsOf(context: StepContext, observationId: string): Promise<Test[]> {
  const { tests } = await context.run.get('observation', observationId);
  return tests.map(({ probeSql, result }) => ({ sql: probeSql, result }));
}

async function observe(
  context: StepContext,
  observationId: string,
  actionId: string,
  tests: readonly Test[],
  takenAt: string,
): Promise<void> {
  await context.run.put('observation', observationId, {
    ...{ observationId, proposalId: actionId, takenAt },
    tests: tests.map(({ sql, result }) => ({
      ...{ operator: VOTE, probeSql: sql, result, hypotheses: [], materiality: null },
    })),
  });
}

/** The question with the schema text of the method, in place of the one of the search. */
async function shownIn(
  context: StepContext,
  step: { readonly memory: MemoryRef; readonly schemaId: string },
): Promise<PromptContext> {
  const [prompt, { text }] = await Promise.all([
    promptContext(context, step.memory),
    context.run.get('compressed', step.schemaId),
  ]);
  return { ...prompt, schema: text, profiled: false, listedOnly: 0, furtherTables: null };
}

function isEmpty(result: SqlResult): boolean {
  return result.kind === 'rows' && result.rows.length === 0;
}

function succeeded(result: SqlResult): boolean {
  return result.kind === 'rows' && result.rows.length > 0;
}

function shown(result: SqlResult): string {
  return isEmpty(result) ? 'No data found for the query.' : resultText(result, SHOWN_CHARS);
}
