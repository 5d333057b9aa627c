/** Spider 2.0's predictions: a folder with `ID.sql` or `ID.csv`; an empty file abstains, and has no points. */
import { statSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { BenchmarkDataError, type Prediction, type PredictionFormat } from '../benchmark';
import { FileName, textIn } from './files';
import { someOf } from '../../src/counted';
import { csvIn, csvText, withFields } from './pandas-table';

export const spider2Format: PredictionFormat = {
  file: null,
  async read(path, items) {
    if (!(statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false))
      throw new BenchmarkDataError(`${path} is no folder: give one with ID.sql or ID.csv for each question`);
    const predictions = new Map<string, Prediction>();
    for (const name of (await readdir(path)).sort()) {
      const id = name.slice(0, -extname(name).length);
      if (!['.sql', '.csv'].includes(extname(name)) || !items.some((item) => item.id === id)) continue;
      if (predictions.has(id)) throw new BenchmarkDataError(`${path}: ${id} has both SQL and CSV: leave one of them`);
      predictions.set(id, await predictionIn(join(path, name)));
    }
    return predictions;
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
};

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
