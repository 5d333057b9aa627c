/** How much of a large schema was shown in full, what chose it, and what that cost. */
import type { AnswerRecord } from '../domain';
import { counted, dollars } from './printable';
import type { ShownTables } from './trace';

/** The ranking in one line, from the final record. */
export function rankingText(ranking: NonNullable<AnswerRecord['tableRanking']>): string {
  const { by, model, tables, shown, embeddedTables, tokens, costUsd } = ranking;
  const how = by === 'words' ? 'words' : `words and meaning (${model})`;
  const made = embeddedTables === 0 ? '' : `, ${counted(embeddedTables, 'table')} newly embedded`;
  const cost = tokens === 0 ? '' : `; ${counted(tokens, 'token')} and ${dollars(costUsd)} of the usage${made}`;
  return `${headline(shown, tables)}, ranked by the question's ${how}${cost}`;
}

/** The same from the trace, for a search without a final record. */
export function shownText({ by, tables, shown }: ShownTables): string {
  return `${headline(shown.length, tables)}, ranked by the question's ${by === 'words' ? 'words' : 'words and meaning'}`;
}

/** One table with its ranks, where they are known. */
export function rankedTable({ table, byWords, byMeaning }: ShownTables['shown'][number]): string {
  const ranks = [
    ...(byWords === null ? [] : [`words ${byWords}`]),
    ...(byMeaning === null ? [] : [`meaning ${byMeaning}`]),
  ];
  return ranks.length === 0 ? table : `${table} (${ranks.join(', ')})`;
}

function headline(shown: number, tables: number): string {
  return `columns of ${shown} of ${counted(tables, 'table')} shown`;
}
