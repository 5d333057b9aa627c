/**
 * The six roles of ReFoRCE: whether a table is needed, the header of the answer, queries that look at columns, the SQL of a
 * vote with its refinement, the choice where votes do not decide, and the result in words. Turns are replayed as a
 * conversation to which messages are only appended.
 */
import * as z from 'zod';
import type { ChatMessage } from '../../domain/ports';
import { parseReply, replySchema, sketch, unless, type Prompt } from '../../roles/shared/reply';
import { SentenceReply } from '../../domain/turns';
import * as shared from '../../roles/shared/prompt-parts';

export const LinkReply = z.object({ note: z.string(), needed: z.enum(['Y', 'N']), columns: z.array(z.string()) });
export type LinkReply = z.infer<typeof LinkReply>;

const LINK_RULES = [
  'You decide whether one table of a large database is needed to answer the question.',
  `- note: think step by step.
- needed: Y or N.
- columns: with Y, the names of the columns that may matter: for the result, for conditions, for joins.`,
  shared.replyRule(sketch(LinkReply)),
];

/** Whether one table, shown alone as `schema`, is needed for the question, and which of its columns. */
export const link: Prompt<shared.PromptContext, LinkReply> = {
  schema: () => replySchema('reforce-link', LinkReply),
  render: (input) =>
    shared.searchConversation(input, LINK_RULES, [], 'Task: decide about the one table of the schema above.'),
  parse: (text) => parseReply(text, LinkReply, () => []),
};

export const FormatReply = z.object({ header: z.string() });
export type FormatReply = z.infer<typeof FormatReply>;

const FORMAT_RULES = [
  'You say which columns the answer has, before anyone writes SQL for it.',
  `- header: one line of CSV, the simplest that answers the question: a name for each column, and its type where that is not plain, such as name:text,total:number.
- Columns in the order of the question, none that it does not ask for. Where it asks for things without saying whether by name or by id, give both.`,
  shared.replyRule(sketch(FormatReply)),
];

/** The header that the answer must have as CSV, fixed before any SQL is written. Only its first line counts. */
export const format: Prompt<shared.PromptContext, FormatReply> = {
  schema: () => replySchema('reforce-format', FormatReply),
  render: (input) => shared.searchConversation(input, FORMAT_RULES, [], 'Task: write the header.'),
  parse(text) {
    const parsed = parseReply(text, FormatReply, ({ header }) =>
      unless(header.trim() !== '', 'header', 'found nothing', 'name the columns of the answer, with commas between'),
    );
    if (parsed.kind === 'invalid') return parsed;
    return { kind: 'ok', reply: { header: parsed.reply.header.trim().split('\n', 1)[0] ?? '' } };
  },
};

/** With fewer queries the model is asked again. */
const LEAST = 3;
const MOST = 10;

const ExploreQuery = z.object({ why: z.string(), sql: z.string() });
export const ExploreReply = z.object({ note: z.string(), queries: z.array(ExploreQuery) });
export type ExploreReply = z.infer<typeof ExploreReply>;

export interface ExploreTurn {
  readonly reply: ExploreReply;
  /** Those of its queries that were run. */
  readonly results: readonly { readonly sql: string; readonly outcome: string; readonly isEmpty: boolean }[];
  /** The last of the results failed. */
  readonly failed: boolean;
  /** Queries that are left to run. */
  readonly rest: readonly string[];
}

export interface ExplorePrompt extends shared.PromptContext {
  readonly turns: readonly ExploreTurn[];
  readonly asks: 'queries' | 'correction' | 'rest';
}

const EXPLORE_RULES = [
  'You look at the columns that the question needs, before anyone writes SQL for it.',
  `- queries: 3 to ${MOST}, from simple to less simple, all different: why, in a few words what it shows, and sql, one read-only SELECT with a small LIMIT. They run in this order.
- Prefer SELECT DISTINCT on the columns that hold what the question names: values, formats, codes, nested parts. Where the question quotes a name or a value, find how it is stored, with a loose pattern.
- No query about schema or types, and none that answers the question.
- note: which tables and columns may matter, step by step.`,
  shared.replyRule(sketch(ExploreReply)),
];

/** A query that fails or returns nothing is corrected; then those that are left are corrected in the same way. */
export const explore: Prompt<ExplorePrompt, ExploreReply> = {
  schema: () => replySchema('reforce-explore', ExploreReply),
  render: (input) => [
    ...shared.searchConversation(input, EXPLORE_RULES, [], `Task: write up to ${MOST} queries to look with.`),
    ...input.turns.flatMap((turn) => exchange(turn.reply, explorationTold(turn))),
  ],
  parse(text, { asks, turns }) {
    const parsed = parseReply(text, ExploreReply, ({ queries }) => {
      const found = `found ${queries.length}`;
      if (asks === 'queries') return unless(queries.length >= LEAST, 'queries', found, `write ${LEAST} to ${MOST}`);
      if (asks === 'correction') return unless(queries.length === 1, 'queries', found, 'write the one corrected query');
      return unless(queries.length > 0, 'queries', found, `write the ${turns.at(-1)?.rest.length ?? 0} that are left`);
    });
    if (parsed.kind === 'invalid') return parsed;
    const queries = parsed.reply.queries.map(({ why, sql }) => ({ why, sql: shared.tidySql(sql) }));
    return { kind: 'ok', reply: { ...parsed.reply, queries } };
  },
};

function explorationTold({ results, failed, rest }: ExploreTurn): string {
  const shown = results.map(({ sql, outcome }) => shared.data('result', `${sql}\n\n${outcome}`));
  if (failed) {
    const simplify =
      results.at(-1)?.isEmpty === true ? ' It returned nothing: drop or loosen some of its conditions.' : '';
    return [...shown, `The last query failed.${simplify} Find out why, and send it corrected: one query.`].join('\n');
  }
  const left = rest.map((sql, at) => shared.data(`left ${at + 1}`, sql));
  return [
    ...shown,
    'The correction ran. These queries are left; correct in the same way what needs it, and send all of them:',
    ...left,
  ].join('\n');
}

export const GenerateReply = z.object({ note: z.string(), sql: z.string() });
export type GenerateReply = z.infer<typeof GenerateReply>;

export interface GenerateTurn {
  readonly reply: GenerateReply;
  /** The rows as CSV, or the error. */
  readonly outcome: string;
  /** It returned rows; they are to be confirmed. */
  readonly succeeded: boolean;
  /** What speaks against its rows. */
  readonly flaw: { readonly kind: keyof typeof FLAW; readonly where: readonly string[] } | null;
}

export interface GeneratePrompt extends shared.PromptContext {
  /** The header of the answer. */
  readonly format: string | null;
  /** Queries of the exploration, with their results. */
  readonly explored: readonly { readonly sql: string; readonly outcome: string }[];
  readonly turns: readonly GenerateTurn[];
}

const GENERATE_RULES = [
  'You write the SQL that answers the question; it is run, and you mend it until it returns the answer.',
  `- note: think step by step, before the SQL.
- sql: one read-only SELECT, complete, that yields what the question asks for.
- Where one table stands for others of the same structure, name each that is needed in a UNION ALL; leave none out.
- Four decimals where the question says no precision.
- Names and values may be stored in other words or cases than the question has.`,
  shared.replyRule(sketch(GenerateReply)),
];

/** The SQL of one vote, refined by what the database says to it. */
export const generate: Prompt<GeneratePrompt, GenerateReply> = {
  schema: () => replySchema('reforce-generate', GenerateReply),
  render(input) {
    const { format: header, explored, turns } = input;
    const examples = explored.map(({ sql, outcome }, at) => shared.data(`example ${at + 1}`, `${sql}\n\n${outcome}`));
    const shown = [
      ...(examples.length === 0
        ? []
        : ['Queries that ran on this database, with their results, to learn from:', ...examples]),
      ...(header === null ? [] : [`The result has this header:\n${shared.data('answer format', header)}`]),
    ];
    return [
      ...shared.searchConversation(input, GENERATE_RULES, shown, 'Wanted: sql.'),
      ...turns.flatMap((turn) => exchange(turn.reply, resultTold(turn, header !== null))),
    ];
  },
  parse(text) {
    const parsed = parseReply(text, GenerateReply, ({ sql }) =>
      unless(sql.trim() !== '', 'sql', 'found nothing', 'write one complete SELECT'),
    );
    if (parsed.kind === 'invalid') return parsed;
    return { kind: 'ok', reply: { ...parsed.reply, sql: shared.tidySql(parsed.reply.sql) } };
  },
};

function resultTold({ outcome, succeeded, flaw }: GenerateTurn, hasFormat: boolean): string {
  if (!succeeded) return `${shared.data('error', outcome)}\nCorrect it: one complete SELECT.`;
  return [
    shared.data('result', outcome),
    ...(flaw === null ? [] : [shared.data(FLAW[flaw.kind], flaw.where.join(', ')), 'Mend that.']),
    `Check this result and its SQL once more against the question${hasFormat ? ' and its header' : ''}: conditions, rows, columns, order. If it is right, send the same SQL again; if not, send it corrected.`,
  ].join('\n');
}

const FLAW = { nested: 'values of several lines: make each one line', empty: 'columns without any value but zero' };

export const ChooseReply = z.object({ note: z.string(), choice: z.int() });
export type ChooseReply = z.infer<typeof ChooseReply>;

export interface ChoosePrompt extends shared.PromptContext {
  readonly candidates: readonly { readonly sql: string; readonly outcome: string }[];
}

const CHOOSE_RULES = [
  'You pick one of several SQL queries that were run for the same question.',
  `In this order, step by step in note:
1. Leave out results that cannot be true. Those with NULL or zero tend to be wrong.
2. Hold each result against the question.
3. Hold each SQL against the question.`,
  shared.replyRule(sketch(ChooseReply)),
];

/** One of the candidates between which votes do not decide. */
export const choose: Prompt<ChoosePrompt, ChooseReply> = {
  schema: () => replySchema('reforce-choose', ChooseReply),
  render(input) {
    const shown = input.candidates.map(({ sql, outcome }, at) =>
      shared.data(`candidate ${at + 1}`, `sql: ${sql}\nresult:\n${outcome}`),
    );
    return shared.searchConversation(input, CHOOSE_RULES, shown, `Task: choose 1 to ${input.candidates.length}.`);
  },
  parse(text, { candidates: { length } }) {
    return parseReply(text, ChooseReply, ({ choice }) =>
      unless(choice >= 1 && choice <= length, 'choice', `found ${choice}`, `use a whole number from 1 to ${length}`),
    );
  },
};

export const PhraseReply = z.object({ answer: SentenceReply });
export type PhraseReply = z.infer<typeof PhraseReply>;

export interface PhrasePrompt extends shared.PromptContext {
  readonly sql: string;
  readonly outcome: string;
}

const PHRASE_RULES = [
  'You put the result of a query into words.',
  shared.sentenceRule('answer', '. column: one of the rows above'),
  shared.replyRule(sketch(PhraseReply)),
];

/** The chosen result in words. ReFoRCE itself ends with SQL and its rows. */
export const phrase: Prompt<PhrasePrompt, PhraseReply> = {
  schema: () => replySchema('reforce-answer', PhraseReply),
  render(input) {
    const shown = [shared.data('sql', input.sql), shared.data('rows', input.outcome)];
    return shared.searchConversation(input, PHRASE_RULES, shown, 'Task: answer the question from the rows above.');
  },
  parse: (text) => parseReply(text, PhraseReply, () => []),
};

function exchange(reply: unknown, told: string): ChatMessage[] {
  return [
    { role: 'assistant', content: JSON.stringify(reply) },
    { role: 'user', content: told },
  ];
}
