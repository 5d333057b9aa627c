/** Spider's predictions: `pred.sql`, a line for every question, in their order; what follows a tab is not read. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { tokensOf } from '../../sql/lexer';
import { BenchmarkDataError, type Prediction, type PredictionFormat } from '../benchmark';
import type { BenchmarkItem } from '../question-file';
import { statementOf } from './execution';
import { textIn } from './files';

/** What stands for no query: SQLite takes it for an error, and a blank line would begin another interaction. */
const NO_QUERY = 'SELECT';

export const spiderFormat: PredictionFormat = {
  file: 'pred.sql',
  async read(path, items) {
    const lines = linesIn(await textIn(path));
    const [problem] = lineProblems(lines, items);
    if (problem !== undefined) throw new BenchmarkDataError(`${path}: ${problem}`);
    return new Map(items.map(({ id }) => [id, predictionOf(lines[Number(id)])]));
  },

  async write(to, items, predictions) {
    const lines = items.map(({ id }) => {
      const prediction = predictions.get(id) ?? { kind: 'none' };
      if (prediction.kind === 'rows') throw new BenchmarkDataError(`question ${id}: Spider takes SQL, not rows`);
      return prediction.kind === 'sql' ? oneLine(statementOf(prediction.statements), id) : NO_QUERY;
    });
    await mkdir(dirname(to), { recursive: true });
    await writeFile(to, `${lines.join('\n')}\n`);
    return [to];
  },

  async check(path, items) {
    const lines = linesIn(await textIn(path));
    const isShort = lines.length < items.length;
    const short = `${String(lines.length)} lines for ${String(items.length)} questions: the official scorer leaves out the rest`;
    return [...lineProblems(lines, items), ...(isShort ? [short] : [])];
  },
};

function linesIn(text: string): string[] {
  return text.replace(/\r?\n$/, '').split(/\r?\n/);
}

function lineProblems(lines: readonly string[], items: readonly BenchmarkItem[]): string[] {
  const blank = lines.findIndex((line) => line.trim() === '');
  return [
    ...(blank < 0 ? [] : [`line ${String(blank + 1)} is blank, which begins another interaction: write ${NO_QUERY}`]),
    ...(lines.length <= items.length
      ? []
      : [`${String(lines.length)} lines for ${String(items.length)} questions: a query is one line`]),
  ];
}

function predictionOf(line: string | undefined): Prediction {
  if (line === undefined) return { kind: 'none' };
  const [sql = ''] = line.trim().split('\t');
  return sql.toUpperCase() === NO_QUERY ? { kind: 'abstained' } : { kind: 'sql', statements: [sql] };
}

/** Without comments; breaks and tabs become blanks. */
function oneLine(sql: string, id: string): string {
  const tokens = tokensOf(sql, 'sqlite');
  if (tokens.some(({ raw }) => /[\r\n\t]/.test(raw)))
    throw new BenchmarkDataError(`question ${id}: a text or a name holds a line break or a tab, which a line cannot`);
  return tokens
    .map(({ raw, at }, index) => {
      const before = tokens[index - 1];
      return before !== undefined && before.at + before.raw.length < at ? ` ${raw}` : raw;
    })
    .join('');
}
