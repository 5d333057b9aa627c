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
  const meanings = read(file, 1, text, Meanings, 'no column meanings: one object is expected, from DB|table|column');
  return Object.entries(meanings).flatMap(([key, meaning]) => {
    const [table, column] = key.split('|').slice(-2);
    const note = typeof meaning === 'string' ? meaning : JSON.stringify(meaning);
    return table === undefined || column === undefined || note === ''
      ? []
      : [{ table, column, text: note, source: file }];
  });
}

/** As Markdown. */
export function textOfKnowledgeBase(file: string, text: string): string {
  const entries = text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const { knowledge, description, definition } = read(
      ...([file, index + 1, line, Entry] as const),
      'no entry of a knowledge base: knowledge, description and definition are expected',
    );
    return [`## ${knowledge}\n\n${description}\n\n${definition}\n`];
  });
  return entries.join('\n');
}

function read<T>(file: string, line: number, text: string, schema: z.ZodType<T>, problem: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    throw new DocumentationError(file, line, problem, { cause: error });
  }
}
