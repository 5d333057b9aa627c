/** In one line: how much of a large schema was shown in full, what chose it, and what that cost. */
import type { AnswerRecord } from '../domain';
import { counted, dollars } from './printable';

export function rankingText(ranking: NonNullable<AnswerRecord['tableRanking']>): string {
  const { by, model, tables, shown, embeddedTables, tokens, costUsd } = ranking;
  const how = by === 'words' ? 'words' : `words and meaning (${model})`;
  const made = embeddedTables === 0 ? '' : `, vectors of ${counted(embeddedTables, 'table')} new`;
  const cost = tokens === 0 ? '' : `; ${counted(tokens, 'token')} and ${dollars(costUsd)} of the usage${made}`;
  return `columns of ${shown} of ${counted(tables, 'table')} shown, ranked by the question's ${how}${cost}`;
}
