/** Spider 2.0's predictions: a folder with `ID.sql` or `ID.csv`; an empty file abstains, and has no points. */
import { statSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { BenchmarkDataError, type Prediction, type PredictionFormat } from '../benchmark';
import type { BenchmarkItem } from '../../src/questions/question-file';
import { FileName, textIn } from './files';
import { someOf } from '../../src/counted';
import { csvIn, csvText, withFields } from './pandas-table';

export const spider2Format: PredictionFormat = {
  file: null,
  async read(path, items) {
    const { files, problems } = await examined(path, items);
    const [problem] = problems;
    if (problem !== undefined) throw new BenchmarkDataError(problem);
    return new Map(await Promise.all([...files].map(async ([id, file]) => [id, await predictionIn(file)] as const)));
  },
  async write(to, items, predictions) {
    const given = items.map(({ id }) => [id, predictions.get(id) ?? { kind: 'none' as const }] as const);
    const kinds = new Set(given.map(([, { kind }]) => kind));
    const unnamed = given.flatMap(([id]) => (FileName.safeParse(id).success ? [] : [id]));
    if (unnamed.length > 0) throw new BenchmarkDataError(`${to}: ${someOf(unnamed)} cannot be the name of a file`);
    if (kinds.has('sql') && kinds.has('rows'))
      throw new BenchmarkDataError(`${to}: the scorer takes a folder of SQL or one of CSV, and these are both`);
    await mkdir(to, { recursive: true });
    const files = given.map(
      ([id, prediction]) => [join(to, `${id}.${kinds.has('rows') ? 'csv' : 'sql'}`), textOf(prediction)] as const,
    );
    for (const [file, text] of files) await writeFile(file, text);
    return files.map(([file]) => file);
  },
  async check(path, items) {
    const { files, problems, unknown } = await examined(path, items);
    const missing = items.filter(({ id }) => !files.has(id)).map(({ id }) => id);
    const kinds = new Set([...files.values()].map(extname));
    return [
      ...problems,
      ...(unknown.length === 0
        ? []
        : [`${path}: no question has the id ${someOf(unknown)}; the scorer passes over it`]),
      ...(missing.length === 0 ? [] : [`${path} lacks ${someOf(missing)}: each counts as wrong`]),
      ...(kinds.size < 2
        ? []
        : [`${path} holds both .sql and .csv: the scorer reads one kind and passes over the other`]),
    ];
  },
};

async function examined(path: string, items: readonly BenchmarkItem[]) {
  if (!(statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false))
    throw new BenchmarkDataError(`${path} is no folder: give one with ID.sql or ID.csv for each question`);
  const names = (await readdir(path)).filter((name) => ['.sql', '.csv'].includes(extname(name))).sort();
  const stems = names.map((name) => name.slice(0, -extname(name).length));
  const known = new Set(items.map(({ id }) => id));
  const twice = stems.filter((stem, index) => known.has(stem) && stems.indexOf(stem) !== index);
  return {
    files: new Map(
      names.flatMap((name, index) =>
        known.has(stems[index] ?? '') ? [[stems[index] ?? '', join(path, name)] as const] : [],
      ),
    ),
    unknown: stems.filter((stem) => !known.has(stem)),
    problems: twice.length === 0 ? [] : [`${path}: ${someOf(twice)} has both SQL and CSV: leave one of them`],
  };
}

async function predictionIn(file: string): Promise<Prediction> {
  const text = await textIn(file);
  if (text.trim() === '') return { kind: 'abstained' };
  if (extname(file) === '.csv') return { kind: 'rows', ...(await csvIn(file)) };
  return { kind: 'sql', statements: [/```sql\n(.*?)\n```/s.exec(text)?.[1]?.trim() ?? text] };
}

function textOf(prediction: Prediction): string {
  if (prediction.kind === 'rows') return csvText(withFields(prediction));
  return prediction.kind === 'sql' ? `${prediction.statements.join(';\n')}\n` : '';
}
