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
import { dirname, resolve } from 'node:path';
import type { Comparison } from '../benchmarks';
import { parseMethodSpec, type MethodSpec } from '../config/method-specs';
import { contextProblem } from '../input-limits';
import { counted } from '../report/printable';
import { askedDatabase, questionText } from './ask-input';
import type { Asking } from './ask-start';
import { batchDatabases } from './batch-databases';
import { batchName, selectItems } from './batch-plan';
import { questionsOf } from './batch-run';
import { armsOf, entrantsOf, isNew, tellFound, type Asked, type CompareFlags, type Comparing } from './compare-arms';
import { answersTold, fileTold } from './compare-told';
import { EXIT, UsageError, type ExitCode } from './errors';
import type { Io } from './io';
import { estimated, runArms, type Ran, type RanArms } from './run-arms';
import { openServices, type Services } from './services';

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
  const seeds = Array.from({ length: flags.seeds }, (_, seed) => seed);
  // Seeds take turns before methods do.
  const arms = await armsOf(
    at,
    seeds.flatMap((seed) => specs.map((spec) => ({ spec, seed }))),
  );
  if (flags.dryRun) return await estimated(arms, flags, io);
  if (flags.judge !== undefined) await (await import('./compare-judge')).checkJudge(at);
  const isNewFile = isNew(files);
  const { ran, stopped, found, failure } = await runArms(at, arms);
  if (stopped === null) tellFound(files, isNewFile, found, io);
  const { run, judge } = await judgedRun(at, {
    answers: ran.flatMap(({ answers }) => answers),
    records: new Map(ran.flatMap(({ records }) => [...records])),
    stopped,
  });
  const entrants = entrantsOf(arms);
  const told = { flags, io, entrants, answers: run.answers };
  if (flags.questions === undefined)
    answersTold({
      ...told,
      question: asked.items[0]?.question ?? '',
      database: arms[0]?.batch.questions[0]?.database.name ?? '',
      records: run.records,
    });
  else fileTold({ ...told, ...(judge && { judge }), file: flags.questions, questions: asked.items.length });
  return ending({ ...run, failure }, asked.items.length * arms.length, flags, io);
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
    databases: { of: () => database, find: () => database, all: [database] },
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

/** What is open is asked first: an interrupted comparison is judged when it goes on. */
export async function judgedRun(
  at: Comparing,
  ran: Ran,
): Promise<{ readonly run: Ran; readonly judge?: NonNullable<Comparison['judge']>; readonly paidUsd: number }> {
  const { judge: mode } = at.flags;
  if (mode === undefined) return { run: ran, paidUsd: 0 };
  if (ran.stopped !== null) {
    at.io.err(`${at.asked.name}: the judge is asked once every question has ended; until then execution decides\n`);
    return { run: ran, paidUsd: 0 };
  }
  const { judged } = await import('./compare-judge');
  const { answers, judge, isInterrupted, paidUsd } = await judged(at, mode, ran);
  return { run: { ...ran, answers, stopped: isInterrupted ? 'interrupted' : null }, judge, paidUsd };
}

export function ending(
  { answers, stopped, failure }: Pick<Ran, 'answers' | 'stopped'> & Pick<RanArms, 'failure'>,
  expected: number,
  flags: { readonly fresh?: boolean },
  io: Io,
): ExitCode {
  if (failure !== null) throw failure;
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
