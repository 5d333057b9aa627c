/**
 * `gate-bench submit`: writes the stored answers of a batch in a benchmark's format. Nothing is asked again.
 *
 * 1. Every question of the benchmark has a place. Abstentions and failures are told apart in the manifest alone.
 * 2. SQL with a literal of unknown origin is not submitted (`literal-origins.ts`): all such questions are named,
 *    and nothing is written until a person has looked at each (`--allow-literals`).
 */
import { createWriteStream, existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import * as z from 'zod';
import { loadQuestions, type BenchmarkItem, type ResultLine } from '../src/questions';
import { BenchmarkDataError, type Benchmark, type Prediction } from './benchmark';
import { someOf } from '../src/counted';
import { originsOf, unknownLiterals } from './literal-origins';
import { Settings, type AnswerRecord, type Dialect, type SearchInput } from '../src/domain';
import { canonical } from '../src/domain/canonical';
import { each } from '../src/limiter';
import type { ObjectStore } from '../src/domain/ports';
import { createRunStore } from '../src/record/run-store';
import { SCHEMA_ID } from '../src/record/contents';
import { counted } from '../src/report/printable';
import { sha256, sha256OfFile } from '../src/sha256';
import { packageVersion } from '../src/workers/package-folder';
import { promptHashes } from '../src/app/run/run-report';
import { benchmarkOf } from './score';
import { withoutComments } from '../src/sql/lexer';
import { resultsIn, summaryIn } from '../src/app/run/results';
import { GateError, UsageError } from '../src/app/errors';
import { AlreadyTold, EXIT, type ExitCode } from '../src/cli/exit';
import type { Io } from '../src/cli/io';
import { inputOf, openServices, recordOf } from '../src/app/services';
import { findBatch, namesBatch, resultFolder, storedBatch } from '../src/app/run/stored-batches';

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

/** The stored answer to a question of the benchmark; null: the batch has none. */
interface Answered {
  readonly item: BenchmarkItem;
  readonly record: AnswerRecord | null;
  readonly input: SearchInput | null;
  /** In which it was asked. */
  readonly dialect: Dialect;
}

export async function runSubmit(given: string, flags: SubmitFlags, io: Io): Promise<ExitCode> {
  const { store } = openServices(io);
  const folder = await folderOf(store, given, io.cwd);
  const { benchmark, items, split } = await questionsFor(flags, folder, given, io);
  const allowed = new Set((flags.allowLiterals ?? []).flatMap((ids) => ids.split(',')).map((id) => id.trim()));
  const strange = [...allowed].filter((id) => !items.some((item) => item.id === id));
  if (strange.length > 0) throw new UsageError(`--allow-literals: no question ${strange.join(', ')}`);
  const answered = await answersOf(store, resultsIn(folder, given), items, given);
  if (!flags.rows) refuseOtherEngines(answered, benchmark.name);
  const suspects = flags.rows ? [] : await suspectsIn(store, answered);
  const refused = suspects.filter(({ id }) => !allowed.has(id));
  if (refused.length > 0) throw refusal(refused, flags, io);
  const predictions = new Map(answered.map((one) => [one.item.id, predictionOf(one, flags)]));
  const to = resolve(io.cwd, flags.out ?? join(`submission-${flags.format}`, benchmark.format.file ?? ''));
  const written = [...(await benchmark.format.write(to, items, predictions))];
  if (benchmark.name === 'ehrsql2024') written.push(await zipped(written[0] ?? to));
  const manifestFile = `${to}.manifest.json`;
  const { file: _, batchId = null } = summaryIn(folder);
  const manifest: Submission = {
    schemaVersion: 1,
    ...{ benchmark: benchmark.name, source: benchmark.source, split, batch: batchId },
    ...(await manifestOf(manifestFile, answered, predictions, written)),
    // Rows are not looked through.
    literals: flags.rows ? null : suspects,
  };
  await writeFile(manifestFile, `${JSON.stringify(manifest, null, 2)}\n`);
  io.out(
    flags.json ? `${JSON.stringify(manifest, null, 2)}\n` : `${written.slice(0, 20).join('\n')}\n${manifestFile}\n`,
  );
  const { abstained, failed, notAnswered } = manifest;
  io.err(
    `${counted(items.length, 'question')}: ${manifest.answered} answered, ${abstained.length} abstained, ${failed.length} failed, ${notAnswered.length} without an answer\n`,
  );
  return EXIT.ok;
}

/** The folder of results that was given, or that of the batch. */
async function folderOf(store: ObjectStore, given: string, cwd: string): Promise<string> {
  const folder = resolve(cwd, given);
  if (existsSync(folder)) return folder;
  if (!namesBatch(given))
    throw new UsageError(
      `'${given}' is no folder and no batch id; give b-…, last, or the --out folder of gate batch run`,
    );
  const out = resultFolder(await storedBatch(store, await findBatch(store, given)));
  if (out !== null) return out;
  throw new UsageError(`the results of ${given} are not on this machine: give the --out folder of gate batch run`);
}

interface Questions {
  readonly benchmark: Benchmark;
  readonly items: readonly BenchmarkItem[];
  readonly split: string | null;
}

async function questionsFor(flags: SubmitFlags, folder: string, given: string, io: Io): Promise<Questions> {
  const benchmark = await benchmarkOf(flags.format);
  if (flags.data !== undefined) {
    const { split = benchmark.splits[0] ?? '', seed } = flags;
    return { benchmark, split, items: (await benchmark.open(resolve(io.cwd, flags.data), { split, seed })).items };
  }
  if (flags.split !== undefined) throw new UsageError('--split is of the folder of a benchmark: give it with --data');
  const { file } = summaryIn(folder);
  if (file === undefined)
    throw new UsageError(
      `give the folder of ${flags.format} with --data: ${given} does not say which questions it has`,
    );
  return { benchmark, split: null, items: await loadQuestions(resolve(io.cwd, file)) };
}

/** The answer to each question, found by its id, else by its words and database. */
async function answersOf(
  store: ObjectStore,
  lines: readonly ResultLine[],
  items: readonly BenchmarkItem[],
  given: string,
): Promise<Answered[]> {
  const answered = await each(items, async (item): Promise<Answered> => {
    const same = lines.filter(({ question }) => question === item.question);
    const own = same.filter(({ id }) => id === item.id);
    const named = same.filter(({ database }) => database === item.database);
    const fitting = [own, named, same].find((some) => some.length > 0) ?? [];
    const [id, ...others] = new Set(fitting.map(({ searchId }) => searchId));
    if (others.length > 0)
      throw new UsageError(`${given} has several answers to question ${item.id}: give the --out folder of one batch`);
    if (id === undefined) return { item, record: null, input: null, dialect: 'sqlite' };
    const [record, input] = await Promise.all([recordOf(store, id), inputOf(store, id)]);
    const schema = await createRunStore(store, id).find('schema', SCHEMA_ID);
    return { item, record, input, dialect: schema?.description.dialect ?? item.engine ?? 'sqlite' };
  });
  if (lines.length === 0 || answered.some(({ input }) => input !== null)) return answered;
  if ((await each(lines, ({ searchId }) => inputOf(store, searchId))).every((input) => input === null))
    throw new GateError(`the store has none of the searches of ${given}: use the store that it was run with`);
  throw new UsageError(`none of the questions of ${given} is one of these ${items.length}: check --data and --split`);
}

type Suspect = NonNullable<Submission['literals']>[number];

function refuseOtherEngines(answered: readonly Answered[], benchmark: string): void {
  const other = answered.filter(
    ({ item, record, dialect }) => record !== null && item.engine !== null && dialect !== item.engine,
  );
  const [first] = other;
  if (first !== undefined)
    throw new UsageError(
      `${someOf(other.map(({ item }) => item.id))}: asked of ${first.dialect}, and ${benchmark} runs ${first.item.engine ?? ''} there`,
    );
}

async function suspectsIn(store: ObjectStore, answered: readonly Answered[]): Promise<Suspect[]> {
  const found = await each(answered, async ({ item, record, input, dialect }): Promise<Suspect[]> => {
    if (record?.status !== 'answered' || record.sql === null) return [];
    if (input === null)
      throw new GateError(`${record.id} has no input in the store, so the origin of its literals is unknown`);
    const literals = unknownLiterals(record.sql, dialect, await originsOf(store, { record, input }));
    return literals.length === 0 ? [] : [{ id: item.id, literals: [...literals] }];
  });
  return found.flat();
}

function refusal(refused: readonly Suspect[], flags: SubmitFlags, io: Io): Error {
  if (flags.json) io.out(`${JSON.stringify({ schemaVersion: 1, refused }, null, 2)}\n`);
  for (const { id, literals } of refused)
    io.err(
      `gate-bench: question ${id}: ${literals.join(', ')} in its SQL ${literals.length === 1 ? 'comes' : 'come'} from neither the question nor a probe\n`,
    );
  const ids = refused.map(({ id }) => id).join(',');
  io.err(`gate-bench: nothing was written; look at these, then say --allow-literals ${ids}\n`);
  return new AlreadyTold('failed');
}

function predictionOf({ item, record, dialect }: Answered, { rows }: SubmitFlags): Prediction {
  if (record?.status === 'unanswerable' || record?.status === 'abstained') return { kind: 'abstained' };
  if (record?.status !== 'answered' || record.sql === null) return { kind: 'none' };
  if (!rows) {
    const sql = withoutComments(record.sql, dialect);
    return sql === '' ? { kind: 'none' } : { kind: 'sql', statements: [sql] };
  }
  if (record.truncated)
    throw new BenchmarkDataError(`question ${item.id}: only the first rows of its result are stored; submit SQL`);
  return { kind: 'rows', columns: record.columns.map(({ name }) => name), rows: record.rows };
}

/** `predictions.zip` with `prediction.json` alone, as Codabench takes it. */
async function zipped(file: string): Promise<string> {
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
      }),
    )
    .nullable()
    .describe('of unknown origin, which a person has looked at (--allow-literals); null: these are rows'),
});
export type Submission = z.infer<typeof Submission>;

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
