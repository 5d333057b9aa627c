import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { preProcessFile } from 'typescript';
import { ROOT } from '../helpers/shared-data';

type Graph = ReadonlyMap<string, readonly string[]>;

function importsOf(file: string): string[] {
  const { importedFiles } = preProcessFile(readFileSync(file, 'utf8'), true, true);
  return importedFiles.flatMap(({ fileName }) => {
    if (!fileName.startsWith('.')) return [];
    const path = join(dirname(file), fileName);
    return [`${path}.ts`, join(path, 'index.ts')].filter((each) => existsSync(each));
  });
}

/** Takes away, again and again, what imports nothing that is left or is imported by nothing that is left. */
function between(graph: Graph): string[] {
  let left = new Set(graph.keys());
  for (;;) {
    const imported = new Set([...left].flatMap((file) => graph.get(file) ?? []));
    const kept = [...left].filter((file) => imported.has(file) && graph.get(file)?.some((each) => left.has(each)));
    if (kept.length === left.size) return kept;
    left = new Set(kept);
  }
}

test('no file of src or of the simulated model imports itself by way of others, types included', () => {
  const files = ['src', 'simulated-model'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(ROOT, folder, name)),
  );
  const graph = new Map(files.filter((file) => file.endsWith('.ts')).map((file) => [file, importsOf(file)]));
  expect([...graph.values()].flat().length).toBeGreaterThan(graph.size);
  expect(between(graph)).toEqual([]);
});

test('a cycle is found', () => {
  const graph = { a: ['b'], b: ['c'], c: ['b', 'd'], d: [] };
  expect(between(new Map(Object.entries(graph)))).toEqual(['b', 'c']);
});
