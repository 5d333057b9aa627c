/**
 * The questions with gold SQL that the simulated model knows. The fields are those of the benchmark files; only the needed
 * ones are read. A question is found by its text and, if several databases have the same text, by engine and schema.
 */
import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { Dialect } from '../src/domain';

const GoldQuestion = z.object({
  id: z.string().min(1),
  engine: Dialect,
  database: z.string().min(1),
  question: z.string().min(1),
  gold_sql: z.array(z.string()),
  answerable: z.boolean(),
});
export type GoldQuestion = z.infer<typeof GoldQuestion>;

export function loadQuestions(path: string): GoldQuestion[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line.trim() !== '').map((line) => GoldQuestion.parse(JSON.parse(line)));
}

export type Lookup = (text: string) => readonly GoldQuestion[];

export function questionIndex(questions: readonly GoldQuestion[]): Lookup {
  const byText = new Map<string, GoldQuestion[]>();
  for (const question of questions)
    byText.set(plain(question.question), [...(byText.get(plain(question.question)) ?? []), question]);
  return (text) => byText.get(plain(text)) ?? [];
}

function plain(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
