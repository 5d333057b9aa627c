/**
 * `gate-bench submit`: takes the stored answers of a batch, writes them in a benchmark's format, and has the format check
 * them. Nothing is asked again.
 *
 * 1. Every question of the benchmark has a place. Abstentions and failures are told apart in the manifest alone.
 * 2. SQL with a literal of unknown origin is not submitted (`literal-origins.ts`): all such questions are named,
 *    and nothing is written until a person has looked at each (`--allow-literals`).
 */
import { createWriteStream, existsSync, statSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { loadQuestions, type BenchmarkItem } from '../src/questions';
import { BenchmarkDataError, type Benchmark, type Prediction } from './benchmark';
import { someOf } from '../src/counted';
import { unknownLiterals } from './literal-origins';
import { Settings, type AnswerRecord, type Dialect, type SearchInput } from '../src/domain';
import { canonical } from '../src/domain/canonical';
import { each } from '../src/limiter';
import type { ObjectStore } from '../src/domain/ports';
import { createRunStore } from '../src/record/run-store';
import { SCHEMA_ID } from '../src/record/contents';
import { seenValues } from './seen-values';
import { counted } from '../src/report/printable';
import { sha256OfFile } from '../src/sha256';
import { packageVersion } from '../src/workers/package-folder';
import { promptHashes } from '../src/app/run/run-report';
import { benchmarkOf } from './score';
import { withoutComments } from '../src/sql/lexer';
import { resultsIn, summaryIn } from '../src/app/run/results';
import { GateError, UsageError } from '../src/app/errors';
import { AlreadyTold, EXIT, type ExitCode } from '../src/cli/exit';
import type { Io } from '../src/cli/io';
import { inputOf, openServices, recordOf, sha256 } from '../src/app/services';
import { findBatch, namesBatch, searchesOfBatch } from '../src/app/run/stored-batches';

export interface SubmitFlags {
  readonly format: string;
  readonly data?: string;
  readonly split?: string;
  readonly seed: number;
  readonly out?: string;
  readonly rows?: boolean;
  readonly allowLiterals?: readonly string[];
  readonly json?: boolean;
}

interface Entry {
  /** The question's id in the file of the batch; null: only the store is known. */
  readonly id: string | null;
  readonly searchId: string;
}

export async function runSubmit(given: string, flags: SubmitFlags, io: Io): Promise<ExitCode> {
  const { store } = openServices(io);
  const { entries, batch, file } = await batchOf(store, given, io.cwd);
  const { benchmark, items, split } = await questionsFor(flags, file, given, io);
  const answered = await answersOf(store, entries, items, given);
  const allowed = new Set((flags.allowLiterals ?? []).flatMap((ids) => ids.split(',')).map((id) => id.trim()));
  const known = new Set(items.map(({ id }) => id));
  const strange = [...allowed].filter((id) => !known.has(id));
  if (strange.length > 0) throw new UsageError(`--allow-literals: no question ${strange.join(', ')}`);
  const dialects = await dialectsOf(store, answered);
  if (!flags.rows) refuseOtherEngines(answered, dialects, benchmark.name);
  const suspects = flags.rows ? [] : await suspectsIn(store, answered, dialects);
  const refused = suspects.filter(({ id }) => !allowed.has(id));
  if (refused.length > 0) throw refusal(refused, flags, io);
  const predictions = new Map(
    answered.map(({ item, record }) => [item.id, predictionOf(item, record, dialects, flags)]),
  );
  const { file: name } = benchmark.format;
  const to = resolve(io.cwd, flags.out ?? join(`submission-${flags.format}`, name ?? ''));
  const manifestFile = `${to}.manifest.json`;
  const written = [...(await benchmark.format.write(to, items, predictions))];
  const [first = to] = written;
  const problems = [...(await benchmark.format.check(name === null ? to : first, items))];
  if (benchmark.name === 'ehrsql2024') written.push(await zipped(first));
  const manifest: Submission = {
    schemaVersion: 1,
    ...{ benchmark: benchmark.name, source: benchmark.source, split, batch },
    ...(await manifestOf(manifestFile, answered, predictions, written)),
    // Rows are not looked through.
    literals: flags.rows ? null : suspects,
    problems,
  };
  await writeFile(manifestFile, `${JSON.stringify(manifest, null, 2)}\n`);
  io.out(
    flags.json ? `${JSON.stringify(manifest, null, 2)}\n` : `${written.slice(0, 20).join('\n')}\n${manifestFile}\n`,
  );
  const { abstained, failed, notAnswered } = manifest;
  io.err(
    `${counted(items.length, 'question')}: ${manifest.answered} answered, ${abstained.length} abstained, ${failed.length} failed, ${notAnswered.length} without an answer\n`,
  );
  for (const problem of problems) io.err(`gate-bench: the official checker would refuse it: ${problem}\n`);
  return problems.length === 0 ? EXIT.ok : EXIT.failed;
}

async function batchOf(
  store: ObjectStore,
  given: string,
  cwd: string,
): Promise<{ readonly entries: readonly Entry[]; readonly batch: string | null; readonly file: string | null }> {
  const folder = resolve(cwd, given);
  if (existsSync(folder) && statSync(folder).isDirectory()) {
    const entries = resultsIn(folder, given).map(({ id, searchId }) => ({ id, searchId }));
    const { batchId = null, file = null } = summaryIn(folder);
    return { entries, batch: batchId, file };
  }
  if (!namesBatch(given))
    throw new UsageError(
      `'${given}' is no folder and no batch id; give b-…, last, or the --out folder of gate batch run`,
    );
  const { id } = await findBatch(store, given);
  const entries = (await searchesOfBatch(store, id)).map((searchId) => ({ id: null, searchId }));
  return { entries, batch: id, file: null };
}

interface Questions {
  readonly benchmark: Benchmark;
  readonly items: readonly BenchmarkItem[];
  readonly split: string | null;
}

async function questionsFor(flags: SubmitFlags, file: string | null, given: string, io: Io): Promise<Questions> {
  const benchmark = await benchmarkOf(flags.format);
  if (flags.data !== undefined) {
    const { split = benchmark.splits[0] ?? '', seed } = flags;
    return { benchmark, split, items: (await benchmark.open(resolve(io.cwd, flags.data), { split, seed })).items };
  }
  if (flags.split !== undefined) throw new UsageError('--split is of the folder of a benchmark: give it with --data');
  if (file === null)
    throw new UsageError(
      `give the folder of ${flags.format} with --data: ${given} does not say which questions it has`,
    );
  return { benchmark, split: null, items: await loadQuestions(resolve(io.cwd, file)) };
}

/** The answer to each question, found by its id, or by its words, context and database. */
async function answersOf(
  store: ObjectStore,
  entries: readonly Entry[],
  items: readonly BenchmarkItem[],
  given: string,
): Promise<Answered[]> {
  const found = await each(entries, async (entry) => {
    const [record, input] = await Promise.all([recordOf(store, entry.searchId), inputOf(store, entry.searchId)]);
    return { ...entry, record, input, asked: input?.question.text ?? record?.question ?? null };
  });
  if (found.every(({ asked }) => asked === null))
    throw new GateError(`the store has none of the searches of ${given}: use the store that it was run with`);
  const byId = new Map(found.flatMap((one) => (one.id === null ? [] : [[one.id, one] as const])));
  const used = new Set<string>();
  const answered = items.map((item): Answered => {
    const same = (one: (typeof found)[number]): boolean => one.asked === item.question;
    const own = byId.get(item.id);
    const alike = own !== undefined && (own.asked === null || same(own)) ? [own] : found.filter(same);
    const fitting = alike.filter(({ input }) => input === null || input.question.context === item.context);
    const named = fitting.filter(
      ({ input, record }) => (input?.question.database ?? record?.database) === item.database,
    );
    const [one, second] = new Set(fitting.map(({ searchId }) => searchId)).size > 1 ? named : fitting;
    if (second !== undefined && second.searchId !== one?.searchId)
      throw new UsageError(`${given} has several answers to question ${item.id}: give the --out folder of one batch`);
    if (one === undefined) return { item, record: null, input: null };
    used.add(one.searchId);
    return { item, record: one.record, input: one.input };
  });
  if (used.size > 0 || entries.length === 0) return answered;
  throw new UsageError(`none of the questions of ${given} is one of these ${items.length}: check --data and --split`);
}

type Suspect = NonNullable<Submission['literals']>[number];

/** The dialect in which each answered question was asked, by its id. */
async function dialectsOf(store: ObjectStore, answered: readonly Answered[]): Promise<ReadonlyMap<string, Dialect>> {
  const found = await each(answered, async ({ item, record }) => {
    const run = record === null ? null : createRunStore(store, record.id, sha256);
    const schema = await run?.find('schema', SCHEMA_ID);
    return [item.id, schema?.description.dialect ?? item.engine ?? 'sqlite'] as const;
  });
  return new Map(found);
}

function refuseOtherEngines(
  answered: readonly Answered[],
  dialects: ReadonlyMap<string, Dialect>,
  benchmark: string,
): void {
  const other = answered.filter(
    ({ item, record }) => record !== null && item.engine !== null && dialects.get(item.id) !== item.engine,
  );
  const [first] = other;
  if (first !== undefined)
    throw new UsageError(
      `${someOf(other.map(({ item }) => item.id))}: asked of ${dialects.get(first.item.id) ?? ''}, and ${benchmark} runs ${first.item.engine ?? ''} there`,
    );
}

async function suspectsIn(
  store: ObjectStore,
  answered: readonly Answered[],
  dialects: ReadonlyMap<string, Dialect>,
): Promise<Suspect[]> {
  const found = await each(answered, async ({ item, record, input }): Promise<Suspect[]> => {
    if (record?.status !== 'answered' || record.sql === null) return [];
    if (input === null)
      throw new GateError(`${record.id} has no input in the store, so the origin of its literals is unknown`);
    const origins = await seenValues(store, { record, input }, sha256);
    const unknown = unknownLiterals(record.sql, dialects.get(item.id) ?? 'sqlite', origins);
    return unknown.literals.length === 0 ? [] : [{ id: item.id, ...unknown, literals: [...unknown.literals] }];
  });
  return found.flat();
}

function refusal(refused: readonly Suspect[], flags: SubmitFlags, io: Io): Error {
  if (flags.json) io.out(`${JSON.stringify({ schemaVersion: 1, refused }, null, 2)}\n`);
  for (const { id, literals, unparsed } of refused)
    io.err(
      `gate-bench: question ${id}: ${literals.join(', ')} in its SQL ${literals.length === 1 ? 'comes' : 'come'} from neither the question nor a probe${unparsed ? ' (the SQL could not be parsed)' : ''}\n`,
    );
  const ids = refused.map(({ id }) => id).join(',');
  io.err(`gate-bench: nothing was written; look at these, then say --allow-literals ${ids}\n`);
  return new AlreadyTold('failed');
}

function predictionOf(
  item: BenchmarkItem,
  record: AnswerRecord | null,
  dialects: ReadonlyMap<string, Dialect>,
  { rows }: SubmitFlags,
): Prediction {
  if (record === null) return { kind: 'none' };
  if (record.status === 'unanswerable' || record.status === 'abstained') return { kind: 'abstained' };
  if (record.status !== 'answered' || record.sql === null) return { kind: 'none' };
  if (!rows) {
    const sql = withoutComments(record.sql, dialects.get(item.id) ?? 'sqlite');
    return sql === '' ? { kind: 'none' } : { kind: 'sql', statements: [sql] };
  }
  if (record.truncated)
    throw new BenchmarkDataError(`question ${item.id}: only the first rows of its result are stored; submit SQL`);
  return { kind: 'rows', columns: record.columns.map(({ name }) => name), rows: record.rows };
}

/** `predictions.zip` with `prediction.json` alone, as Codabench takes it. */
async function zipped(file: string): Promise<string> {
  const { ZipFile } = await import('yazl');
  const path = join(dirname(file), 'predictions.zip');
  const zip = new ZipFile();
  zip.addBuffer(await readFile(file), 'prediction.json');
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(path));
  return path;
}

const Ids = z.array(z.string());

/** Its JSON schema is `docs/schemas/submission.schema.json`. */
export const Submission = z.object({
  schemaVersion: z.literal(1),
  benchmark: z.string(),
  source: z.string().describe('whose rules decide: its code and commit'),
  split: z.string().nullable().describe("null: the questions are those of the batch's own file"),
  batch: z.string().nullable().describe('id of the batch; null: its folder does not say'),
  gate: z.string().nullable().describe('version; null: not known'),
  method: Settings.shape.method.nullable().describe('of the first settings; null: no question has any'),
  models: Settings.shape.models.nullable().describe('of the first settings, by role'),
  settings: z.array(Settings).describe('all with which the questions were answered'),
  prompts: z.record(z.string(), z.string()).describe('SHA-256 of each file of prompts of this version, as it is built'),
  candidates: z.object({
    mean: z.number().nullable().describe('null: no question was answered'),
    most: z.number().int(),
    selfConsistency: z.string().describe("as BIRD's board asks: none, few, many or scale"),
    perQuestion: z.record(z.string(), z.number().int()),
  }),
  data: z.string().describe('SHA-256 of the ids, words and databases of all questions'),
  files: z.array(z.object({ file: z.string().describe('from the folder of this one'), sha256: z.string() })),
  questions: z.number().int(),
  answered: z.number().int(),
  abstained: Ids.describe('said to have no answer'),
  failed: Ids.describe('asked, and without a prediction'),
  notAnswered: Ids.describe('the batch has no answer to them'),
  literals: z
    .array(
      z.object({
        id: z.string(),
        literals: z.array(z.string()),
        unparsed: z.boolean().describe('the SQL could not be parsed: every string and number of it had to be known'),
      }),
    )
    .nullable()
    .describe('of unknown origin, which a person has looked at (--allow-literals); null: these are rows'),
  problems: z.array(z.string()).describe('for which the official checker would refuse the files'),
});
export type Submission = z.infer<typeof Submission>;

interface Answered {
  readonly item: BenchmarkItem;
  readonly record: AnswerRecord | null;
  readonly input: SearchInput | null;
}

/** `gate` and `prompts` are of the version that writes the file. Counts are those of the file, whatever a search was called. */
async function manifestOf(
  path: string,
  answered: readonly Answered[],
  predictions: ReadonlyMap<string, Prediction>,
  written: readonly string[],
) {
  const idsOf = (kinds: readonly Prediction['kind'][], hasRecord = true): string[] =>
    answered.flatMap(({ item: { id }, record }) =>
      kinds.includes(predictions.get(id)?.kind ?? 'none') && (record !== null) === hasRecord ? [id] : [],
    );
  return {
    gate: packageVersion(),
    ...methodOf(answered),
    prompts: promptHashes(),
    candidates: candidatesOf(answered),
    data: sha256(canonical(answered.map(({ item: { id, question, database } }) => ({ id, question, database })))),
    files: await each(written, async (file) => ({
      file: relative(dirname(path), file),
      sha256: await sha256OfFile(file),
    })),
    questions: answered.length,
    answered: idsOf(['sql', 'rows']).length,
    abstained: idsOf(['abstained']),
    failed: idsOf(['none']),
    notAnswered: idsOf(['none'], false),
  };
}

function methodOf(answered: readonly Answered[]) {
  const settings = new Map(
    answered.flatMap(({ input }) => (input === null ? [] : [[canonical(input.settings), input.settings] as const])),
  );
  const [first] = settings.values();
  return {
    method: first?.method ?? null,
    models: first?.models ?? null,
    // All with which the questions were answered.
    settings: [...settings.values()],
  };
}

/** The number of candidates of each question, as BIRD's board asks for it. */
function candidatesOf(answered: readonly Answered[]) {
  const counts = answered.flatMap(({ item, record }) =>
    record === null ? [] : [[item.id, record.candidates.length] as const],
  );
  const numbers = counts.map(([, count]) => count);
  const most = Math.max(0, ...numbers);
  return {
    mean: numbers.length === 0 ? null : numbers.reduce((sum, count) => sum + count, 0) / numbers.length,
    most,
    selfConsistency: most <= 1 ? 'none' : most <= 7 ? 'few (1–7)' : most <= 32 ? 'many (8–32)' : 'scale (more than 32)',
    perQuestion: Object.fromEntries(counts),
  };
}
