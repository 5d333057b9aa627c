/**
 * One question by several methods: their answers side by side, and which of them give the same rows. Results are equal as in
 * execution match: in any order of rows and columns, numbers by rule S5.
 */
import { z } from 'zod';
import {
  AnswerStatus,
  MethodName,
  PresetName,
  ResultColumn,
  SqlValue,
  Standing,
  Usage,
  type SqlResult,
} from '../src/domain';
import { canonical } from '../src/domain/canonical';
import { executionMatch } from '../src/questions/execution-match';

export const MethodAnswer = z.object({
  method: z.string().describe('as --methods named it'),
  name: MethodName,
  preset: PresetName,
  models: z.record(z.string(), z.string()),
  searchId: z.string().describe('what gate result, report and trace take'),
  status: z.enum([...AnswerStatus.options, 'infrastructure-failure']),
  answer: z.string().nullable(),
  reason: z.string().nullable().describe('why there is no answer'),
  sql: z.string().nullable(),
  columns: z.array(ResultColumn),
  rows: z.array(z.array(SqlValue)),
  truncated: z.boolean(),
  proved: z.number().nullable().describe('share of what the answer assumes that is proved; null: it gave no answer'),
  standing: Standing.nullable().describe('how far the answer stands proved; null: it gave no answer'),
  provedText: z.string().nullable().describe('how far it is proved, in words'),
  usage: Usage.nullable(),
  wallMs: z.number().nullable(),
  result: z.string().nullable().describe('a letter: answers with the same letter have the same rows; null: no rows'),
});
export type MethodAnswer = Readonly<z.infer<typeof MethodAnswer>>;

export const RowDifference = z.object({
  result: z.string(),
  other: z.string(),
  why: z.string().describe('in what the two results differ'),
  only: z.array(z.array(SqlValue)).describe('rows of `result` that `other` lacks, where both have as many columns'),
  onlyOther: z.array(z.array(SqlValue)),
});
export type RowDifference = Readonly<z.infer<typeof RowDifference>>;

/** Its JSON schema is `docs/schemas/compared-question.schema.json`. */
export const ComparedQuestion = z.object({
  schemaVersion: z.literal(1),
  question: z.string(),
  database: z.string(),
  answers: z.array(MethodAnswer),
  differences: z.array(RowDifference).describe('of every result to that of the first method that has one'),
});
export type ComparedQuestion = Readonly<z.infer<typeof ComparedQuestion>>;

type Unlettered = Omit<MethodAnswer, 'result'>;

export function compareAnswers(given: readonly Unlettered[]): {
  readonly answers: MethodAnswer[];
  /** Of every result to that of the first method that has one. */
  readonly differences: RowDifference[];
} {
  const results: { readonly letter: string; readonly answer: Unlettered }[] = [];
  const answers = given.map((answer): MethodAnswer => {
    if (answer.columns.length === 0) return { ...answer, result: null };
    const known = results.find((one) => match(answer, one.answer) === 'equal results');
    if (known !== undefined) return { ...answer, result: known.letter };
    const letter = letterOf(results.length);
    results.push({ letter, answer });
    return { ...answer, result: letter };
  });
  const [first, ...others] = results;
  const differences = others.map(({ letter, answer }): RowDifference => ({
    ...{ result: first?.letter ?? '', other: letter, why: first === undefined ? '' : match(answer, first.answer) },
    ...(first === undefined || first.answer.columns.length !== answer.columns.length
      ? { only: [], onlyOther: [] }
      : { only: rowsWithout(first.answer, answer), onlyOther: rowsWithout(answer, first.answer) }),
  }));
  return { answers, differences };
}

/** As in a table of columns: A to Z, then A2 … */
export function letterOf(at: number): string {
  return `${String.fromCharCode(65 + (at % 26))}${at < 26 ? '' : String(1 + Math.floor(at / 26))}`;
}

/** How a result stands to another one: equal, or why it is not. */
function match(one: Unlettered, other: Unlettered): string {
  const found = executionMatch(resultOf(one), [resultOf(other)]);
  switch (found.kind) {
    case 'match':
      return 'equal results';
    case 'undecided':
      return 'more rows than were fetched: not decided';
    default:
      return found.reason.replace(/ than the gold \(.*\)$/, '');
  }
}

function resultOf({ columns, rows, truncated }: Unlettered): SqlResult {
  return { kind: 'rows', columns, rows, truncated, elapsedMs: 0 };
}

/** As multisets: a row that stands twice here and once there is left once. */
function rowsWithout({ rows }: Unlettered, other: Unlettered): MethodAnswer['rows'] {
  const left = new Map<string, number>();
  for (const row of other.rows) left.set(canonical(row), (left.get(canonical(row)) ?? 0) + 1);
  return rows.filter((row) => {
    const count = left.get(canonical(row)) ?? 0;
    left.set(canonical(row), count - 1);
    return count <= 0;
  });
}
