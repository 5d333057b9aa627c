/**
 * Reads a file of questions: JSONL, one object a line, or CSV with the same names in its first line. Separates what the solver
 * may see from what only the scorer may see (`gold`).
 *
 * 1. The solver gets `hidden_knowledge` only if the caller asks for it, because a score with it is another experiment.
 * 2. Only the scorer gets `abstain_instruction`, which unanswerable questions alone have, `category` and `difficulty`: a category
 *    may be the template that the question was made from.
 */
import { CsvError, parse } from 'csv-parse/sync';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import * as z from 'zod';
import { Dialect, SEARCH_ID } from '../domain/question';
import { contextProblem, questionProblem } from '../input-limits';
import { DIALECTS } from '../sql/dialects';
import { parseRows, type Row } from './python';

export interface Gold {
  /** The gold queries; a match with any of them counts. */
  readonly sql: readonly string[];
  /** The publisher's own answer, where it is given. */
  readonly answer: readonly Row[] | null;
  /** The right answer in words, for a judge alone: no rule of execution reads it. */
  readonly text: string | null;
  readonly answerable: boolean;
  /** The sentence that the publisher expects the SQL to select if the question is unanswerable. */
  readonly abstainText: string | null;
  readonly category: string | null;
  readonly difficulty: string | null;
}

export interface BenchmarkItem {
  readonly id: string;
  readonly question: string;
  readonly context: string | null;
  readonly instructions: string | null;
  readonly engine: Dialect | null;
  /** null: the file names no database, so all questions use one. */
  readonly database: string | null;
  /** The question of the file that it follows, else the id of a stored search. */
  readonly after?: string;
  /** null: nothing to score against. */
  readonly gold: Gold | null;
}

export interface LoadOptions {
  readonly hiddenKnowledge?: boolean;
}

/** The file cannot be used. The message is one line with file, line number and field. */
export class QuestionFileError extends Error {
  readonly code = 'question-file';
  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.name = 'QuestionFileError';
  }
}

const ENGINES: Readonly<Record<string, Dialect>> = Object.fromEntries(
  Dialect.options.flatMap((dialect) => [dialect, ...DIALECTS[dialect].alsoCalled].map((name) => [name, dialect])),
);

const Text = z.string().trim().min(1, 'must not be empty');
const OptionalText = z
  .string()
  .nullish()
  .transform((text) => (text === undefined || text === null || text.trim() === '' ? null : text));

const Id = z.union([Text, z.number().transform(String)]).nullish();

const Line = z.object({
  id: Id,
  question: Text,
  engine: z
    .string()
    .toLowerCase()
    .refine((name) => name in ENGINES, `must be one of ${Dialect.options.join(', ')}`)
    .nullish(),
  database: OptionalText,
  after: Id,
  context: OptionalText,
  instructions: OptionalText,
  gold_sql: z.union([z.string(), z.array(z.string())], 'must be a string or a list of strings').nullish(),
  gold_answer: z
    .union([z.string(), z.array(z.array(z.union([z.string(), z.number(), z.boolean(), z.null()])))])
    .nullish(),
  gold_text: OptionalText,
  answerable: z.boolean().nullish(),
  abstain_instruction: OptionalText,
  hidden_knowledge: OptionalText,
  category: OptionalText,
  /** Some publishers use words, some numbers from 1 to 5. */
  difficulty: z
    .union([z.string(), z.number().transform(String)], 'must be a text or a number')
    .nullish()
    .transform((value) => value ?? null),
});
type Line = z.infer<typeof Line>;

export async function loadQuestions(path: string, options: LoadOptions = {}): Promise<BenchmarkItem[]> {
  const items: BenchmarkItem[] = [];
  const seen = new Map<string, number>();
  for (const { number, value } of await objectsIn(path)) {
    const item = toItem(parseLine(value, path, number), path, number, options);
    const before = seen.get(item.id);
    if (before !== undefined) throw at(path, number, `id: "${item.id}" is already used on line ${before}`);
    seen.set(item.id, number);
    items.push(item);
  }
  if (items.length === 0) throw new QuestionFileError(`${path} holds no questions: it needs one JSON object a line`);
  checkChains(items, (id, problem) => at(path, seen.get(id) ?? 0, `after: ${problem}`));
  return items;
}

function checkChains(items: readonly BenchmarkItem[], wrong: (id: string, problem: string) => QuestionFileError): void {
  const chains = chainsOf(items);
  for (const item of items) {
    const { id, after, database } = item;
    if (after === undefined) continue;
    const chain = chains(item);
    const [parent] = chain;
    if (parent === undefined && !SEARCH_ID.test(after))
      throw wrong(id, `"${after}" is neither a question of the file nor the id of a stored search (q-…)`);
    if (chain.includes(item))
      throw wrong(id, `"${id}" follows itself, by way of ${chain.map((each) => each.id).join(', ')}`);
    if (parent !== undefined && parent.database !== database)
      throw wrong(
        id,
        `"${after}" asks ${named(parent)} and this question ${named(item)}: a question follows one on the same database`,
      );
  }
}

const named = ({ database }: BenchmarkItem): string =>
  database === null ? 'a database without a name' : `the database ${database}`;

/** The questions among them that one follows, the nearest first. */
export function chainsOf(items: readonly BenchmarkItem[]): (item: BenchmarkItem) => readonly BenchmarkItem[] {
  const byId = new Map(items.map((item) => [item.id, item]));
  const parentOf = ({ after }: BenchmarkItem): BenchmarkItem | undefined =>
    after === undefined ? undefined : byId.get(after);
  return (item) => {
    const chain = new Set<BenchmarkItem>();
    for (let at = parentOf(item); at !== undefined && !chain.has(at); at = parentOf(at)) chain.add(at);
    return [...chain];
  };
}

interface Numbered {
  readonly number: number;
  readonly value: unknown;
}

/** The objects of a JSONL file, or the rows of a CSV file by the names in its first line, with the numbers of their lines. */
export async function objectsIn(path: string): Promise<Numbered[]> {
  const text = (await contentOf(path)).replace(/^\ufeff/, '');
  if (extname(path).toLowerCase() === '.csv') return csvObjects(text, path);
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    try {
      return [{ number: index + 1, value: JSON.parse(line) as unknown }];
    } catch (error) {
      throw at(path, index + 1, 'not a JSON object (a JSONL file has one object a line)', error);
    }
  });
}

/** An empty cell is no value. */
function csvObjects(text: string, path: string): Numbered[] {
  const valueOf = (name: string, cell: string): string | boolean | null => {
    if (cell === '') return null;
    return name === 'answerable' && /^(?:true|false)$/i.test(cell) ? cell.toLowerCase() === 'true' : cell;
  };
  try {
    // The types of csv-parse leave out what `info` adds.
    const rows = parse(text, { columns: true, skip_empty_lines: true, info: true }) as unknown as {
      readonly info: { readonly lines: number };
      readonly record: Readonly<Record<string, string>>;
    }[];
    return rows.map(({ info, record }) => ({
      number: info.lines,
      value: Object.fromEntries(Object.entries(record).map(([name, cell]) => [name, valueOf(name, cell)])),
    }));
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw at(path, Number(error['lines'] ?? 1), error.message, error);
  }
}

/** The words in which a solver is told what the benchmark knows beside the question. */
export function knownText(knowledge: string): string {
  return `Known about this database: ${knowledge}`;
}

function toItem(line: Line, path: string, number: number, options: LoadOptions): BenchmarkItem {
  const instructions = [
    line.instructions,
    options.hiddenKnowledge && line.hidden_knowledge !== null ? knownText(line.hidden_knowledge) : null,
  ].filter((text) => text !== null);
  const instructed = instructions.length === 0 ? null : instructions.join('\n\n');
  const problem = questionProblem(line.question) ?? contextProblem(line.context, instructed);
  if (problem !== null) throw at(path, number, problem);
  return {
    id: line.id ?? `line-${number}`,
    question: line.question,
    context: line.context,
    instructions: instructed,
    engine: line.engine ? (ENGINES[line.engine] ?? null) : null,
    database: line.database,
    after: line.after ?? undefined,
    gold: toGold(line, path, number),
  };
}

/** True if an answer to it can be scored; for a judge the right answer in words is enough. */
export function hasGold({ gold }: BenchmarkItem, isJudged: boolean): boolean {
  if (gold === null) return false;
  return !gold.answerable || gold.answer !== null || gold.sql.length > 0 || (isJudged && gold.text !== null);
}

function toGold(line: Line, path: string, number: number): Gold | null {
  const listed = typeof line.gold_sql === 'string' ? [line.gold_sql] : (line.gold_sql ?? []);
  // EHRSQL's own files write the text "null" for a question that cannot be answered.
  const saysNull = listed.length === 1 && listed[0]?.trim().toLowerCase() === 'null';
  const sql = saysNull ? [] : listed.filter((text) => text.trim() !== '');
  const answer = toAnswer(line.gold_answer, path, number);
  const text = line.gold_text;
  const known =
    line.answerable ?? (saysNull ? false : sql.length > 0 || answer !== null || text !== null ? true : null);
  if (known === null) return null;
  if (!known && sql.length > 0) throw at(path, number, 'answerable: is false although gold_sql holds a query');
  const { category, difficulty } = line;
  const abstainText = abstainTextOf(line.abstain_instruction);
  return { sql, answer, text, answerable: known, abstainText, category, difficulty };
}

function toAnswer(given: Line['gold_answer'], path: string, number: number): readonly Row[] | null {
  if (given === null || given === undefined) return null;
  if (typeof given !== 'string') return given;
  if (['', 'null'].includes(given.trim().toLowerCase())) return null;
  try {
    return parseRows(given);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw at(path, number, `gold_answer: not a list of rows, ${error.message}`, error);
  }
}

/** The string literal of the query that an abstain instruction demands. The query itself may be in quotes. */
function abstainTextOf(instruction: string | null): string | null {
  const found = instruction === null ? null : /select\s+'((?:[^']|'')*)'/i.exec(instruction);
  return found?.[1]?.replaceAll("''", "'") ?? null;
}

async function contentOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const code = (error as { readonly code?: string }).code ?? '';
    const why = { ENOENT: 'it does not exist', EISDIR: 'it is a folder', EACCES: 'no permission' }[code] ?? code;
    throw new QuestionFileError(`${path} cannot be read (${why}): give a file of JSONL or CSV`, { cause: error });
  }
}

function parseLine(value: unknown, path: string, number: number): Line {
  const parsed = Line.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const field = issue?.path.join('.') ?? '';
  const missing = issue?.code === 'invalid_type' && issue.path.length === 1 && !hasField(value, field);
  const what = missing ? 'is missing' : (issue?.message ?? 'is invalid');
  throw at(path, number, field === '' ? 'not a JSON object (a JSONL file has one object a line)' : `${field}: ${what}`);
}

function hasField(value: unknown, field: string): boolean {
  return typeof value === 'object' && value !== null && field in value;
}

function at(path: string, line: number, problem: string, cause?: unknown): QuestionFileError {
  return new QuestionFileError(`${path}, line ${line}: ${problem}`, { cause });
}
