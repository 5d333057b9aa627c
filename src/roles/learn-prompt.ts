/**
 * Role `learn`: one turn of learning a database without a question (docs/layer.md). Each turn asks queries and makes claims; the
 * database counts them. What is known so far comes back as a ledger, not as the whole conversation.
 */
import { LearnReply } from '../domain/turns';
import type { ChatMessage } from '../ports';
import { parseReply, replySchema, sketch, type Parsed } from './shared/reply';
import * as shared from './shared/prompt-parts';
import type { PromptContext } from './shared/prompt-parts';

export const LEARN_QUERIES = 8;
export const LEARN_CLAIMS = 12;
const RIVALS = 5;
/** Characters of a note, and of all notes that are shown. */
const NOTE_CHARS = 200;

export const learnSchema = replySchema('learn', LearnReply);

export interface LearnInput extends PromptContext {
  /** What earlier questions or lessons proved. */
  readonly held: readonly string[];
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

export function renderLearn(input: LearnInput): ChatMessage[] {
  const { held, proved, failed, notes, open, found, turn, turns } = input;
  const list = (name: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : [shared.data(name, lines.map((line) => `- ${line}`).join('\n'))];
  return shared.conversation(input.dialect, [
    ...shared.databaseSections(input),
    shared.rulesSection([RULES, shared.replyRule(sketch(LearnReply))]),
    ...shared.searchSections(input),
    ...shared.remarkSections(input.remarks ?? []),
    ...list('kept before', held),
    ...list('proved in this lesson', proved),
    ...list('not proved', failed),
    ...list('your notes', notes),
    ...list('open, for a person', open),
    ...(found === null ? [] : [shared.data('results of the last turn', found)]),
    shared.questionSection(input.question),
    turn === turns
      ? `Turn ${turn} of ${turns}, the last: make the claims that you can, and say what stays open.`
      : `Turn ${turn} of ${turns}.`,
  ]);
}

export function parseLearn(text: string): Parsed<LearnReply> {
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
}

const RULES = `You learn an undocumented database for colleagues who will write SQL on it: which of its conventions would a careful stranger get wrong? No question is asked. A program runs your queries and counts your claims; what it proves is kept.

Look for what neither names nor types say: units and scales by device, model, code or version; clocks (local or not, by place), and which end of a range counts; every column of few codes, kinds and states first, by what occurs with them and only with them, since questions will use their everyday names; which rows are one and the same thing in life; placeholders that stand for no value; who has a value and who has none; columns that are computed from or copied of others; keys that join only after normalising; repeated imports, versions, corrections, reversals, cancelled rows; totals beside their parts; documents (JSON) in several versions; conventions that change at a date; and what each small table of totals controls: a sum that meets it in every row settles units, signs, filters and dates at once. Take the tables in turn; leave out what plain names or the schema's lines already say for certain, and what was kept before.

Each turn, both in one reply:
- queries: up to ${LEARN_QUERIES} SELECTs, run together, why in a few words: crosstabs, differences, sums against totals, over all rows. At most 40 rows of each are shown.
- claims: up to ${LEARN_CLAIMS}. statement: one sentence, general, for any later question, with table.column and the rule or formula to use; no figures of the counts, no reasons. rows: what one examined row is, in a few words. check: one SELECT of one row: examined, matching, then for each rival in order how many of the same examined rows match it; over all rows that can tell (20 or more where there are), against something independent: a stored total, a copy, another table, the order of events. Keep it short: one WITH that makes the rows once, with names of one letter, and counts of it; no comments, no aliases that nothing reads. rivals: the readings that a careful person would try instead, a few words each. It is proved if all examined rows match and a rival matches fewer; from 95 % on it holds with exceptions. A condition counted among rows that it selected proves nothing, and neither does a range of values seen so far.
- notes: lines of at most ${NOTE_CHARS} characters that you need next turn, only where there are some: what was looked at without a finding, what to look at; not what a claim says. Results are shown once only; claims and notes come back.
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
