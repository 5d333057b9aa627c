/** Reading what benchmarks and their predictions are kept in; what is wrong with a file is one line that names it. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { BenchmarkDataError } from '../benchmark';

export async function textIn(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).replace(/^\ufeff/, '');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    const why = { ENOENT: 'it does not exist', EISDIR: 'it is a folder', EACCES: 'no permission' }[code] ?? code;
    throw new BenchmarkDataError(`${path} cannot be read: ${why}`, { cause: error });
  }
}

export async function jsonIn<T>(path: string, schema: z.ZodType<T>): Promise<T> {
  const text = await textIn(path);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new BenchmarkDataError(`${path} is no JSON (or only half written): ${(error as Error).message}`, {
      cause: error,
    });
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.join('.') ?? '';
  throw new BenchmarkDataError(`${path}${where === '' ? '' : `, ${where}`}: ${issue?.message ?? 'is invalid'}`);
}

/** Keys that stand twice in the outermost object of a JSON text: a parser keeps the last of them without a word. */
export function repeatedKeys(text: string): string[] {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  let depth = 0;
  for (const [token, key, colon] of text.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|[{}[\]]/g)) {
    if (key === undefined) depth += /[{[]/.test(token) ? 1 : -1;
    if (key === undefined || colon === undefined || depth !== 1) continue;
    (seen.has(key) ? repeated : seen).add(key);
  }
  return [...repeated].map((key) => JSON.parse(key) as string);
}

/** Ids and names of databases that become paths: they may lead to no other folder. */
export const FileName = z.string().regex(/^(?!\.{1,2}$)[^/\\\0]+$/, 'has to be the name of a file, without a folder');

/** The first of these places that exists. */
export function firstPath(folder: string, ...places: readonly string[]): string | null {
  return places.map((place) => join(folder, place)).find((path) => existsSync(path)) ?? null;
}

/** JSONL lines with an `instance_id` each (Spider 2.0, LiveSQLBench). Throws if an id stands twice. */
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
