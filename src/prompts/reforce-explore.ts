/**
 * Role `reforce-explore`: a conversation of queries that look at columns before the SQL is written (ReFoRCE). A query that
 * fails or returns nothing is corrected; then those that are left are corrected in the same way.
 */
import { z } from 'zod';
import type { ChatMessage } from '../ports';
import { parseReply, replySchema, sketch, unless, type Parsed } from './reply';
import * as shared from './shared';
import type { PromptContext } from './shared';

/** With fewer the model is asked again. */
const LEAST = 3;
const MOST = 10;

const ExploreQuery = z.object({ why: z.string(), sql: z.string() });
export const ExploreReply = z.object({ note: z.string(), queries: z.array(ExploreQuery) });
export type ExploreReply = z.infer<typeof ExploreReply>;

export const exploreSchema = replySchema('reforce-explore', ExploreReply);

export type ExploreAsks = 'queries' | 'correction' | 'rest';

export interface ExploreTurn {
  readonly reply: ExploreReply;
  /** Those of its queries that were run. */
  readonly results: readonly { readonly sql: string; readonly outcome: string; readonly isEmpty: boolean }[];
  /** The last of the results failed. */
  readonly failed: boolean;
  /** Queries that are left to run. */
  readonly rest: readonly string[];
}

export interface ExploreInput extends PromptContext {
  readonly turns: readonly ExploreTurn[];
  readonly asks: ExploreAsks;
}

export function renderExplore(input: ExploreInput): ChatMessage[] {
  const { turns } = input;
  return [
    ...shared.searchConversation(input, RULES, [], `Task: write up to ${MOST} queries to look with.`),
    ...turns.flatMap((turn): ChatMessage[] => [
      { role: 'assistant', content: JSON.stringify(turn.reply) },
      { role: 'user', content: told(turn) },
    ]),
  ];
}

export function parseExplore(
  text: string,
  { asks, turns }: Pick<ExploreInput, 'asks' | 'turns'>,
): Parsed<ExploreReply> {
  const parsed = parseReply(text, ExploreReply, ({ queries }) => {
    const found = `found ${queries.length}`;
    if (asks === 'queries') return unless(queries.length >= LEAST, 'queries', found, `write ${LEAST} to ${MOST}`);
    if (asks === 'correction') return unless(queries.length === 1, 'queries', found, 'write the one corrected query');
    return unless(queries.length > 0, 'queries', found, `write the ${turns.at(-1)?.rest.length ?? 0} that are left`);
  });
  if (parsed.kind === 'invalid') return parsed;
  const queries = parsed.reply.queries.map(({ why, sql }) => ({ why, sql: shared.tidySql(sql) }));
  return { kind: 'ok', reply: { ...parsed.reply, queries } };
}

const RULES = [
  'You look at the columns that the question needs, before anyone writes SQL for it.',
  `- queries: 3 to ${MOST}, from simple to less simple, all different: why, in a few words what it shows, and sql, one read-only SELECT with a small LIMIT. They run in this order.
- Prefer SELECT DISTINCT on the columns that hold what the question names: values, formats, codes, nested parts. Where the question quotes a name or a value, find how it is stored, with a loose pattern.
- No query about schema or types, and none that answers the question.
- note: which tables and columns may matter, step by step.`,
  shared.replyRule(sketch(ExploreReply)),
];

function told({ results, failed, rest }: ExploreTurn): string {
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
