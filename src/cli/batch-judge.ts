/**
 * What `gate batch judge` does: a model reads the stored answers of a batch against the correct ones, and is compared with
 * execution match. Nothing is asked of the searches again, and a judgement that was paid before costs nothing.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { agreementOf, summarise, VERDICTS } from '../benchmarks';
import type { Usage } from '../domain';
import { parsedJson } from '../json';
import { JUDGE_VERSION } from '../prompts/judge';
import { counted, dollars, tokensText } from '../report/printable';
import { JUDGE_MODES, type JudgeMode } from '../domain/judge-modes';
import { compose } from '../workers/composition';
import { batchDatabases } from './batch-databases';
import { replaceFile, ResultLine, RESULTS, SUMMARY, withResultFolder } from './batch-results';
import { questionsOf } from './batch-run';
import { percent } from './batch-summary';
import { EXIT, UsageError, type ExitCode } from './errors';
import type { Io } from './io';
import { watchInterrupts } from './interrupts';
import { correctAnswerOf, judgedOr, needsDatabase, openJudge, type JudgeFlags } from './judging';
import { unpricedModels } from './preflight';
import { openServices, recordOf } from './services';

export interface BatchJudgeFlags extends JudgeFlags {
  readonly judge: JudgeMode;
  readonly questions?: string;
  readonly db?: readonly string[];
  readonly maxCost: number | 'none';
  readonly json?: boolean;
}

export const JUDGED = 'judged.jsonl';

/** A line of `judged.jsonl`. */
export const JudgedLine = z.object({
  id: z.string().describe('the id of the question in its file'),
  searchId: z.string(),
  verdict: z.enum(VERDICTS).nullable().describe('null: not judged, for the reason beside it'),
  extracted: z.string().nullable().describe('the final answer as the judge read it'),
  reason: z.string(),
  execution: z.boolean().nullable().describe('execution match; null: it could not be decided'),
  judge: z.object({ mode: z.enum(JUDGE_MODES), model: z.string(), version: z.number().int() }),
});
export type JudgedLine = Readonly<z.infer<typeof JudgedLine>>;

export async function judgeBatch(given: string, flags: BatchJudgeFlags, io: Io): Promise<ExitCode> {
  const folder = resolve(io.cwd, given);
  const lines = resultsIn(folder, given);
  const path = flags.questions ?? questionFileOf(folder);
  if (path === null)
    throw new UsageError(`${given} has no ${SUMMARY}: name the file of its questions with --questions`);
  const items = new Map((await questionsOf(resolve(io.cwd, path), {})).map((item) => [item.id, item]));
  const pairs = lines.map((line) => {
    const item = items.get(line.id);
    if (item === undefined)
      throw new UsageError(`--questions ${path}: it has no question ${line.id}, which ${given} has`);
    return { line, item };
  });
  const { config } = openServices(io);
  const selected = pairs.map(({ item }) => item).filter(needsDatabase);
  const databases = batchDatabases(config, flags.db ?? [], { selected, others: [] }, io.cwd);
  const composition = await compose(config, { adHoc: databases.all });
  const interrupts = watchInterrupts(io);
  try {
    const signal = interrupts.quit;
    const judging = openJudge(composition, config, flags, { now: () => io.now(), signal });
    const { judge } = judging;
    const by = { mode: flags.judge, model: judge.name, version: JUDGE_VERSION };
    const judged = await judging.each(pairs, async ({ line, item }): Promise<JudgedLine> => {
      const { id, searchId, execution } = line;
      const correct = () =>
        correctAnswerOf(item, async () => (await composition.engine(databases.of(item).name)).engine, signal);
      const record = await recordOf(composition.store, searchId);
      const said = await judgedOr(judging, flags.judge, interrupts.count() > 0, { item, record, correct });
      return { id, searchId, execution, judge: by, ...said };
    });
    const text = judged.map((line) => `${JSON.stringify(line)}\n`).join('');
    await withResultFolder(folder, () => {
      replaceFile(join(folder, JUDGED), text);
      return Promise.resolve();
    });
    const summary = judgeSummary(judged, judging.paid(), unpricedModels(config, [judge.name]));
    io.out(flags.json ? `${JSON.stringify(summary, null, 2)}\n` : judgeText(summary));
    io.err(`${join(folder, JUDGED)}\n`);
    return interrupts.count() > 0 ? EXIT.cancelled : EXIT.ok;
  } finally {
    interrupts.stopListening();
    await composition.close();
  }
}

export function resultsIn(folder: string, given: string): ResultLine[] {
  const text = readOrNull(join(folder, RESULTS));
  if (text === null) throw new UsageError(`${given} has no ${RESULTS}: give the --out folder of gate batch run`);
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line, at) => {
      const parsed = ResultLine.safeParse(parsedJson(line));
      if (parsed.success) return parsed.data;
      throw new UsageError(`${join(given, RESULTS)}, line ${at + 1}: no result of a question: run the batch again`);
    });
}

const Summary = z.object({ file: z.string() });

function questionFileOf(folder: string): string | null {
  return Summary.safeParse(parsedJson(readOrNull(join(folder, SUMMARY)) ?? 'null')).data?.file ?? null;
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}

export type JudgeSummary = ReturnType<typeof judgeSummary>;

export function judgeSummary(lines: readonly Omit<JudgedLine, 'searchId'>[], paid: Usage, unpriced: readonly string[]) {
  const verdicts = lines.map(({ verdict }) => verdict).filter((verdict) => verdict !== null);
  const { counts, judged, accuracy, accuracyAnswerable } = summarise(verdicts);
  const compared = lines.flatMap(({ id, verdict, execution }) =>
    execution === null || verdict === null || verdict === 'undecided'
      ? []
      : [{ id, judge: verdict === 'correct', execution }],
  );
  const notJudged: Record<string, number> = {};
  for (const { verdict, reason } of lines) if (verdict === null) notJudged[reason] = (notJudged[reason] ?? 0) + 1;
  return {
    schemaVersion: 1,
    judge: lines[0]?.judge ?? null,
    questions: lines.length,
    verdicts: counts,
    judged,
    // Share of right ones among the judged; right abstentions count.
    accuracy,
    accuracyAnswerable,
    // With execution match, where both decided; `differ`: the ids of the questions.
    agreement: {
      ...agreementOf(compared),
      differ: compared.filter((one) => one.judge !== one.execution).map(({ id }) => id),
    },
    notJudged,
    // By this command; what was paid before is not asked again.
    paid,
    // Cost counts as 0 for these.
    unpricedModels: unpriced,
  };
}

export function judgeText(summary: JudgeSummary): string {
  const { judge, questions, verdicts, judged, accuracy, agreement, notJudged } = summary;
  const { compared, share, kappa, judgeRight, executionRight, differ } = agreement;
  const said = Object.entries(verdicts).filter(([, count]) => count > 0);
  const lines = [
    `correct ${percent(accuracy)} of ${counted(judged, 'judged question')} (${judge?.mode ?? ''} judge, version ${judge?.version ?? 0}, ${judge?.model ?? ''})`,
    `${counted(questions, 'question')}: ${said.map(([verdict, count]) => `${count} ${verdict}`).join(', ') || 'none judged'}`,
    compared === 0
      ? 'execution match decided none of them'
      : `agrees with execution on ${percent(share)} of ${compared} (Cohen's kappa ${kappa === null ? 'not defined' : kappa.toFixed(2)}); right by the judge alone ${judgeRight}, by execution alone ${executionRight}`,
    ...(differ.length === 0
      ? []
      : [`they differ on ${differ.slice(0, 20).join(', ')}${differ.length > 20 ? ' …' : ''}`]),
    ...Object.entries(notJudged).map(([reason, count]) => `not judged (${count}): ${reason}`),
    ...paidLines(summary),
  ];
  return `${lines.join('\n')}\n`;
}

export function paidLines({ paid, unpricedModels: unpriced }: Pick<JudgeSummary, 'paid' | 'unpricedModels'>): string[] {
  if (paid.llmCalls === 0) return ['nothing was paid: every judgement is from before'];
  return [
    `${counted(paid.llmCalls, 'model call')}, ${tokensText(paid)}, ${dollars(paid.costUsd)}`,
    ...(unpriced.length === 0 ? [] : [`No price is known for ${unpriced.join(', ')}: it counts as $0.`]),
  ];
}
