/**
 * Role `look`: the conversation with which `look-then-prove` begins. A reply looks (several queries at once), commits to SQL
 * with claims that the database decides, or declines with counts that show what is not stored. Turns are replayed as a
 * conversation, so that its prefix stays cacheable. What a later turn hardly needs is shortened, behind the part that all
 * questions share: of a wide database the tables that no reply names, long results of looks before the last one, and the checks of
 * claims that hold.
 */
import { LookReply } from '../domain/turns';
import type { ModelOutcome } from '../domain/ports/step-parts';
import { selectsOf } from './sql/queries';
import { parserScope, type SearchScope } from './shared/bodies';
import { buildCommit } from './sql/commit-plan';
import type { StepContext } from './shared/context';
import { mended, type SaidTurn } from './shared/mended-commit';
import { contentId, invalid, runModelStep, type Read } from './shared/model-step';
import { promptContext } from './shared/prompt-context';
import { columnsOfNamed, extraTables } from './shared/shown-tables';
import * as z from 'zod';
import { OPERATOR_NAME, type Dialect, type SqlResult, type SqlValue } from '../domain';
import type { ChatMessage } from '../domain/ports';
import { parseReply, replySchema, unless, type Problem, type Prompt } from './shared/reply';
import * as shared from './shared/prompt-parts';
import { isSettled } from '../sql/claims';
import { mergedClaims } from '../sql/same-check';
import { toCsv, resultText } from '../text/result-text';
import { SCHEMA_ID, type Contents } from '../record/contents';
import type { Given, Gives } from '../domain/ports/steps';

/** Queries of one look, which run together. */
export const QUERIES = 8;
/** Looks of one conversation. After them only a commit or a decline is accepted. */
export const LOOKS = 8;
/** From this turn on the model is told how many looks are left. */
const FEW_LOOKS_LEFT = LOOKS - 2;
/** Rows of a result that are shown. */
export const SHOWN_ROWS = 40;
/** The same once a later turn has seen them. */
const EARLIER_ROWS = 20;
/** Listed tables of one look that are then shown in full. */
const ASKED_TABLES = 8;
const CLAIMS = 10;
const RIVALS = 8;

const Alone = LookReply.omit({ known: true, tables: true, understoodAs: true });
const Names = z.array(z.string());

type Asking = Pick<shared.PromptContext, 'known' | 'listedOnly' | 'earlier'>;

/**
 * `known` is asked for only where something proved before is shown, `tables` only where some tables are merely listed, and
 * `understoodAs` only where the question follows another.
 */
function replyOf({ known = [], listedOnly = 0, earlier = [] }: Asking): z.ZodType<LookReply> {
  const withKnown = known.length === 0 ? Alone : Alone.extend({ known: Names });
  const withTables = listedOnly === 0 ? withKnown : withKnown.extend({ tables: Names });
  return earlier.length === 0 ? withTables : withTables.extend({ understoodAs: z.string().nullable() });
}

export const lookRole: Prompt<LookPrompt, LookReply> = {
  schema: (asking) => replySchema('look', replyOf(asking)),
  render(input) {
    const rules = [
      'You answer the question together with a program.',
      RULES,
      ...(shared.wantsSentence(input.question) ? [SENTENCE] : []),
      SHAPE,
      ...((input.listedOnly ?? 0) === 0 ? [] : [TABLES]),
    ];
    const common = [...shared.databaseSections(input), shared.rulesSection(rules)];
    const own = [
      ...shared.searchSections(input),
      ...shared.knowledgeSections(input, true),
      ...(input.known === undefined || input.known.length === 0 ? [] : [KNOWN]),
      ...(input.earlier === undefined ? [] : [FOLLOWS]),
      shared.questionSection(input.question),
      `Wanted: one ${shared.wantsSentence(input.question) ? 'answer with its sentence' : 'answer'}. Look, commit or decline.`,
    ];
    return [
      ...shared.conversation(input.dialect, common, own),
      ...input.turns.flatMap((turn, at) => turnMessages(turn, at, input)),
    ];
  },
  parse(text, input) {
    const looks = input.turns.filter(({ reply }) => reply.action === 'look').length;
    const whole = (reply: LookReply): LookReply => mended(reply, input.turns);
    const parsed = parseReply(text, replyOf(input), (reply) => [
      ...problemsOf(whole(reply), LOOKS - looks),
      ...unless(
        reply.action === 'look' || reply.understoodAs === undefined || Boolean(whole(reply).understoodAs?.trim()),
        'understoodAs',
        'found null',
        'say the question in full words, as if nothing had been asked before',
      ),
    ]);
    return parsed.kind === 'ok' ? { kind: 'ok', reply: tidied(whole(parsed.reply), input.dialect) } : parsed;
  },
};

/** What one turn said, and what the program found. */
export interface LookTurn extends SaidTurn {
  /** Shown as data. */
  readonly found: string;
}

export interface LookPrompt extends shared.PromptContext {
  readonly turns: readonly LookTurn[];
  /** Nothing of the last turn is open, but a person has said something since. */
  readonly hearsOut?: true;
}

const RULES = `TASK. Write SQL whose hidden conventions the database itself confirms. The program runs your queries, counts your claims, runs the answer and keeps what was proved. Take few turns: commit at once where the schema's lines settle everything, else look, mostly once.

LOOK, while something that would change the answer is open, or a control does not fit. queries: up to ${QUERIES} SELECTs, run together; why in a few words. Ask at once for all that could change this answer, nothing else, in counts over all rows, not lists: a recount against a control table (examined and matching), parts against a total, a second source, ranges and counts by code, device, version or month, who has a value and who has none, keys that repeat or do not join. At most ${SHOWN_ROWS} rows of each are shown.

COMMIT, once you would bet on it.
- operators: steps like CTEs, {name: op_…, intent: what its rows mean, sql: one SELECT, which may begin with WITH}. Later ones, checks, coverage and control read earlier ones by name: write shared normalising once. The last is the answer: exactly the columns asked for, in order, no helpers, nothing rounded or relabelled unless asked; percentages times 100; yes/no is one boolean; DISTINCT for a list of values, every row for a list of events; ties at the cut all stay, also where one is asked for; heed NULLs. ordered: true only if an order is asked.
- claims: each convention that the SQL takes for granted, that no name or document states plainly, and that would change the answer if wrong: a unit, a code's meaning, which rows or versions count, a sign, a clock, which of two columns or tables, duplicates, placeholders. Also where the schema's lines show it: a claim turns what was seen into proof. None where plain names leave no doubt; how the question's words are meant is wording.
  statement: one sentence, no more than its check counts: no consequence, no value that the check does not read. rows: what one examined row is ("trips with both clocks").
  check: one SELECT of one row: examined, matching, then for each rival in order how many of the same rows match it. Over all rows that can tell (5 or more; within what is asked about where that is enough), NULLs and placeholders left out, against something independent: a stored total, another table, the order of events, a copy. Figures of one unknown unit that agree show no unit; that one date comes before another shows no meaning of either. Of a small control table compare each measure of each row. Floats within a tolerance. Cheap: join grouped subqueries, no subquery per row. A condition counted among rows filtered by it proves nothing.
  rivals: the other readings a careful analyst would try that give another answer: the naive one, the placeholder kept, one factor for all, duplicates kept, each code alone, the other date; not the mere negation. At least one. {reading, instead: {of: a piece of that operator's sql, exactly as written, put: what stands there under the rival}}; each place where it stands is replaced, and of "" replaces the whole. null where the counts are bound to refute the rival; where they do not, instead is run through the whole answer.
  Shorter, where the check reads the operator: give examined and matching only, and every rival an instead; the program repeats the check with the rival's SQL in place.
  The program decides: all examined match and a rival loses: proved; 95 % or more: holds, exceptions shown; else it comes back with figures. A rival that stands and changes nothing in the answer drops out.
- literals: each value, CASE branch, factor and date bound in the operators needs one of these: the question or its context names it, also by an ISO code; a stored name, row or document you saw ties it to a word of the question (say nothing then); a claim's check or rival varies it, one check over all codes all branches; assumed names its column and value. Formats, JSON keys and plain arithmetic of units need none. What is left comes back: mostly a silent filter, such as one client, one kind of record or a blank mark.
- assumed: what it rests on that no check can decide, {operator, statement, risk 0 to 1}; also, in one entry, that what checks showed of other months or groups holds for those asked about, unless a check includes them. Withdraw a claim that cannot be shown into this.
- coverage: one SELECT of one row, two counts: how many things are asked about, and how many of them have what the SQL needs (no NULL, placeholder, missing key, unknown code). null where all have it by construction. ifPartial, when under 95 % have it: "answer" (the program adds both numbers) or "decline" (a number over that part would mislead: a minority, or "all" is asked).
- control: one SELECT of one count, the rows looked at before the last condition; needed where the answer may be empty, zero or NULL.
- wording: where the question's words themselves allow two readings and no data can decide, or rows overrule a document (other: the document's). Take the plainest; {operator, taken, other, instead} and the program adds the other number.

DECLINE (action unanswerable): the fact asked for, or a needed part, is stored in no column, code, key, join or derivation, or only for a minority. A constant, a placeholder, or a value computed from another column records nothing. Empty results are no reason. reason: what is missing and where you looked. absent: counts that show it, {statement, rows: what is asked about, check: one SELECT of one row: how many are asked about, how many of these have the fact recorded, and as a control how many have a comparable fact recorded, where this one would stand}; [] where no column could hold it: words not found in texts show little.`;

const KNOWN = `Where the SQL follows conventions proved before, say so in the commit: "known": ["k1"], and make no claim of your own for them; claim only what they leave open.`;

const FOLLOWS = `What the question does not change stays as the last earlier one had it: rows, period, filters, definitions. Begin from its SQL; where only a filter, a column or a grouping changes, commit at once. Its claims stand under their keys: name in "known" those that the SQL still follows, and claim only what is new. A commit and a decline also say {"understoodAs": string}: the question in full words, as if nothing had been asked before.`;

const SENTENCE = shared.sentenceRule('sentence', ', {examined} (what control counted)');

/** The shape as text. It is shorter than the schema's sketch, and says which keys go with which action. */
const SHAPE = `Reply with one JSON object and nothing after it; leave out keys that are empty, or give null or []:
{"action":"look","queries":[{"why":string,"sql":string}]}
{"action":"commit","operators":[{"name":string,"intent":string,"sql":string}],"ordered":boolean,"claims":[{"operator":string,"statement":string,"rows":string,"check":string,"rivals":[{"reading":string,"instead":{"of":string,"put":string}|null}]}],"assumed":[{"operator":string,"statement":string,"risk":number}],"coverage":string|null,"ifPartial":"answer"|"decline"|null,"control":string|null,"wording":[{"operator":string,"taken":string,"other":string,"instead":{"of":string,"put":string}|null}],"sentence":string|null}
{"action":"unanswerable","reason":string,"absent":[{"statement":string,"rows":string,"check":string}]}`;

/** Beside the rules and not in them: most databases show all of their tables. */
const TABLES = `A look may also ask for up to ${ASKED_TABLES} tables, listed or shown in part, beside its queries or alone; their columns come with all figures: "tables":["name"]. After it, only tables that your queries or "tables" name, and short lists of codes, are shown again.`;

function turnMessages(
  { reply, found, holds = [] }: LookTurn,
  at: number,
  { turns, hearsOut }: LookPrompt,
): ChatMessage[] {
  const next =
    hearsOut && at === turns.length - 1
      ? 'Since then people said more, shown above among what people said. Send the whole reply again if it stands, or mend it, look further, or decline.'
      : reply.action === 'look'
        ? `${at + 1 < FEW_LOOKS_LEFT ? '' : `Looks left: ${LOOKS - at - 1}. `}Look, commit or decline.`
        : 'Mend what did not hold, look further, withdraw it into assumed, or decline. A commit then sends only what changes: operators and claims that are new or mended. Keys left out, [] or null stay as they were; claims that hold stay, and those that do not are gone unless mended; assumed adds to what was assumed.';
  return [
    { role: 'assistant', content: JSON.stringify(withoutEmpty(shortened(reply, holds))) },
    { role: 'user', content: `${shared.data('result', found)}\n${next}` },
  ];
}

/** Of a claim that holds, only what it says is still of use. */
function shortened(reply: LookReply, holds: readonly string[]): object {
  const claims = reply.claims.map((claim) =>
    holds.includes(claim.statement) ? { operator: claim.operator, statement: claim.statement } : claim,
  );
  return { ...reply, claims };
}

function withoutEmpty(reply: object): object {
  return Object.fromEntries(
    Object.entries(reply).filter(
      ([, value]) => value !== null && value !== false && !(Array.isArray(value) && value.length === 0),
    ),
  );
}

function problemsOf(reply: LookReply, looksLeft: number): Problem[] {
  const { action, queries, reason } = reply;
  switch (action) {
    case 'look':
      return [
        ...unless(
          queries.length > 0 || (reply.tables ?? []).length > 0,
          ...(['queries', 'found []', 'write the SELECTs to run, or use another action'] as const),
        ),
        ...unless(looksLeft > 0, 'action', 'found "look" with no look left', 'use "commit" or "unanswerable"'),
      ];
    case 'unanswerable':
      return unless(
        Boolean(reason?.trim()),
        'reason',
        'found null',
        'say which fact is not stored and where you looked',
      );
    case 'commit':
      return commitProblems(reply);
    default:
      return action satisfies never;
  }
}

function commitProblems({ operators, claims, assumed, wording }: LookReply): Problem[] {
  const names = operators.map(({ name }) => name);
  const known = (where: string, name: string): Problem[] =>
    unless(names.includes(name), where, `found "${name}"`, `use one of ${names.join(', ')}`);
  const rivals = 'name at least one reading that would give another answer, or drop the claim';
  return [
    ...unless(names.length > 0, 'operators', 'found []', 'a commit has at least one operator, the last the answer'),
    ...operators.flatMap(({ name, intent }, at) => {
      const where = `operators[${at}]`;
      return [
        ...unless(OPERATOR_NAME.test(name), `${where}.name`, `found "${name}"`, 'use op_ and 1 to 50 of a-z, 0-9, _'),
        ...unless(
          names.indexOf(name) === at,
          `${where}.name`,
          `${name} is used twice`,
          'give every operator its own name',
        ),
        ...unless(intent.trim() !== '', `${where}.intent`, 'found ""', 'say in one sentence what the rows mean'),
      ];
    }),
    ...claims.flatMap((claim, at) => [
      ...known(`claims[${at}].operator`, claim.operator),
      ...unless(claim.statement.trim() !== '', `claims[${at}].statement`, 'found ""', 'say what is claimed'),
      ...unless(claim.rivals.length > 0, `claims[${at}].rivals`, 'found []', rivals),
    ]),
    ...assumed.flatMap(({ operator, risk }, at) => [
      ...known(`assumed[${at}].operator`, operator),
      ...unless(risk >= 0 && risk <= 1, `assumed[${at}].risk`, `found ${risk}`, 'use a number from 0 to 1'),
    ]),
    ...wording.flatMap(({ operator }, at) => known(`wording[${at}].operator`, operator)),
  ];
}

/**
 * What its action does not have is dropped, and lists are cut: they come most useful first. Its keys are in the order of the
 * schema, because later prompts show it as JSON.
 */
function tidied(reply: LookReply, dialect: Dialect): LookReply {
  return LookReply.parse(withoutOthers(reply, dialect));
}

function withoutOthers(reply: LookReply, dialect: Dialect): LookReply {
  const { tidySql, tidyOptionalSql } = shared;
  const empty = { ...EMPTY, action: reply.action };
  switch (reply.action) {
    case 'look':
      return {
        ...empty,
        queries: reply.queries.slice(0, QUERIES).map(({ why, sql }) => ({ why, sql: tidySql(sql) })),
        ...(reply.tables === undefined ? {} : { tables: reply.tables.slice(0, ASKED_TABLES) }),
      };
    case 'unanswerable':
      return {
        ...empty,
        reason: reply.reason,
        ...(reply.understoodAs === undefined ? {} : { understoodAs: reply.understoodAs }),
        absent: reply.absent.slice(0, CLAIMS).map((each) => ({ ...each, check: tidySql(each.check) })),
      };
    case 'commit':
      return {
        ...reply,
        queries: [],
        absent: [],
        reason: null,
        operators: reply.operators.map((operator) => ({ ...operator, sql: tidySql(operator.sql) })),
        claims: mergedClaims(
          reply.claims.slice(0, CLAIMS).map((claim) => ({
            ...claim,
            check: tidySql(claim.check),
            rivals: claim.rivals.slice(0, RIVALS),
          })),
          dialect,
        ),
        coverage: tidyOptionalSql(reply.coverage),
        control: tidyOptionalSql(reply.control),
      };
    default:
      return reply.action satisfies never;
  }
}

const EMPTY: Omit<LookReply, 'action'> = {
  ...{ queries: [], operators: [], ordered: false, claims: [], assumed: [], coverage: null, ifPartial: null },
  ...{ control: null, wording: [], sentence: null, reason: null, absent: [] },
};

export async function look(context: StepContext, step: Given<'look'>): Promise<ModelOutcome<Gives<'look'>>> {
  const prompt = {
    ...(await promptContext(context, step.memory, { turns: step.turns })),
    turns: await turnsOf(context, step.turns),
    ...(step.hearsOut && { hearsOut: step.hearsOut }),
  };
  const scope = await parserScope(context);
  return runModelStep(context, step, lookRole, prompt, (reply) => read(context, scope, contentId(step), reply), {
    details: (text) => columnsOfNamed(context, text),
  });
}

/** A query of a look that does not parse is told with the others' results, if there are any; a commit has to be sound as a whole. */
function read(context: StepContext, scope: SearchScope, turnId: string, reply: LookReply): Read<Gives<'look'>> {
  if (reply.action === 'commit') {
    const built = buildCommit(context, scope, turnId, reply);
    if (!('plan' in built)) return { ...invalid(built, 'mend what each line names and keep the rest'), badSql: true };
  }
  if (reply.action === 'look') {
    const selects = selectsOf(reply, scope);
    const wrong = selects.flatMap((select) => (select.kind === 'invalid' ? [select.error] : []));
    if (wrong.length > 0 && wrong.length === selects.length)
      return { ...invalid(wrong, 'write each query as one SELECT over the tables shown'), badSql: true };
  }
  return async () => {
    await context.run.put('turn', turnId, { turnId, reply });
    return { turnId, action: reply.action };
  };
}

/** Characters of one result. */
const RESULT_CHARS = 3_500;

/** The turns so far, each with what was found. */
export async function turnsOf(context: StepContext, ids: readonly string[]): Promise<LookTurn[]> {
  return Promise.all(ids.map((id, at) => turnOf(context, id, at < ids.length - 1)));
}

async function turnOf(context: StepContext, id: string, isEarlier: boolean): Promise<LookTurn> {
  const { run } = context;
  const { reply } = await run.get('turn', id);
  if (reply.action !== 'look') {
    const { found, claims } = await run.get('verdict', id);
    return { reply, found, holds: claims.filter(isSettled).map(({ statement }) => statement) };
  }
  const [observation, schema] = await Promise.all([run.get('observation', id), run.get('schema', SCHEMA_ID)]);
  const extra = await extraTables(context, schema, [id]);
  const text = lookText(reply, observation, isEarlier ? EARLIER_ROWS : SHOWN_ROWS);
  return { reply, found: [text, ...(extra === '' ? [] : [extra])].join('\n\n') };
}

function lookText({ queries }: LookReply, { tests }: Contents['observation'], most: number): string {
  return queries.map(({ why }, at) => `${at + 1}. ${why}\n${shownRows(tests[at]?.result, most)}`).join('\n\n');
}

/** The same under its SQL, where the reply that wrote it does not come back. */
export function queryText(number: number, { why, sql }: LookReply['queries'][number], result: SqlResult): string {
  return `${number}. ${why}\n${sql}\n${shownRows(result, SHOWN_ROWS)}`;
}

function shownRows(seen: SqlResult | undefined, most: number): string {
  if (seen === undefined) return 'not run';
  const result = seen.kind === 'rows' ? { ...seen, rows: seen.rows.map((row) => row.map(rounded)) } : seen;
  if (result.kind !== 'rows' || result.rows.length <= most) return resultText(result, RESULT_CHARS);
  const { rows, which } = telling(result, most);
  const csv = toCsv({ ...result, rows, truncated: false }, { maxChars: RESULT_CHARS, nulls: 'NULL' });
  return `${csv}\n(${which} of ${result.rows.length}${result.truncated ? ' or more' : ''} rows)`;
}

/** Rows of which a long result shows the last, and those with the least count. */
const SHOWN_LAST = 4;
const SHOWN_RAREST = 8;

/** The first rows, the rarest groups where a column counts, and the last. */
function telling(
  { columns, rows }: Extract<SqlResult, { kind: 'rows' }>,
  most: number,
): {
  readonly rows: readonly (readonly SqlValue[])[];
  readonly which: string;
} {
  const isCount = (name: string, at: number): boolean =>
    /^(?:n|cnt|rows?|count.*|.*_(?:n|cnt|count))$/i.test(name) &&
    rows.every((row) => Number.isInteger(Number(row[at])));
  const count = columns.findIndex(({ name }, at) => isCount(name, at));
  const rarest = count < 0 ? 0 : SHOWN_RAREST;
  const first = most - SHOWN_LAST - rarest;
  const middle = rows.slice(first, -SHOWN_LAST);
  const rare = middle.toSorted((a, b) => Number(a[count]) - Number(b[count])).slice(0, rarest);
  return {
    rows: [...rows.slice(0, first), ...middle.filter((row) => rare.includes(row)), ...rows.slice(-SHOWN_LAST)],
    which: `the first ${first}, ${rarest === 0 ? '' : `the ${rarest} rarest between, `}the last ${SHOWN_LAST}`,
  };
}

/** The long tail of an average tells nothing. */
function rounded(value: SqlValue): SqlValue {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && /^-?\d+\.\d{7,}$/.test(text) ? Number(Number(text).toPrecision(7)) : value;
}
