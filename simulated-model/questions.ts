/**
 * The questions with gold SQL that the simulated model knows. The fields are those of the benchmark files; only the needed
 * ones are read. A question is found by its text and, if several databases have the same text, by engine and schema.
 */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
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

/** The file cannot be used. The message names the line and the problem. */
export class QuestionFileError extends Error {
  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.name = 'QuestionFileError';
  }
}

export function loadQuestions(path: string): GoldQuestion[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new QuestionFileError(`--questions: cannot read ${path}`, { cause: error });
  }
  return text.split('\n').flatMap((line, at) => (line.trim() === '' ? [] : [parseLine(line, `${path}:${at + 1}`)]));
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

function parseLine(line: string, where: string): GoldQuestion {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch (error) {
    throw new QuestionFileError(`${where}: not JSON: ${(error as Error).message}`, { cause: error });
  }
  const parsed = GoldQuestion.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new QuestionFileError(`${where}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'unexpected'}`);
  }
  if (parsed.data.answerable && parsed.data.gold_sql.length === 0)
    throw new QuestionFileError(`${where}: gold_sql is empty although the question is answerable`);
  return parsed.data;
}
