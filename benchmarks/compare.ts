/**
 * `gate-bench compare`: the same questions by several methods, with the same databases, models, limits and meter: a run as its
 * file says it, a file of questions, or one question side by side.
 *
 * Batches have the ids that `gate batch run` gives them: what was interrupted goes on where it was, and what was done before
 * costs nothing.
 */
import { existsSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { stringify } from 'yaml';
import { joinedWords } from '../src/cli/ask';
import { askedDatabase, questionText } from '../src/app/question-input';
import type { Asking } from '../src/app/start-search';
import { batchName } from '../src/cli/batch-plan';
import { replaceFile } from '../src/cli/batch-results';
import { shownCommand } from '../src/cli/batch-summary';
import { armsOf, type Asked, type Comparing, entrantsOf, isNew, tellFound } from '../src/cli/compare-arms';
import { UsageError } from '../src/app/errors';
import { type ExitCode } from '../src/cli/exit';
import { argumentText, type Io } from '../src/cli/io';
import type { LimitFlags } from '../src/cli/options';
import { ending, estimated, runArms } from '../src/cli/run-arms';
import { runBatches, runRead } from '../src/cli/run-batches';
import { parseRunConfig } from '../src/cli/run-config';
import { runFlags, type RunFlags } from '../src/cli/run-sets';
import { openServices, type Services } from '../src/app/services';
import { textTable } from '../src/cli/table';
import { type MethodSpec, parseMethodSpecs } from '../src/config/method-specs';
import type { AnswerRecord } from '../src/domain';
import { contextProblem } from '../src/input-limits';
import type { ComparedAnswer, Entrant } from '../src/questions';
import { standingText } from '../src/report/comparison-figures';
import { cell, counted, dollars, duration, wrapped } from '../src/report/printable';
import { STATUS_WORDS } from '../src/report/words';
import { reasonTexts } from '../src/text/answer-text';
import { provedShare, provedText, standingOf } from '../src/text/standing';
import { compareAnswers, type ComparedQuestion, questionPage, type RowDifference } from './compared-question';
import { LABORATORY } from './laboratory';

export interface CompareFlags extends RunFlags, LimitFlags {
  readonly methods?: string;
  readonly questions?: string;
  readonly seeds?: number;
  readonly context?: string;
  readonly instructions?: string;
  readonly ids?: readonly string[];
  readonly knowledge?: boolean;
  readonly docs?: readonly string[] | false;
  readonly name?: string;
  readonly html?: string;
  readonly record?: string;
  readonly replay?: string;
}

/** `flags` are those that were typed. */
export async function runCompare(
  words: readonly string[],
  flags: CompareFlags,
  args: readonly string[],
  io: Io,
): Promise<ExitCode> {
  const [first = ''] = words;
  const isRun = words.length === 1 && /\.ya?ml$/i.test(first);
  const question = isRun ? '' : joinedWords(words, io.cwd);
  const files = await recordingOf(flags, io);
  if (isRun) return runBatches(first, runFlags({ ...flags }), args, io, { laboratory: LABORATORY, files });
  if (flags.questions === undefined) return compareQuestion(question, flags, files, io);
  if (question !== '') throw new UsageError('give either a question or --questions, not both');
  const read = parseRunConfig(runOf(flags.questions, flags, io), '--questions', LABORATORY.benchmarks);
  const command = shownCommand(args, 'gate-bench');
  return runRead(read, { flags, base: io.cwd, command, files, laboratory: LABORATORY }, io);
}

/** The file of a run that these flags stand for. */
function runOf(file: string, flags: CompareFlags, io: Io): string {
  for (const name of ['context', 'instructions', 'html', 'data'] as const)
    if (flags[name] !== undefined) throw new UsageError(`--${name} is not for a file of questions; leave it out`);
  const { seeds, db: databases, model, docs, knowledge, limit, concurrency } = flags;
  const name = batchName(file, flags);
  return stringify({
    name,
    questions: [{ name, file: resolve(io.cwd, file), ids: flags.ids?.flatMap((ids) => ids.split(',')) }],
    methods: specsOf(flags.methods).map(({ spec }) => spec),
    ...{ seeds, databases, model, docs, knowledge, limit, concurrency },
    max: flags.max,
    'max-cost': flags.maxCost,
    'max-total-cost': flags.maxTotalCost,
  });
}

function specsOf(methods = 'fast,react'): MethodSpec[] {
  const specs = parseMethodSpecs(methods);
  const twice = specs.find(({ spec }, at) => specs.findIndex((other) => other.spec === spec) < at);
  if (twice !== undefined) throw new UsageError(`--methods: ${twice.spec} stands twice; leave one out`);
  return specs;
}

async function recordingOf({ record, replay }: CompareFlags, { cwd }: Io): Promise<Asking['files']> {
  if (replay === undefined) return record === undefined ? {} : { record: resolve(cwd, record) };
  const path = resolve(cwd, replay);
  if (!existsSync(path)) throw new UsageError(`--replay ${replay}: no such file; give a recording that --record wrote`);
  const { readRecording } = await import('../src/adapters/recording');
  await readRecording(path);
  return { replay: path };
}

/** One durable batch of one question for each method, one after the other; then their answers side by side. */
async function compareQuestion(words: string, flags: CompareFlags, files: Asking['files'], io: Io): Promise<ExitCode> {
  const specs = specsOf(flags.methods);
  const services = openServices(io);
  const own = await asked(services, words, flags, io);
  const { html } = flags;
  if (html !== undefined && !existsSync(dirname(resolve(io.cwd, html))))
    throw new UsageError(`${html}: there is no such folder; create it, or give another file`);
  const { concurrency = 8 } = flags;
  const at: Comparing = { services, asked: own, flags: { ...flags, concurrency }, files, io };
  const arms = await armsOf(
    at,
    specs.map((spec) => ({ spec, seed: flags.seed ?? 0 })),
  );
  if (flags.dryRun) return await estimated(arms, flags, io);
  const isNewFile = isNew(files);
  const { ran, stopped, found, failure } = await runArms(at, arms);
  if (stopped === null) tellFound(files, isNewFile, found, io);
  const answers = ran.flatMap((arm) => arm.answers);
  const records = new Map(ran.flatMap((arm) => [...arm.records]));
  const compared: ComparedQuestion = {
    schemaVersion: 1,
    question: own.items[0]?.question ?? '',
    database: arms[0]?.batch.questions[0]?.database.name ?? '',
    ...compareAnswers(
      entrantsOf(arms).flatMap((entrant) => {
        const answer = answers.find(({ method }) => method === entrant.method);
        return answer === undefined ? [] : [methodAnswer(entrant, answer, records.get(answer.searchId) ?? null)];
      }),
    ),
  };
  io.out(flags.json ? `${JSON.stringify(compared, null, 2)}\n` : sideBySide(compared, io.columns));
  if (html !== undefined) {
    const path = resolve(io.cwd, html);
    replaceFile(path, questionPage(compared));
    io.err(`${relative(io.cwd, path) || path}\n`);
  }
  return ending({ answers, stopped, failure }, arms.length, flags, io);
}

async function asked({ config }: Services, words: string, flags: CompareFlags, io: Io): Promise<Asked> {
  if (words === '') throw new UsageError('what is compared? give a question in quotes, or a file with --questions');
  const isOfFile = (name: keyof CompareFlags): boolean => flags[name] !== undefined;
  const given = (['seeds', 'limit', 'ids', 'knowledge', 'out', 'data'] as const).find(isOfFile);
  if (given !== undefined) throw new UsageError(`--${given} is for a file of questions; leave it out`);
  const [db, ...more] = flags.db ?? [];
  if (more.length > 0) throw new UsageError('--db: one question is asked of one database; give one');
  const question = questionText(await argumentText(words, io));
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

function methodAnswer(entrant: Entrant, answer: ComparedAnswer, record: AnswerRecord | null) {
  const { searchId, status, sql, wallMs, reason } = answer;
  const isAnswer = record?.status === 'answered';
  return {
    ...entrant,
    ...{ searchId, status, sql, wallMs, usage: record?.usage ?? null },
    answer: record?.answer ?? null,
    reason: record === null ? reason : reasonTexts(record).join('\n') || null,
    ...{ columns: record?.columns ?? [], rows: record?.rows ?? [], truncated: record?.truncated ?? false },
    proved: record === null ? null : provedShare(record),
    standing: record === null ? null : standingOf(record),
    provedText: isAnswer ? provedText(record) : null,
  };
}

/** Lines of an answer or a reason; the report has all. */
const LINES = 6;
const ROWS = 5;

function sideBySide({ question, database, answers, differences }: ComparedQuestion, width: number): string {
  const overview = textTable(
    ['method', 'rows', 'status', 'proved', 'calls', 'tokens', 'cost', 'time', 'search'],
    answers.map(({ method, result, status, standing, proved, usage, wallMs, searchId }) => [
      ...[method, result ?? '', status, standingText(standing, proved)],
      ...(usage === null
        ? ['', '', '']
        : [
            String(usage.llmCalls),
            (usage.promptTokens + usage.completionTokens).toLocaleString('en-US'),
            dollars(usage.costUsd),
          ]),
      ...[wallMs === null ? '' : duration(wallMs), searchId],
    ]),
    { width, whole: 1 },
  );
  const each = answers.map(({ method, status, result, answer, reason, sql }) => {
    const says = status === 'infrastructure-failure' ? 'Infrastructure failure' : STATUS_WORDS[status].says;
    return [
      `${method}: ${says}${result === null ? '' : `, rows ${result}`}`,
      ...[answer, reason]
        .flatMap((text) => (text === null ? [] : text.split('\n').flatMap((line) => wrapped(line, width - 2, LINES))))
        .map((line) => `  ${line}`),
      ...(sql === null ? [] : sql.split('\n').map((line) => `    ${line}`)),
    ].join('\n');
  });
  const results = new Set(answers.flatMap(({ result }) => result ?? []));
  const same = results.size === 1 && answers.length > 1 ? ['All answers with rows have the same rows.'] : [];
  const ids = answers.map(({ searchId }) => searchId).slice(0, 2);
  return [
    ...wrapped(question, width, LINES),
    `Database ${database}`,
    '',
    overview,
    ...each.flatMap((text) => ['', text]),
    ...differences.flatMap((difference) => ['', ...differenceLines(difference, width)]),
    ...(same.length === 0 ? [] : ['', ...same]),
    ...(ids.length < 2 ? [] : ['', `gate diff ${ids.join(' ')} shows where two searches part`]),
    '',
  ].join('\n');
}

function differenceLines({ result, other, why, only, onlyOther }: RowDifference, width: number): string[] {
  const some = (letter: string, rows: readonly (readonly (string | number | boolean | null)[])[]): string[] => [
    ...rows
      .slice(0, ROWS)
      .flatMap((row) => wrapped(`only ${letter}  ${row.map(cell).join(' | ')}`, width - 2, 1))
      .map((line) => `  ${line}`),
    ...(rows.length > ROWS ? [`  … and ${counted(rows.length - ROWS, 'more row')} only in ${letter}`] : []),
  ];
  return [`Rows ${other} are not rows ${result}: ${why}`, ...some(result, only), ...some(other, onlyOther)];
}
