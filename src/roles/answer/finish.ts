/**
 * `finish`: the final record from state and contents, with its index entry (design D4). It works without any candidate:
 * abstained, cancelled, failed and unanswerable searches have a record too.
 */
import type {
  AnswerRecord,
  CandidateSummary,
  CandidateView,
  Claim,
  Observation,
  OpenAssumption,
  SearchInput,
  SearchState,
  SteeringNote,
} from '../../domain';
import { headlineText, statedText } from '../../text/answer-text';
import { presetOf } from '../../domain/question';
import { isProved, toolCallsOf } from '../../domain/control-view';
import { isSettled } from '../../sql/claims';
import { isOrdered, readQuery } from '../../sql/tree';
import { cut } from '../../clip';
import { resultPreview } from '../../text/result-text';
import { soundSentence, withYesNo } from '../../text/sentence';
import type { AnswerSummary } from '../../domain/ports/step-parts';
import { now, openParser, type StepContext } from '../shared/context';
import { wordsAsked } from '../layer/earlier';
import { filesRead } from './files';
import { endLesson } from '../layer/lesson-end';
import { notLookedAt, unusedOf } from '../layer/left-aside';
import { SCHEMA_ID, type CandidateContent, type Contents } from '../../record/contents';
import { explain, type Explained } from './evidence-record';
import { currentLayer, layerPlace, visibleLayer } from '../layer/entries';
import { proofLines, standingOf } from '../../text/standing';
import { writeIndex } from '../../record/search-index';
import { createRunStore, type RunStore } from '../../record/run-store';
import type { AmendInput, FinishInput, KeptAfter } from '../../domain/ports/steps';

export async function finish(context: StepContext, step: FinishInput): Promise<AnswerSummary> {
  const { run } = context;
  const done = await run.find('result', run.searchId);
  const isRepeated =
    done !== null && done.status === step.status && done.endedBy === step.endedBy && done.reason === step.reason;
  const record = isRepeated ? done : await makeRecord(context, step);
  if (!isRepeated) {
    await run.put('checkpoint', `i${step.state.iteration}`, step.state);
    await run.put('result', run.searchId, record);
  }
  await listEnded(context, record);
  return summaryOfRecord(record);
}

function listEnded({ deps, input }: StepContext, record: AnswerRecord): Promise<void> {
  const { status, usage, reason } = record;
  return writeIndex(deps.store, input, { status, answer: statedText(record) ?? reason, costUsd: usage.costUsd });
}

/** The answer was stored before what it proved was read. */
export async function amend(context: StepContext, { usage, notKept }: AmendInput): Promise<KeptAfter> {
  const { run } = context;
  const answered = await run.get('result', run.searchId);
  const { layer } = await layerIn(context);
  const told = { shown: 0, withheld: [], kept: [], ...answered.layer, ...layer };
  const record: AnswerRecord = { ...answered, usage, layer: { ...told, ...(notKept === null ? {} : { notKept }) } };
  await run.put('result', run.searchId, record);
  await listEnded(context, record);
  return { kept: told.kept.length, notKept };
}

export function summaryOfRecord(record: AnswerRecord): AnswerSummary {
  const { id, status, endedBy, answer, sql, reason, usage, toolCalls } = record;
  const standing = standingOf(record);
  const proof = proofLines(record);
  const kept = record.layer?.kept.length ?? 0;
  return {
    ...{ id, status, endedBy, answer, sql, reason, usage },
    ...(toolCalls === undefined ? {} : { toolCalls }),
    ...(standing === null ? {} : { standing }),
    ...(proof.length === 0 ? {} : { proof }),
    ...(kept === 0 ? {} : { kept }),
  };
}

/** No count looks everywhere. */
const NOWHERE_ELSE: OpenAssumption = {
  ...{ operator: null, kind: 'assumption', risk: null, alternative: null },
  statement: 'no other column, code or document holds it',
};

async function makeRecord(context: StepContext, step: FinishInput): Promise<AnswerRecord> {
  const { run, input, settings } = context;
  const contents = await loadCandidates(context, step.state);
  const view = step.state.candidates.find(({ id }) => id === step.chosen);
  const content = view === undefined ? undefined : contents.get(view.id);
  const explained: Explained =
    view === undefined || content === undefined
      ? { evidence: [], openAssumptions: [] }
      : await explain(context, step.state, view, content);
  const result = content?.result.kind === 'rows' ? content.result : null;
  const steering = await whatWasSaid(context, step.state);
  const lookups = await lookupsOf(context, step.state);
  const sources = sourcesOf(step.state, lookups);
  const failedLookups = failuresOf(lookups);
  const givenUp = step.state.events.flatMap(({ subject, detail, reply }) =>
    reply === undefined ? [] : [{ step: subject, cause: detail, reply }],
  );
  const verdict = view === undefined ? null : await verdictOf(run, step.state, view);
  const claims = verdict?.claims ?? null;
  const toolCalls = toolCallsOf(step.state);
  const schema = await run.find('schema', SCHEMA_ID);
  const record: AnswerRecord = {
    schemaVersion: 1,
    id: run.searchId,
    question: input.question.text,
    ...(input.question.after === undefined ? {} : await followed(context, step.state)),
    database: input.question.database,
    status: step.status,
    endedBy: step.endedBy,
    method: settings.spec,
    preset: presetOf(settings.method),
    ...(settings.without === undefined ? {} : { without: settings.without }),
    models: settings.models,
    sql: content?.sql ?? null,
    columns: result?.columns ?? [],
    rows: result?.rows ?? [],
    truncated: result?.truncated ?? false,
    answer: null,
    ...(content === undefined || result === null ? {} : await told(context, content, result.columns)),
    ...(content?.coverage === undefined ? {} : { coverage: content.coverage }),
    reason: step.reason,
    ...explained,
    ...(claims === null ? {} : { claims, openAssumptions: stillOpen(explained.openAssumptions, claims) }),
    ...(step.status === 'unanswerable' ? { openAssumptions: [NOWHERE_ELSE] } : {}),
    ...(verdict?.usedWithoutCheck === undefined ? {} : { usedWithoutCheck: verdict.usedWithoutCheck }),
    ...(verdict?.defined === undefined ? {} : { defined: verdict.defined }),
    ...(await leftAsideBy(context, step.state, content, claims ?? [], explained.openAssumptions)),
    candidates: step.state.candidates.map((each) => summaryOf(each, step, contents)),
    ...(sources.length === 0 ? {} : { sources }),
    ...(failedLookups.length === 0 ? {} : { failedLookups }),
    ...(givenUp.length === 0 ? {} : { givenUp }),
    ...(steering.length === 0 ? {} : { steering }),
    ...(await childrenOf(context, step.state)),
    ...(toolCalls === undefined ? {} : { toolCalls }),
    usage: step.state.usage,
    startedAt: new Date(step.state.startedAtMs).toISOString(),
    endedAt: now(context),
    asOf: content?.takenAt ?? now(context),
    ...(content === undefined || schema === null ? {} : await filesRead(context, schema.description, content.sql)),
    ...(content?.clock === undefined ? {} : { clock: content.clock }),
    ...reuseIn(step.state),
    ...(await layerIn(context)),
  };
  const { report } = step.state.redel ?? {};
  if (report !== undefined) return { ...record, answer: (await run.get('action', report)).answer };
  if (settings.method === 'learn') return { ...record, ...(await endLesson(context, step.state, record)) };
  return result === null ? record : { ...record, answer: answerOf(input, record) };
}

function reuseIn({ updates }: SearchState): Pick<AnswerRecord, 'reuse'> {
  const active = updates.filter(({ status }) => status === 'active');
  if (active.length === 0) return {};
  const reused = active.filter(({ reuses }) => reuses > 0).length;
  return { reuse: { updates: active.length, reused, reuses: active.reduce((sum, { reuses }) => sum + reuses, 0) } };
}

/** The answer of a record with rows; null in output mode `sql`, whose records have no words. */
export function answerOf({ question }: SearchInput, record: AnswerRecord): string | null {
  return question.outputMode === 'sql' ? null : headlineText(record);
}

/** Of a question that follows another. */
async function followed(
  { run, input }: StepContext,
  { looking }: SearchState,
): Promise<Pick<AnswerRecord, 'after' | 'understoodAs'>> {
  const turns = await Promise.all((looking?.turns ?? []).map((id) => run.get('turn', id)));
  const understoodAs = turns.findLast(({ reply }) => reply.understoodAs)?.reply.understoodAs;
  return { after: input.question.after, ...(understoodAs ? { understoodAs } : {}) };
}

/** What the words of an answer need besides its rows. */
export async function told(
  context: StepContext,
  content: CandidateContent,
  columns: AnswerRecord['columns'],
): Promise<Pick<AnswerRecord, 'sentence' | 'examined' | 'ordered'>> {
  const schema = await context.run.find('schema', SCHEMA_ID);
  const query = schema === null ? null : readQuery(content.sql, schema.description.dialect);
  // Of SQL that the parser cannot read, the plan says it.
  const ordered = query === null ? content.ordered : isOrdered(query);
  return { ordered, ...(await wordsOf(context, content, columns)) };
}

/** The sentence that came with the chosen SQL, if the question wants one and it can be used, and what it may count. */
async function wordsOf(
  context: StepContext,
  { plan, answer, control, controlSql }: CandidateContent,
  columns: AnswerRecord['columns'],
): Promise<Pick<AnswerRecord, 'sentence' | 'examined'>> {
  if (context.input.question.outputMode === 'sql') return {};
  const made = plan === null ? null : await context.run.get('plan', plan.planId);
  const asked = await wordsAsked(context);
  const declared = made?.operators.at(-1)?.columns ?? [];
  const sentence = withYesNo(
    soundSentence(made === null ? answer : made.sentence, columns, asked),
    columns,
    declared.filter(({ type }) => type === 'boolean').map(({ name }) => name),
  );
  if (sentence === null) return {};
  const counts = control !== null && controlSql !== undefined && /\{\s*examined\s*\}/i.test(sentence);
  return { sentence, ...(counts ? { examined: { sql: controlSql, count: control } } : {}) };
}

/** What the answer's tables hold or are known for, and neither its SQL, a check nor a look names. */
async function leftAsideBy(
  context: StepContext,
  state: SearchState,
  content: CandidateContent | undefined,
  claims: readonly Claim[],
  assumed: AnswerRecord['openAssumptions'],
): Promise<Pick<AnswerRecord, 'notUsed' | 'notLookedAt'>> {
  const schema = content === undefined ? null : await context.run.find('schema', SCHEMA_ID);
  if (content === undefined || schema === null) return {};
  const inspector = await openParser(context, schema.description.dialect);
  const inspection = inspector.inspect(content.sql);
  if (inspection.kind !== 'select') return {};
  const { relations: tables } = inspection;
  const own = claims.filter(({ entry }) => entry === undefined).map(({ check }) => check);
  const texts = [content.sql, ...own];
  const shown = content.result.kind === 'rows' ? content.result.columns.map(({ name }) => name) : [];
  const tried = state.trajectories.flatMap(({ attempts }) => attempts);
  const ids = [...new Set([...(state.looking?.turns ?? []), ...tried])];
  const looks = await Promise.all(ids.map((id) => context.run.find('observation', id)));
  const queries = looks.flatMap((look) => look?.tests.map(({ probeSql }) => probeSql) ?? []);
  // An assumption that names a column says why it does not matter; the answer shows it among its doubts.
  const said = assumed.map(({ statement }) => statement.replace(/['"`]/g, ' '));
  const notUsed = await unusedOf(context, { tables, texts: [...texts, ...said] });
  const flags = notLookedAt(schema, { tables, texts: [...texts, ...shown, ...queries] });
  return { ...(notUsed.length === 0 ? {} : { notUsed }), ...(flags === undefined ? {} : { notLookedAt: flags }) };
}

type Source = NonNullable<AnswerRecord['sources']>[number];

/** The web lookups, in the order of the search. */
async function lookupsOf({ run, input }: StepContext, state: SearchState): Promise<Observation[]> {
  if (input.question.tools.every((tool) => tool === 'execute_sql')) return [];
  const ids = [...new Set([...state.trajectories.flatMap(({ attempts }) => attempts), ...(state.lookups ?? [])])];
  const seen = await Promise.all(ids.map((id) => run.find('observation', id)));
  return seen.flatMap((each) => (each?.web === undefined ? [] : [each]));
}

/** The sources. A page that was read twice with the same text counts once. */
function sourcesOf({ lookups = [] }: SearchState, seen: readonly Observation[]): Source[] {
  const citations = seen.flatMap(({ observationId, web }): Source[] =>
    (web?.citations ?? []).map((citation) =>
      lookups.includes(observationId) ? { ...citation, lookup: observationId } : citation,
    ),
  );
  return [...new Map(citations.map((each) => [`${each.url} ${each.sha256}`, each])).values()];
}

function failuresOf(seen: readonly Observation[]): NonNullable<AnswerRecord['failedLookups']> {
  return seen.flatMap(({ web }) => (web?.outcome === 'failed' ? [{ request: web.request, reason: web.text }] : []));
}

async function whatWasSaid({ run, deps }: StepContext, state: SearchState): Promise<SteeringNote[]> {
  const { remarks: ids = [], unheard = [] } = state.steered ?? {};
  const remarks = await Promise.all(ids.map((id) => run.get('remark', id)));
  // A search whose models are all its children's asks none itself: a hint is shown where one of them showed it.
  const ofChildren = (state.children ?? []).map((id) => createRunStore(deps.store, id).find('result', id));
  const shownThere = (await Promise.all(ofChildren)).flatMap((record) => record?.steering ?? []);
  return remarks.map(({ remarkId, kind, author, target, text, at }) => {
    const isShown = !unheard.includes(remarkId) || shownThere.some((note) => note.shown === true && note.text === text);
    return { kind, author, target, text, at, ...(kind === 'hint' ? { shown: isShown } : {}) };
  });
}

async function loadCandidates(
  context: StepContext,
  state: SearchState,
): Promise<ReadonlyMap<string, CandidateContent>> {
  const found = await Promise.all(state.candidates.map(({ id }) => context.run.find('candidate', id)));
  return new Map(found.flatMap((content) => (content === null ? [] : [[content.candidateId, content]])));
}

function summaryOf(
  view: CandidateView,
  { state, chosen }: FinishInput,
  contents: ReadonlyMap<string, CandidateContent>,
): CandidateSummary {
  const content = contents.get(view.id);
  const reason = state.events.find(({ kind, subject }) => kind === 'unanswerable' && subject === view.id)?.detail;
  const agreesWith = state.candidates
    .filter((other) => other.id !== view.id && other.status === 'active' && other.outcome === 'rows')
    .filter((other) => view.outcome === 'rows' && other.resultClass === view.resultClass)
    .map(({ id }) => id);
  return {
    id: view.id,
    kind: view.kind,
    sql: content === undefined || content.sql === '' ? null : content.sql,
    outcome: view.status === 'withdrawn' ? 'withdrawn' : view.outcome,
    rowCount: view.rowCount,
    preview: content === undefined ? cut(reason ?? '', 200) : resultPreview(content.result),
    agreesWith,
    proved: isProved(view) || view.absenceShown === true,
    chosen: view.id === chosen,
  };
}

async function childrenOf({ deps }: StepContext, { children }: SearchState): Promise<Pick<AnswerRecord, 'children'>> {
  if (children === undefined) return {};
  const found = children.map(async (id) => {
    const record = await createRunStore(deps.store, id).get('result', id);
    const { question, method, status, endedBy, usage } = record;
    return { id, question, method, status, endedBy, llmCalls: usage.llmCalls, costUsd: usage.costUsd };
  });
  return { children: await Promise.all(found) };
}

/** What the layer told this search, and what it keeps of it. */
async function layerIn(context: StepContext): Promise<Pick<AnswerRecord, 'layer'>> {
  const { run } = context;
  const [known, readings] = await Promise.all([run.find('known', SCHEMA_ID), run.all('kept')]);
  const open = await openQuestions(context);
  if (known === null && readings.size === 0 && open.length === 0) return {};
  const kept = new Map([...readings.values()].flatMap(({ entries }) => entries.map((each) => [each.entryId, each])));
  return {
    layer: {
      shown: known?.entries.length ?? 0,
      withheld: known?.withheld ?? [],
      ...(known?.unchecked === undefined ? {} : { unchecked: known.unchecked }),
      kept: [...kept.values()],
      ...(open.length === 0 ? {} : { open }),
    },
  };
}

/** At the end of a lesson: those of earlier lessons, too. */
async function openQuestions(context: StepContext): Promise<{ questionId: string; text: string }[]> {
  const schema = context.settings.method === 'learn' ? await context.run.find('schema', SCHEMA_ID) : null;
  if (schema === null) return [];
  const { questions } = visibleLayer(await currentLayer(layerPlace(context)), schema.description);
  return questions.map(({ questionId, text }) => ({ questionId, text }));
}

/** What the database decided about the commit or the decline that is the answer; null if it came from the search. */
async function verdictOf(
  run: RunStore,
  { looking }: SearchState,
  view: CandidateView,
): Promise<Contents['verdict'] | null> {
  for (const id of [...(looking?.turns ?? [])].reverse()) {
    const verdict = await run.find('verdict', id);
    if (verdict === null) continue;
    const isOwn = view.kind === 'rows' ? verdict.candidateId === view.id : looking?.phase === 'look';
    if (isOwn) return verdict;
  }
  return null;
}

/** A claim is kept among the assumptions of its operator until that is proved; what is settled is not open any more. */
export function stillOpen(open: readonly OpenAssumption[], claims: readonly Claim[]): OpenAssumption[] {
  const settled = new Set(claims.filter(isSettled).map(({ statement }) => statement));
  return open.filter(({ kind, statement }) => kind !== 'assumption' || !settled.has(statement));
}
