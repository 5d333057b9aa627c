/**
 * Role `learn`: one turn of learning a database without a question (docs/layer.md). Each turn asks queries and makes claims; `prove`
 * runs both in one snapshot. What is known so far comes back as a ledger, not as the whole conversation.
 */
import type { Claim, DatabaseDescription, LayerEvent, SqlResult } from '../domain';
import type { ModelOutcome } from '../domain/ports/step-parts';
import { tablesNamed } from '../database/table-names';
import { namedIn, ruleText } from '../layer/rules';
import { figuresOf, fittingTexts, type Held, type HeldEntry } from '../layer/state';
import { claimText, countedClaim, isSettled, readCounts } from '../sql/claims';
import { appendToLayer } from '../record/layer-store';
import { SCHEMA_ID } from '../record/contents';
import { engineScope, selectText } from './shared/bodies';
import { addDeltas, now, once, runSql, type StepContext } from './shared/context';
import { isEstablished } from './keep';
import { currentLayer, layerPlace, visibleLayer } from './layer/entries';
import { ledgerOf } from './layer/lesson-ledger';
import { CHECK_MS } from './layer/recall';
import { sha256 } from '../sha256';
import { queryText } from './look';
import { contentId, runModelStep } from './shared/model-step';
import { promptContext } from './shared/prompt-context';
import { fittingOf, neighboursOf } from './sql/neighbours';
import { runSelects } from './sql/queries';
import { refused } from './shared/statements';
import { counted } from '../counted';
import { LearnReply } from '../domain/turns';
import { parseReply, replySchema, sketch, type Prompt } from './shared/reply';
import * as shared from './shared/prompt-parts';
import type { Given, Gives } from '../domain/ports/steps';

export const LEARN_QUERIES = 8;
export const LEARN_CLAIMS = 12;
const RIVALS = 5;
/** Characters of a note, and of all notes that are shown. */
const NOTE_CHARS = 200;

export const learnRole: Prompt<LearnPrompt, LearnReply> = {
  schema: () => replySchema('learn', LearnReply),
  render(input) {
    const { part, tables, held, conflicts, proved, failed, notes, open, found, turn, turns } = input;
    const list = (name: string, lines: readonly string[]): string[] =>
      lines.length === 0 ? [] : [shared.data(name, lines.map((line) => `- ${line}`).join('\n'))];
    const common = [
      ...shared.databaseSections(input),
      shared.rulesSection([RULES, shared.replyRule(sketch(LearnReply))]),
    ];
    return shared.conversation(input.dialect, common, [
      ...shared.searchSections(input),
      ...(tables === '' ? [] : [shared.data('tables in full', tables)]),
      ...shared.remarkSections(input.remarks ?? []),
      ...list('kept before', held),
      ...list('kept before, and cannot all be right', conflicts),
      ...list('proved in this lesson', proved),
      ...list('not proved', failed),
      ...list('your notes', notes),
      ...list('open, for a person', open),
      ...(found === null ? [] : [shared.data('results of the last turn', found)]),
      shared.questionSection(input.question),
      ...(part === null
        ? []
        : [`Part ${part.number} of ${part.of}: learn ${part.tables.join(', ')}. The others have turns of their own.`]),
      turn === turns
        ? `Turn ${turn} of ${turns}, the last: make the claims that you can, and say what stays open. No queries, notes or tables.`
        : `Turn ${turn} of ${turns}.`,
    ]);
  },
  parse(text) {
    const parsed = parseReply(text, LearnReply, ({ queries, claims, done }) => [
      ...(queries.length + claims.length === 0 && !done
        ? [{ where: 'queries', found: 'found no query and no claim', allowed: 'ask or claim something, or set done' }]
        : []),
      ...claims.flatMap(({ statement, rivals }, at) => [
        ...(statement.trim() === ''
          ? [{ where: `claims[${at}].statement`, found: 'found ""', allowed: 'say what is claimed' }]
          : []),
        ...(rivals.length === 0
          ? [{ where: `claims[${at}].rivals`, found: 'found []', allowed: 'name a reading that the check counts too' }]
          : []),
      ]),
    ]);
    return parsed.kind === 'ok' ? { kind: 'ok', reply: tidied(parsed.reply) } : parsed;
  },
};

export interface LearnPrompt extends shared.PromptContext {
  /** Which part of the database is learned, where there are several. */
  readonly part: { readonly number: number; readonly of: number; readonly tables: readonly string[] } | null;
  /** Tables in full, beside the list of all of them. */
  readonly tables: string;
  /** What earlier questions or lessons proved. */
  readonly held: readonly string[];
  /** What was proved before and cannot all be right. */
  readonly conflicts: readonly string[];
  /** Claims of this lesson that hold, with their figures. */
  readonly proved: readonly string[];
  /** Claims that do not, with their figures; the last turn's in full. */
  readonly failed: readonly string[];
  readonly notes: readonly string[];
  /** What earlier turns left to a person. */
  readonly open: readonly string[];
  /** The queries of the last turn, each under its SQL. */
  readonly found: string | null;
  readonly turn: number;
  readonly turns: number;
}

const RULES = `You learn an undocumented database for colleagues who will write SQL on it: which of its conventions would a careful stranger get wrong? No question is asked. A program runs your queries and counts your claims; what it proves is kept.

Look for what neither names nor types say: units and scales by device, model, code or version; clocks (local or not, by place), and which end of a range counts; every column of few codes, kinds and states first, by what occurs with them and only with them, since questions will use their everyday names; which rows are one and the same thing in life; placeholders that stand for no value; who has a value and who has none; columns that are computed from or copied of others; keys that join only after normalising; repeated imports, versions, corrections, reversals, cancelled rows; totals beside their parts; documents (JSON) in several versions; conventions that change at a date; and what each small table of totals controls: a sum that meets it in every row settles units, signs, filters and dates at once. Take the tables in turn; leave out what plain names or the schema's lines already say for certain, and what was kept before. Where two things kept before cannot both be right, one claim counts both readings over the same rows.

Turns are few and cost much: fill each. Both in one reply:
- queries: up to ${LEARN_QUERIES} SELECTs, run together, why in a few words: crosstabs, differences, sums against totals, over all rows. At most 40 rows of each are shown.
- claims: up to ${LEARN_CLAIMS}. statement: one sentence, general, for any later question, with table.column and the rule or formula to use; no figures of the counts, no reasons. rows: what one examined row is, in a few words. check: one SELECT of one row: examined, matching, then for each rival in order how many of the same examined rows match it; over all rows that can tell (20 or more where there are), against something independent: a stored total, a copy, another table, the order of events. Keep it short and fast (under ${CHECK_MS / 1000} s): one WITH that makes the rows once, with names of one letter, and counts of it; grouped joins, no subquery per row; no comments, no aliases that nothing reads. rivals: the readings that a careful person would try instead, a few words each. It is proved if all examined rows match and a rival matches fewer; from 95 % on it holds with exceptions. A condition counted among rows that it selected proves nothing, and neither does a range of values seen so far. Where other bounds, dates or factors fit as well, the program says so: look for rows that tell them apart.
- notes: lines of at most ${NOTE_CHARS} characters that you need next turn, only where there are some: what was looked at without a finding, what to look at; not what a claim says. Results are shown once only; claims and notes come back.
- tables: of those that something has read, the ones to show in full again next turn. Those that nothing read yet come by themselves; the others are listed.
- open: what no data can decide and a person should be asked, such as which clock is meant or what a code's letters stand for.
- done: true when nothing that matters is left.`;

function tidied(reply: LearnReply): LearnReply {
  return {
    ...reply,
    notes: reply.notes.map((note) => note.slice(0, NOTE_CHARS)),
    queries: reply.queries.slice(0, LEARN_QUERIES).map(({ why, sql }) => ({ why, sql: shared.tidySql(sql) })),
    claims: reply.claims.slice(0, LEARN_CLAIMS).map((claim) => ({
      ...claim,
      check: shared.tidySql(claim.check),
      rivals: claim.rivals.slice(0, RIVALS),
    })),
  };
}

/** Claims need an operator; this name stands for a lesson, which has none. */
const LESSON = 'op_lesson';
/** Rules, and entries of earlier questions, that are shown: so many of each. */
const HELD = 40;

export async function learn(context: StepContext, step: Given<'learn'>): Promise<ModelOutcome<Gives<'learn'>>> {
  const { groups } = await context.run.get('lesson-tables', SCHEMA_ID);
  const turnId = contentId(step);
  if (groups.length === 0) {
    const reply = { notes: [], queries: [], claims: [], open: [], tables: [], done: true };
    await once({ ...context, position: `${step.position}.none` }, {}, ({ run }) =>
      run.put('lesson', turnId, { turnId, reply }),
    );
    return { kind: 'ok', value: { turnId, done: true, groups: 0 }, usage: {} };
  }
  const prompt = await promptOf(context, step);
  return runModelStep(context, step, learnRole, prompt, (reply) => async () => {
    // Nobody is shown the rows of the last queries.
    const isLast = (reply.done && reply.claims.length === 0) || prompt.turn >= prompt.turns;
    await context.run.put('lesson', turnId, { turnId, reply: isLast ? { ...reply, queries: [] } : reply });
    return { turnId, done: reply.done, groups: groups.length };
  });
}

async function promptOf(context: StepContext, step: Given<'learn'>): Promise<LearnPrompt> {
  const plan = await context.run.get('lesson-tables', SCHEMA_ID);
  const { description } = await context.run.get('schema', SCHEMA_ID);
  const ledger = await ledgerOf(context, step);
  const group = plan.groups[step.group] ?? [];
  const isWhole = plan.groups.length === 1;
  const concerns = (tables: readonly string[]): boolean => isWhole || tables.some((name) => group.includes(name));
  const { rules, entries, conflicts } = await heldBefore(context, description);
  const { known: _, listedOnly: __, furtherTables: ___, ...shown } = await promptContext(context, step.memory);
  const texts = (all: readonly Told[]): string[] =>
    all.filter(({ tables }) => concerns(tables)).map(({ text }) => text);
  return {
    ...shown,
    schema: plan.catalogue,
    part: isWhole ? null : { number: step.group + 1, of: plan.groups.length, tables: group },
    tables: ledger.shown.map((name) => plan.blocks[name] ?? '').join('\n\n'),
    held: [rules, entries].flatMap((all) => texts(all).slice(0, HELD)),
    conflicts: texts(conflicts),
    proved: ledger.proved
      .filter(({ check }) => concerns(tablesNamed(check, description.tables).map(({ name }) => name)))
      .map((claim) => [claimText(claim).split('\n')[0] ?? '', ...fittingTexts(claim)].join('; ')),
    failed: ledger.failed.map((claim) => (ledger.latest.includes(claim) ? claimText(claim) : claim.statement)),
    notes: ledger.notes,
    open: ledger.open,
    found: ledger.found === '' ? null : ledger.found,
    turn: step.turns.length + 1,
    turns: step.limit,
  };
}

interface Told {
  readonly text: string;
  readonly tables: readonly string[];
}

/** Rules and entries that the lesson began with, so that a repeated turn asks the same. What its turns prove is shown as theirs. */
async function heldBefore(
  context: StepContext,
  description: DatabaseDescription,
): Promise<Readonly<Record<'rules' | 'entries' | 'conflicts', readonly Told[]>>> {
  return once({ ...context, position: 'held' }, {}, async () => {
    const { entries, rules } = visibleLayer(await currentLayer(layerPlace(context)), description);
    const isActive = ({ status }: Pick<Held, 'status'>): boolean => status === 'active';
    const told = (held: HeldEntry): Told => ({ text: heldText(held), tables: held.entry.tables });
    return {
      rules: rules.filter(isActive).map((rule) => ({ text: ruleText(rule), tables: rule.entry.tables })),
      entries: entries.filter(isActive).map(told),
      conflicts: entries.flatMap((held) => {
        const other = entries.find(({ entry }) => entry.entryId === held.contradictedBy);
        if (other === undefined || other.entry.entryId > held.entry.entryId) return [];
        const tables = [...held.entry.tables, ...other.entry.tables];
        return [{ text: `${heldText(other)}; against: ${heldText(held)}`, tables }];
      }),
    };
  });
}

/** What it says suffices for not saying it again. */
function heldText(held: HeldEntry): string {
  return [`${held.statement} (${figuresOf(held, held.entry.rows)})`, ...fittingTexts(held.entry)].join('; ');
}

export async function prove(context: StepContext, { turnId }: Given<'prove'>): Promise<Gives<'prove'>> {
  const { reply } = await context.run.get('lesson', turnId);
  const scope = await engineScope(context);
  const written = [
    ...reply.queries.map(({ sql }, at) => ({ ...selectText(sql, `query ${at + 1}`, scope), sql })),
    ...reply.claims.map(({ check }, at) => ({
      ...selectText(check, `the check of claim ${at + 1}`, scope),
      sql: check,
    })),
  ];
  const { dialect } = scope.description;
  const { runs, usage } = await runSelects(context, dialect, written);
  const resultOf = (at: number): SqlResult => runs[at]?.result ?? refused('it was not run');
  const asked = reply.queries.map((query, at) => queryText(at + 1, query, resultOf(at)));
  const made = reply.claims.map((claim, at): Claim => {
    const place = reply.queries.length + at;
    const counts = countsOf(resultOf(place), claim.rivals.length);
    const { statement, rows } = claim;
    const rivals = claim.rivals.map((reading) => ({ reading, sameAnswer: null }));
    return countedClaim({ operator: LESSON, statement, rows, check: runs[place]?.sql ?? claim.check }, counts, rivals);
  });
  const quick = made.filter((claim, at) => isEstablished(claim) && isQuick(resultOf(reply.queries.length + at)));
  const { claims, usage: moving } = await withNeighbours(context, made, quick);
  await context.run.put('verdict', turnId, {
    ...{ turnId, candidateId: null, claims: [...claims] },
    found: asked.join('\n\n'),
  });
  await ask(context, scope.description, reply.open);
  const proved = claims.filter(isSettled).length;
  return { proved, open: claims.length - proved, usage: addDeltas(usage, moving) };
}

/** Neighbours of values are counted in one snapshot. */
const MOST_NEIGHBOURS = 60;
const QUICK_MS = 500;

function isQuick(result: SqlResult): boolean {
  return result.kind === 'rows' && result.elapsedMs <= QUICK_MS;
}

/** An entry is no definition: values of its check that the rows do not tell from others are kept with it. */
async function withNeighbours(context: StepContext, claims: readonly Claim[], tried: readonly Claim[]) {
  const { dialect } = (await context.run.get('schema', SCHEMA_ID)).description;
  const { statements, read } = fittingOf(neighboursOf(tried, dialect).slice(0, MOST_NEIGHBOURS));
  const { results, usage } = await runSql(context, statements);
  const fitting = read(results);
  return {
    usage,
    claims: claims.map((claim): Claim => {
      const own = fitting.filter((each) => each.claim === claim);
      const fitsAsWell = own.map(({ literal, put }) => ({ literal, put, gives: null }));
      return own.length === 0 ? claim : { ...claim, fitsAsWell };
    }),
  };
}

/** A check has a column for each rival: one that lacks them tells its reading apart from nothing. */
function countsOf(result: SqlResult, rivals: number): ReturnType<typeof readCounts> {
  const took = result.kind === 'timeout' ? result.afterMs : result.kind === 'rows' ? result.elapsedMs : 0;
  // Before a question its entry would not be counted again in time.
  if (took > CHECK_MS)
    return `its check ${result.kind === 'timeout' ? 'was stopped after' : 'took'} ${took} ms: join grouped subqueries instead of a subquery for each row, and stay below ${CHECK_MS} ms`;
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
    const questionId = `q${sha256(text.trim().toLowerCase()).slice(0, 12)}`;
    return known.has(questionId) || text.trim() === ''
      ? []
      : [{ kind: 'asked', at, questionId, text: text.trim(), ...namedIn(text, description) }];
  });
  await appendToLayer(place, events, context.run.searchId);
}
