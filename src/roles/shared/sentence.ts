/** The answer as a sentence with places for values, asked for only where the output mode is `answer`. The program fills it. */
import type { Question } from '../../domain';

export function wantsSentence({ outputMode }: Question): boolean {
  return outputMode === 'answer';
}

/** `field`: the reply's; `others`: places that only some roles have. */
export function sentenceRule(field: string, others = ''): string {
  return `SENTENCE. ${field}: the answer in one plain sentence of at most 200 characters, neutral on assumptions, with places for values: no value, and no number that the question lacks. Places: {column} of a single row; of several rows {rows} (how many), {sum:column} (only what adds up); of many rows that the SQL orders {first:column}, {last:column}${others}.`;
}
