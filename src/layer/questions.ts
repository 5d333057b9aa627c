/** Questions that no data can decide (`gate learn`), and what people answered: told to later questions, but never as proved. */
import type { DatabaseDescription } from '../domain';
import { wordsOf } from '../schema/lexical';
import type { OpenQuestion } from './state';

type Tables = Pick<DatabaseDescription, 'tables'>;

/** The most answers that a prompt shows. */
const MOST_ANSWERS = 3;
const ANSWER_CHARS = 300;

/** The tables and columns that a text names. */
export function namesIn(text: string, description: Tables): string[] {
  const names = namesOf(description);
  const words = (text.match(/[\p{L}_][\p{L}\p{N}_$]*/gu) ?? []).map((word) => word.toLowerCase());
  return [...new Set(words)].filter((word) => names.has(word));
}

/** Only what this reader's description shows: one about a hidden table or column is as if it did not exist. */
export function visibleQuestions(questions: readonly OpenQuestion[], description: Tables): readonly OpenQuestion[] {
  const names = namesOf(description);
  return questions.filter(({ about }) => about.every((name) => names.has(name)));
}

function namesOf({ tables }: Tables): ReadonlySet<string> {
  const names = tables.flatMap(({ name, columns }) => [
    ...name.toLowerCase().split('.'),
    ...columns.map((column) => column.name.toLowerCase()),
  ]);
  return new Set(names);
}

/** Answered ones that share words with a question, or name one of its likeliest tables; those that share most first. */
export function answersFor(
  questions: readonly OpenQuestion[],
  { question, tables }: { readonly question: string; readonly tables: readonly string[] },
): readonly OpenQuestion[] {
  const asked = new Set(wordsOf(question));
  const likely = new Set(tables.flatMap((table) => table.toLowerCase().split('.')));
  return questions
    .map((each) => {
      const said = new Set(wordsOf(`${each.text} ${each.answer?.text ?? ''}`));
      const words = [...said].filter((word) => asked.has(word)).length;
      return { each, score: words + each.about.filter((name) => likely.has(name)).length };
    })
    .filter(({ each, score }) => each.answer !== null && score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, MOST_ANSWERS)
    .map(({ each }) => each);
}

/** As a person's remark: `ann (2026-01-01), asked "Which clock?": UTC`. */
export function answerText({ text, answer }: OpenQuestion): string {
  const line = (said: string): string => said.replace(/\s+/g, ' ').trim().slice(0, ANSWER_CHARS);
  return answer === null
    ? line(text)
    : `${answer.author} (${answer.at.slice(0, 10)}), asked "${line(text)}": ${line(answer.text)}`;
}
