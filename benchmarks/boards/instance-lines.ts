/** JSONL files with an `instance_id` on each line: Spider 2.0 and LiveSQLBench. */
import type { z } from 'zod';
import { BenchmarkDataError } from '../benchmark';
import { textIn } from './files';

/** Throws if an id stands twice. */
export async function linesIn<T extends { readonly instance_id: string }>(
  path: string,
  schema: z.ZodType<T>,
): Promise<T[]> {
  const seen = new Map<string, number>();
  return (await textIn(path)).split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const at = `${path}, line ${String(index + 1)}`;
    const parsed = schema.safeParse(jsonOf(line, at));
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw new BenchmarkDataError(`${at}: ${issue?.path.join('.') ?? ''} ${issue?.message ?? 'is invalid'}`);
    }
    const { instance_id: id } = parsed.data;
    if (seen.has(id)) throw new BenchmarkDataError(`${at}: the id "${id}" stands on line ${String(seen.get(id))} too`);
    seen.set(id, index + 1);
    return [parsed.data];
  });
}

function jsonOf(text: string, at: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new BenchmarkDataError(`${at} is no JSON (or only half written): ${(error as Error).message}`, {
      cause: error,
    });
  }
}
