/**
 * What `gate compare` does: one durable batch for each method and seed, one after the other, all with the same questions,
 * databases, models, limits and meter; then what they came to, side by side.
 *
 * 1. The batches have the ids that `gate batch run` gives them: an interrupted comparison goes on where it was, and one done
 *    before costs nothing.
 * 2. All that is wrong with the command line is said before anything starts.
 * 3. Seeds take turns before methods do, so that what a comparison has when it is interrupted is balanced.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { BenchmarkItem, ComparedAnswer, Comparison, Entrant } from '../benchmarks';
import { parseMethodSpec, type MethodSpec } from '../config/method-specs';
import { isConclusive, type AnswerRecord } from '../domain';
import type { JudgeMode } from '../domain/judge-modes';
import { contextProblem } from '../input-limits';
import { each } from '../limiter';
import { counted } from '../report/printable';
import { provedShare } from '../text/answer-text';
import { compose, type Composition } from '../workers/composition';
import { askedDatabase, questionText } from './ask-input';
import type { Asking } from './ask-start';
import { batchDatabases, type BatchDatabases } from './batch-databases';
import { checkedDatabases, estimateOf, estimateText, type BatchEstimate } from './batch-estimate';
import { batchName, selectItems, type Batch, type BatchFlags } from './batch-plan';
import { ResultFile, type ResultLine } from './batch-results';
import { BatchRun, plannedBatch, questionsOf } from './batch-run';
import { answersTold, fileTold } from './compare-told';
import { EXIT, UsageError, type ExitCode } from './errors';
import { holdInterrupts } from './interrupts';
import type { Io } from './io';
import type { LimitFlags, ModelFlags } from './options';
import { openServices, recordOf, sha256, type Services } from './services';
import { openTemporal } from './temporal-session';

export interface CompareFlags extends LimitFlags {
  readonly methods: string;
  readonly questions?: string;
  readonly seeds: number;
  readonly db?: readonly string[];
  readonly context?: string;
  readonly instructions?: string;
  readonly model?: ModelFlags;
  readonly maxTotalCost?: number;
  readonly concurrency: number;
  readonly limit?: number;
  readonly ids?: readonly string[];
  readonly knowledge?: boolean;
  readonly docs?: readonly string[] | false;
  readonly judge?: JudgeMode;
  readonly judgeModel?: string;
  readonly dryRun?: boolean;
  readonly name?: string;
  readonly fresh?: boolean;
  readonly json?: boolean;
  readonly csv?: string;
  readonly html?: string;
  readonly record?: string;
  readonly replay?: string;
  readonly debug?: boolean;
}

/** One method with one seed. */
interface Arm {
  readonly spec: MethodSpec;
  readonly seed: number;
  readonly flags: BatchFlags;
  readonly batch: Batch;
}

/** What is asked, of which databases. */
interface Asked {
  readonly name: string;
  readonly items: readonly BenchmarkItem[];
  readonly databases: BatchDatabases;
  readonly output: BatchFlags['output'];
}

export async function runCompare(words: string, flags: CompareFlags, io: Io): Promise<ExitCode> {
  const specs = specsOf(flags.methods);
  const services = openServices(io);
  const asked =
    flags.questions === undefined
      ? await oneQuestion(services, words, flags, io)
      : await fileOf(services, flags.questions, words, flags, io);
  for (const path of [flags.csv, flags.html])
    if (path !== undefined && !existsSync(dirname(resolve(io.cwd, path))))
      throw new UsageError(`${path}: there is no such folder; create it, or give another file`);
  if (flags.judgeModel !== undefined && flags.judge === undefined)
    throw new UsageError('--judge-model: nothing is judged; add --judge two-pass or --judge single');
  const files = await recordingOf(flags, io);
  const at: Comparing = { services, asked, flags, files, io };
  const arms = await armsOf(at, specs);
  if (flags.dryRun) return await estimated(at, arms);
  const ran = await runArms(at, arms);
  const { run, judge } = await judgedRun(at, ran);
  const entrants = specs.map(({ spec }): Entrant => {
    const settings = arms.find((arm) => arm.spec.spec === spec)?.batch.settings;
    if (settings === undefined) throw new TypeError(`no arm of ${spec}`);
    return { method: spec, name: settings.method, preset: settings.preset, models: settings.models };
  });
  const told = { flags, io, entrants, answers: run.answers };
  if (flags.questions === undefined)
    answersTold({
      ...told,
      question: asked.items[0]?.question ?? '',
      database: arms[0]?.batch.questions[0]?.database.name ?? '',
      records: run.records,
    });
  else fileTold({ ...told, ...(judge && { judge }), file: flags.questions, questions: asked.items.length });
  return ending(run, asked.items.length * arms.length, flags, io);
}

function specsOf(methods: string): MethodSpec[] {
  const specs = methods.split(',').map((text) => parseMethodSpec(text));
  const twice = specs.find(({ spec }, at) => specs.findIndex((other) => other.spec === spec) < at);
  if (twice !== undefined) throw new UsageError(`--methods: ${twice.spec} stands twice; leave one out`);
  return specs;
}

async function oneQuestion({ config }: Services, words: string, flags: CompareFlags, io: Io): Promise<Asked> {
  if (words === '') throw new UsageError('what is compared? give a question in quotes, or a file with --questions');
  const given = Object.entries({
    '--limit': flags.limit,
    '--ids': flags.ids,
    '--knowledge': flags.knowledge,
    '--csv': flags.csv,
    '--judge': flags.judge,
  }).find(([, value]) => value !== undefined);
  if (given !== undefined) throw new UsageError(`${given[0]} is for a file of questions; leave it out`);
  if (flags.seeds > 1) throw new UsageError('--seeds is for a file of questions; leave it out');
  const [db, ...more] = flags.db ?? [];
  if (more.length > 0) throw new UsageError('--db: one question is asked of one database; give one');
  const question = await questionText(words, io);
  const context = flags.context?.trim() || null;
  const instructions = flags.instructions?.trim() || null;
  const problem = contextProblem(context, instructions);
  if (problem !== null) throw new UsageError(problem);
  const database = askedDatabase(config, db === undefined ? {} : { db }, io);
  return {
    name: flags.name ?? 'compare',
    items: [{ id: 'question', question, context, instructions, engine: null, database: null, gold: null }],
    databases: { of: () => database, all: [database] },
    output: 'answer',
  };
}

async function fileOf({ config }: Services, file: string, words: string, flags: CompareFlags, io: Io): Promise<Asked> {
  if (words !== '') throw new UsageError('give either a question or --questions, not both');
  const given = Object.entries({ '--context': flags.context, '--instructions': flags.instructions }).find(
    ([, value]) => value !== undefined,
  );
  if (given !== undefined) throw new UsageError(`${given[0]} is for one question; in a file each question has its own`);
  const items = await questionsOf(resolve(io.cwd, file), flags);
  const selected = selectItems(items, flags);
  const databases = batchDatabases(config, flags.db ?? [], { selected, others: items }, io.cwd);
  return { name: batchName(file, flags), items: selected, databases, output: 'sql' };
}

async function recordingOf({ record, replay }: CompareFlags, { cwd }: Io): Promise<Asking['files']> {
  if (replay === undefined) return record === undefined ? {} : { record: resolve(cwd, record) };
  const path = resolve(cwd, replay);
  if (!existsSync(path)) throw new UsageError(`--replay ${replay}: no such file; give a recording that --record wrote`);
  const { readRecording } = await import('../adapters/recording');
  await readRecording(path);
  return { replay: path };
}

export interface Comparing {
  readonly services: Services;
  readonly asked: Asked;
  readonly flags: CompareFlags;
  readonly files: Asking['files'];
  readonly io: Io;
}

const scopeOf = ({ spec }: MethodSpec, seed: number): string => `${spec} seed ${seed}`;

export function opened({ services, asked, files }: Comparing, scope: string): Promise<Composition> {
  const scoped = Object.keys(files).length === 0 ? {} : { ...files, scope };
  return compose(services.config, { adHoc: asked.databases.all, ...scoped });
}

/** Seeds take turns before methods do. */
async function armsOf(at: Comparing, specs: readonly MethodSpec[]): Promise<Arm[]> {
  const { services, asked, flags, files, io } = at;
  const { databases, items, output } = asked;
  const hash = files.replay === undefined ? null : sha256(await readFile(files.replay, 'utf8')).slice(0, 8);
  const name = hash === null ? asked.name : `${asked.name} replay-${hash}`;
  // Every method asks the same databases, so what is to be said of them is said once.
  const said = new Set<string>();
  const once = (text: string): void => {
    if (!said.has(text)) io.err(text);
    said.add(text);
  };
  const arms: Arm[] = [];
  for (let seed = 0; seed < flags.seeds; seed += 1) {
    for (const spec of specs) {
      const composition = await opened(at, scopeOf(spec, seed));
      try {
        if (files.replay !== undefined && isEmpty(composition))
          throw new UsageError(
            `--replay: ${basename(files.replay)} holds no ${spec.spec} with seed ${seed}; add it with --record`,
          );
        const ofArm: BatchFlags = { ...flags, method: spec, seed, output };
        const batch = await plannedBatch({
          services,
          composition,
          databases,
          items,
          flags: ofArm,
          name,
          io: { cwd: io.cwd, err: once },
        });
        arms.push({ spec, seed, flags: ofArm, batch });
      } finally {
        await composition.close();
      }
    }
  }
  return arms;
}

function isEmpty({ model }: Composition): boolean {
  return 'remaining' in model && (model.remaining as () => number)() === 0;
}

export interface Ran {
  readonly answers: readonly ComparedAnswer[];
  /** By search id. */
  readonly records: ReadonlyMap<string, AnswerRecord>;
  readonly stopped: 'interrupted' | 'cancelled' | 'ceiling' | null;
  /** Answers that were in the store before. */
  readonly found: number;
}

async function runArms(at: Comparing, arms: readonly Arm[]): Promise<Ran> {
  const { services, flags, files, io } = at;
  const isNewFile = files.record !== undefined && !existsSync(files.record);
  const answers: ComparedAnswer[] = [];
  const records = new Map<string, AnswerRecord>();
  let stopped: Ran['stopped'] = null;
  let found = 0;
  let spent = 0;
  const held = holdInterrupts(io);
  const session = (await isAnythingOpen(services, arms))
    ? await openTemporal(services.config, io.env, { onProgress: (line) => io.err(`${line}\n`) })
    : null;
  try {
    for (const [index, arm] of arms.entries()) {
      if (held.count() > 0) stopped = 'interrupted';
      if (stopped !== null) break;
      const { spec, seed, batch } = arm;
      if (session !== null)
        io.err(`[${index + 1}/${arms.length}] ${spec.spec}${flags.seeds === 1 ? '' : `, seed ${seed}`}\n`);
      const { end, ended, lines } = await runArm(at, arm, spent);
      found += batch.searches.length - ended;
      const own = await each(lines, ({ searchId }) => recordOf(services.store, searchId));
      for (const record of own) if (record !== null) records.set(record.id, record);
      answers.push(...lines.map((line, n) => answerOf(line, own[n] ?? null, spec, seed)));
      const costs = new Map(lines.map((line) => [line.searchId, line.usage?.costUsd ?? 0]));
      spent = [...costs.values()].reduce((sum, cost) => sum + cost, spent);
      if (end !== 'completed') stopped = end;
    }
  } finally {
    try {
      await session?.close();
    } finally {
      held.release();
    }
  }
  if (isNewFile && found > 0 && stopped === null)
    io.err(
      `${counted(found, 'answer')} came from the store and ${found === 1 ? 'is' : 'are'} not in ${flags.record ?? ''}: --fresh records all of them\n`,
    );
  return { answers, records, stopped, found };
}

async function runArm(at: Comparing, { spec, seed, flags: own, batch }: Arm, spent: number) {
  const { services, asked, flags, files, io } = at;
  const composition = await opened(at, scopeOf(spec, seed));
  try {
    const ceiling = flags.maxTotalCost === undefined ? {} : { maxTotalCost: flags.maxTotalCost - spent };
    const results = new ResultFile(
      null,
      asked.items.map(({ id }) => id),
    );
    const ready = { services, composition, databases: asked.databases.all, batch, flags: { ...own, ...ceiling } };
    const { end, ended } = await new BatchRun({ ...ready, files, io }, results).run();
    return { end, ended, lines: results.all() };
  } finally {
    await composition.close();
  }
}

/** One Temporal for all batches: the embedded server would start and stop with each. */
async function isAnythingOpen({ store }: Services, arms: readonly Arm[]): Promise<boolean> {
  const searches = arms.flatMap(({ batch }) => batch.searches);
  const records = await each(searches, ({ searchId }) => recordOf(store, searchId));
  return records.some((record) => record === null || !isConclusive(record));
}

/** What is open is asked first: an interrupted comparison is judged when it goes on. */
async function judgedRun(
  at: Comparing,
  ran: Ran,
): Promise<{ readonly run: Ran; readonly judge?: NonNullable<Comparison['judge']> }> {
  const { judge: mode } = at.flags;
  if (mode === undefined || ran.stopped !== null) return { run: ran };
  const { judged } = await import('./compare-judge');
  const { answers, judge, isInterrupted } = await judged(at, mode, ran);
  return { run: { ...ran, answers, stopped: isInterrupted ? 'interrupted' : null }, judge };
}

/** What each method would cost, one after the other; databases are looked at once for each. */
async function estimated(at: Comparing, arms: readonly Arm[]): Promise<ExitCode> {
  const { services, asked, flags, files, io } = at;
  const estimates: (BatchEstimate & { readonly method: string; readonly seed: number })[] = [];
  for (const { spec, seed, flags: own, batch } of arms) {
    const composition = await opened(at, scopeOf(spec, seed));
    try {
      const ready = { services, composition, databases: asked.databases.all, batch, flags: own, files, io };
      estimates.push({ method: spec.spec, seed, ...(await estimateOf(ready)) });
    } finally {
      await composition.close();
    }
  }
  if (flags.json) io.out(`${JSON.stringify(estimates, null, 2)}\n`);
  else
    for (const estimate of estimates)
      io.out(
        `${estimate.method}${flags.seeds === 1 ? '' : `, seed ${estimate.seed}`}\n${estimateText(estimate, io.columns)}\n`,
      );
  // Every method asks the same.
  return checkedDatabases({ databases: estimates[0]?.databases ?? [] });
}

function answerOf(line: ResultLine, record: AnswerRecord | null, { spec }: MethodSpec, seed: number): ComparedAnswer {
  const { id, database, searchId, status, verdict, verdictReason, sql, usage, wallMs } = line;
  return {
    ...{ method: spec, seed, id, database, searchId, status, verdict, reason: verdictReason, sql },
    ...{ calls: usage?.llmCalls ?? null, promptTokens: usage?.promptTokens ?? null },
    ...{ cachedTokens: usage?.cachedTokens ?? null, completionTokens: usage?.completionTokens ?? null },
    ...{ costUsd: usage?.costUsd ?? null, wallMs },
    proved: record === null ? null : provedShare(record),
  };
}

function ending({ answers, stopped }: Ran, expected: number, flags: CompareFlags, io: Io): ExitCode {
  const open = expected - answers.length;
  if (stopped !== null) {
    const why =
      stopped === 'ceiling'
        ? 'raise --max-total-cost and run it again'
        : `run the same command${flags.fresh ? ' without --fresh' : ''} again`;
    io.err(`${counted(open, 'answer')} open: ${why} to go on; nothing is paid twice\n`);
    return EXIT.cancelled;
  }
  const failed = answers.filter(({ verdict }) => verdict === 'infrastructure').length;
  if (failed + open === 0) return EXIT.ok;
  io.err(`${counted(failed + open, 'infrastructure failure')}: the same command asks them again\n`);
  return EXIT.failed;
}
