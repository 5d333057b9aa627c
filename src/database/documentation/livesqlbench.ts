/**
 * What LiveSQLBench gives with a database: `DB_column_meaning_base.json`, from `DB|table|column` to what the column means, and
 * `DB_kb.jsonl`, its knowledge base, one entry a line.
 */
import { z } from 'zod';
import type { DocumentNote } from '../../domain';
import { DocumentationError } from './error';

/** Of a column that holds JSON, each field has a meaning of its own. */
const Meanings = z.record(z.string(), z.union([z.string(), z.record(z.string(), z.unknown())]));
const Entry = z.object({
  knowledge: z.string(),
  description: z.string().default(''),
  definition: z.string().default(''),
});

export const isColumnMeanings = (file: string): boolean => file.endsWith('_column_meaning_base.json');
export const isKnowledgeBase = (file: string): boolean => file.endsWith('_kb.jsonl');

export function notesOfColumnMeanings(file: string, text: string): DocumentNote[] {
  return Object.entries(meaningsIn(file, text)).flatMap(([key, meaning]) => {
    const [table, column] = key.split('|').slice(-2);
    const note = typeof meaning === 'string' ? meaning : JSON.stringify(meaning);
    return table === undefined || column === undefined || note === ''
      ? []
      : [{ table, column, text: note, source: file }];
  });
}

function meaningsIn(file: string, text: string): z.infer<typeof Meanings> {
  try {
    return Meanings.parse(JSON.parse(text));
  } catch (error) {
    const problem = 'no column meanings: one object is expected, from DB|table|column';
    throw new DocumentationError(file, 1, problem, { cause: error });
  }
}

/** As Markdown; a file with other lines, which is only called so, as it is. */
export function textOfKnowledgeBase(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  try {
    const entries = lines.map((line) => Entry.parse(JSON.parse(line)));
    return entries.map((entry) => `## ${entry.knowledge}\n\n${entry.description}\n\n${entry.definition}\n`).join('\n');
  } catch (error) {
    if (error instanceof z.ZodError || error instanceof SyntaxError) return text;
    throw error;
  }
}
