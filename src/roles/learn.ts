/**
 * Learning a database without a question: a model step whose reply is stored as a lesson, and one round trip that runs its queries
 * and counts its claims in one snapshot.
 */
import type { Claim, DatabaseDescription, LayerEvent, SqlResult } from '../domain';
import { learnSchema, parseLearn, renderLearn, type LearnInput as LearnPrompt } from './learn-prompt';
import type { ModelOutcome, StepBase, UsageDelta, ModelStepInput } from '../ports/step-parts';
import { namedIn, ruleText } from '../layer/rules';
import type { Held } from '../layer/state';
import { claimText, countedClaim, isSettled, readCounts } from '../sql/claims';
import { appendToLayer } from '../record/layer-store';
import { SCHEMA_ID } from '../record/contents';
import { engineScope, selectText } from './shared/bodies';
import { now, once, type StepContext } from './shared/context';
import { currentLayer, entryText, layerPlace, visibleLayer } from './layer/entries';
import { queryText } from './look-texts';
import { contentId, runModelStep } from './shared/model-step';
import { promptContext } from './shared/prompt-context';
import { runSelects } from './sql/queries';
import { refused } from './shared/statements';
import { counted } from '../counted';

/** One turn of learning a database (`methods/learn.ts`). */

export interface LearnInput extends ModelStepInput {
  readonly role: 'learn';
  /** Ids of the turns so far, and how many there may be. */
  readonly turns: readonly string[];
  readonly limit: number;
}
export interface Learned {
  readonly turnId: string;
  /** The model says that nothing is left. */
  readonly done: boolean;
}

/** Runs the queries of a lesson and counts its claims. */

export interface ProveInput extends StepBase {
  readonly purpose: 'prove';
  readonly turnId: string;
}
export interface Prove {
  /** How many of its claims hold. */
  readonly proved: number;
  readonly usage: UsageDelta;
}

/** Claims need an operator; this name stands for a lesson, which has none. */
const LESSON = 'op_lesson';
/** Notes of all turns that are shown, the newest. */
const NOTES = 24;
/** Entries of earlier questions that are shown. */
const HELD = 40;

export async function learn(context: StepContext, step: LearnInput): Promise<ModelOutcome<Learned>> {
  const prompt = await promptOf(context, step);
  return runModelStep(context, step, {
    role: 'learn',
    schema: learnSchema,
    messages: () => renderLearn(prompt),
    parse: (text) => parseLearn(text),
    read: (reply) => ({
      kind: 'ok',
      store: async () => {
        const turnId = contentId(step);
        await context.run.put('lesson', turnId, { turnId, reply });
        return { turnId, done: reply.done };
      },
    }),
  });
}

async function promptOf(context: StepContext, step: LearnInput): Promise<LearnPrompt> {
  const { run } = context;
  const { description } = await run.get('schema', SCHEMA_ID);
  const lessons = await Promise.all(step.turns.map((id) => run.get('lesson', id)));
  const verdicts = await Promise.all(step.turns.map((id) => run.get('verdict', id)));
  const claims = verdicts.flatMap((verdict) => verdict.claims);
  const settled = claims.filter(isSettled);
  const proved = new Set(settled.map(({ statement }) => statement));
  const last = verdicts.at(-1);
  const { known: _, ...shown } = await promptContext(context, step.memory);
  return {
    ...shown,
    held: await heldBefore(context, description),
    proved: settled.map((claim) => claimText(claim).split('\n')[0] ?? ''),
    failed: claims
      .filter((claim) => !isSettled(claim) && !proved.has(claim.statement))
      .map((claim) => (last?.claims.includes(claim) === true ? claimText(claim) : claim.statement)),
    notes: lessons.flatMap(({ reply }) => reply.notes).slice(-NOTES),
    open: lessons.flatMap(({ reply }) => reply.open),
    found: last === undefined || last.found === '' ? null : last.found,
    turn: step.turns.length + 1,
    turns: step.limit,
  };
}

/** Rules and entries that the lesson began with, so that a repeated turn asks the same. What its turns prove is shown as theirs. */
async function heldBefore(context: StepContext, description: DatabaseDescription): Promise<readonly string[]> {
  const { texts } = await once({ ...context, position: 'held' }, async () => {
    const { entries, rules } = visibleLayer(await currentLayer(layerPlace(context)), description);
    const isActive = ({ status }: Pick<Held, 'status'>): boolean => status === 'active';
    const proved = entries.filter(isActive).slice(0, HELD);
    return {
      texts: [...rules.filter(isActive).slice(0, HELD).map(ruleText), ...proved.map(({ entry }) => entryText(entry))],
    };
  });
  return texts;
}

export async function prove(context: StepContext, { turnId }: ProveInput): Promise<Prove> {
  return once(context, async () => {
    const { reply } = await context.run.get('lesson', turnId);
    const scope = await engineScope(context);
    const written = [
      ...reply.queries.map(({ sql }, at) => ({ ...selectText(sql, `query ${at + 1}`, scope), sql })),
      ...reply.claims.map(({ check }, at) => ({
        ...selectText(check, `the check of claim ${at + 1}`, scope),
        sql: check,
      })),
    ];
    const { runs, usage } = await runSelects(context, scope.description.dialect, written);
    const resultOf = (at: number): SqlResult => runs[at]?.result ?? refused('it was not run');
    const asked = reply.queries.map((query, at) => queryText(at + 1, query, resultOf(at)));
    const claims = reply.claims.map((claim, at): Claim => {
      const place = reply.queries.length + at;
      const counts = countsOf(resultOf(place), claim.rivals.length);
      const { statement, rows } = claim;
      const rivals = claim.rivals.map((reading) => ({ reading, sameAnswer: null }));
      return countedClaim(
        { operator: LESSON, statement, rows, check: runs[place]?.sql ?? claim.check },
        counts,
        rivals,
      );
    });
    await context.run.put('verdict', turnId, {
      ...{ turnId, candidateId: null, claims },
      found: asked.join('\n\n'),
    });
    await ask(context, scope.description, reply.open);
    return { proved: claims.filter(isSettled).length, usage };
  });
}

/** A check has a column for each rival: one that lacks them tells its reading apart from nothing. */
function countsOf(result: SqlResult, rivals: number): ReturnType<typeof readCounts> {
  const counts = readCounts(result, 2 + rivals);
  if (typeof counts === 'string' || counts.length === 2 + rivals) return counts;
  return `the check gave ${counted(counts.length, 'column')} instead of ${2 + rivals}`;
}

/** What no data can decide waits in the layer for a person. */
async function ask(context: StepContext, description: DatabaseDescription, open: readonly string[]): Promise<void> {
  if (context.settings.layer !== 'on') return;
  const place = layerPlace(context);
  const { questions, rules } = await currentLayer(place);
  const known = new Set([...questions.map(({ questionId }) => questionId), ...rules.map(({ entry }) => entry.answers)]);
  const at = now(context);
  const events = open.flatMap((text): LayerEvent[] => {
    const questionId = `q${context.deps.hash(text.trim().toLowerCase()).slice(0, 12)}`;
    return known.has(questionId) || text.trim() === ''
      ? []
      : [{ kind: 'asked', at, questionId, text: text.trim(), ...namedIn(text, description) }];
  });
  await appendToLayer(place, events, context.run.searchId);
}
