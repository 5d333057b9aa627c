/**
 * What a batch came to, as `summary.json` and as a table. Only judged questions enter a score; infrastructure failures,
 * failing gold and what was not asked are counted apart. Usage is per search: questions that share one are charged once.
 */
import { hasGold, summarise, type Verdict } from '../questions';
import { presetOf, type Usage } from '../domain';
import { counted, dollars, tokensText } from '../report/printable';
import { NO_USAGE } from '../domain/control-view';
import { addUsage } from '../search/budgets';
import type { Batch } from './batch-plan';
import type { ResultLine } from './batch-results';
import { withoutSecrets } from '../app/errors';
import { textTable } from './table';

export type BatchSummary = ReturnType<typeof batchSummary>;

interface DatabaseSummary {
  readonly database: string;
  readonly engine: string;
  readonly questions: number;
  readonly ended: number;
  readonly right: number;
  readonly wrong: number;
  readonly abstained: number;
  readonly apart: number;
  readonly ex: number | null;
}

interface SummaryInput {
  readonly batch: Batch;
  readonly file: string;
  readonly command: string;
  readonly endedAt: string;
  readonly knowledge: boolean;
  readonly concurrency: number;
  readonly unpricedModels: readonly string[];
  readonly run: { readonly wallMs: number; readonly ended: number };
}

const UNANSWERABLE: readonly Verdict[] = ['correct-abstained', 'wrong-answered'];

export function batchSummary(lines: readonly ResultLine[], input: SummaryInput) {
  const { batch, run } = input;
  const { method, spec, models, seed, layer } = batch.settings;
  const scores = summarise(lines.map(({ verdict }) => verdict));
  const failures = lines.filter(({ verdict }) => verdict === 'infrastructure');
  const perSearch = [...new Map(lines.map((line) => [line.searchId, line.usage ?? NO_USAGE])).values()];
  const total = perSearch.reduce(addUsage, NO_USAGE);
  return {
    schemaVersion: 1,
    ...{ batchId: batch.batchId, name: batch.name, file: input.file, command: input.command, endedAt: input.endedAt },
    // Every selected question has ended.
    complete: lines.length === batch.questions.length,
    questions: batch.questions.length,
    ended: lines.length,
    notAsked: batch.questions.length - lines.length,
    withGold: batch.questions.filter(({ item }) => hasGold(item, false)).length,
    searches: batch.searches.length,
    method: spec,
    preset: presetOf(method),
    ...{ models, seed, knowledge: input.knowledge, concurrency: input.concurrency },
    // How the searches used the semantic layers of their databases; left out: not at all.
    ...(layer === undefined ? {} : { memory: layer }),
    statuses: countsOf(lines.map(({ status }) => status)),
    verdicts: scores.counts,
    // How far the answers stand proved.
    standings: countsOf(lines.flatMap(({ standing }) => standing ?? [])),
    judged: scores.judged,
    // Share of right ones among the judged; right abstentions count. Null: nothing was judged.
    ex: scores.accuracy,
    exAnswerable: scores.accuracyAnswerable,
    // Where the publisher gives an answer its rule decides; each rule by itself:
    byRule: { execution: ruleOf(lines, 'execution'), official: ruleOf(lines, 'official') },
    // Only where unanswerable questions were judged.
    reliability: lines.some(({ verdict }) => UNANSWERABLE.includes(verdict)) ? scores.reliability : null,
    infrastructureFailures: {
      count: failures.length,
      reasons: countsOf(failures.map((line) => line.error ?? 'failed')),
    },
    usage: { total, mean: perSearch.length === 0 ? null : scaled(total, 1 / perSearch.length) },
    // Cost counts as 0 for these.
    unpricedModels: input.unpricedModels,
    databases: byDatabase(batch, lines),
    // This run: how long, and how many questions ended in it.
    run: {
      ...run,
      questionsPerMinute: run.ended === 0 ? null : round((run.ended * 60_000) / Math.max(1, run.wallMs), 1),
    },
  };
}

export function summaryText(summary: BatchSummary, width: number): string {
  const { databases, usage, reliability, infrastructureFailures: failures, verdicts } = summary;
  // Where nothing says what is right, nothing is said of it.
  const isScored = summary.withGold > 0;
  const rows = [...databases, ...(databases.length > 1 ? [totalOf(summary)] : [])].map((row) => [
    ...[row.database, row.engine, row.questions, row.ended],
    ...(isScored ? [row.right, row.wrong, row.abstained, row.apart, percent(row.ex)] : []),
  ]);
  const scores = isScored ? ['right', 'wrong', 'abstained', 'apart', 'EX'] : [];
  const head = ['database', 'engine', 'questions', 'ended', ...scores];
  const { total, mean } = usage;
  const memory = summary.memory === undefined ? '' : `, memory ${summary.memory}`;
  const apart = Object.entries(verdicts).filter(([verdict, count]) => count > 0 && APART.has(verdict as Verdict));
  return [
    textTable(head, rows, { width }),
    '',
    (isScored
      ? `EX ${percent(summary.ex)} of ${counted(summary.judged, 'judged question')}, ${percent(summary.exAnswerable)} of the answerable ones`
      : listedCounts(summary.statuses) || 'Nothing has ended') +
      ` (${summary.method}, ${[...new Set(Object.values(summary.models))].join(', ')}, seed ${summary.seed}${memory}${summary.knowledge ? ', knowledge given' : ''})`,
    ...(reliability === null
      ? []
      : [
          `RS(0) ${reliability.rs0.toFixed(1)}, RS(5) ${reliability.rs5.toFixed(1)}, RS(10) ${reliability.rs10.toFixed(1)}, RS(N) ${reliability.rsN.toFixed(1)}`,
        ]),
    ...(apart.length === 0 || !isScored ? [] : [`Not in any score: ${listedCounts(Object.fromEntries(apart))}`]),
    ...(Object.keys(summary.standings).length === 0 ? [] : [`Answers: ${listedCounts(summary.standings)}`]),
    `${counted(total.llmCalls, 'model call')}${total.possiblyBilledCalls > 0 ? ` (+${total.possiblyBilledCalls} possibly billed)` : ''}, ` +
      `${tokensText(total)}, ${dollars(total.costUsd)}` +
      (mean === null
        ? ''
        : `; per question ${mean.llmCalls.toFixed(1)} calls, ${tokensText(mean)}, ${dollars(mean.costUsd)}`),
    ...(summary.unpricedModels.length === 0
      ? []
      : [`No price is known for ${summary.unpricedModels.join(', ')}: it counts as $0.`]),
    ...Object.entries(failures.reasons).map(([reason, count]) => `infrastructure failure (${count}): ${reason}`),
    '',
  ].join('\n');
}

const APART: ReadonlySet<Verdict> = new Set(['cancelled', 'infrastructure', 'gold-failed', 'undecided', 'no-gold']);
const RIGHT: ReadonlySet<Verdict> = new Set(['correct', 'correct-abstained']);
const WRONG: ReadonlySet<Verdict> = new Set(['wrong', 'wrong-answered']);

function byDatabase(batch: Batch, lines: readonly ResultLine[]): DatabaseSummary[] {
  const ended = new Map(lines.map((line) => [line.id, line]));
  const groups = new Map<string, DatabaseSummary & { verdicts: Verdict[] }>();
  for (const { item, database } of batch.questions) {
    const line = ended.get(item.id);
    const group = groups.get(database.name) ?? {
      ...{ database: item.database ?? database.name, engine: database.dialect, questions: 0, verdicts: [] },
      ...{ ended: 0, right: 0, wrong: 0, abstained: 0, apart: 0, ex: null },
    };
    const verdicts = line === undefined ? group.verdicts : [...group.verdicts, line.verdict];
    groups.set(database.name, { ...group, questions: group.questions + 1, verdicts });
  }
  return [...groups.values()].map(({ verdicts, ...group }) => ({
    ...group,
    ended: verdicts.length,
    right: verdicts.filter((verdict) => RIGHT.has(verdict)).length,
    wrong: verdicts.filter((verdict) => WRONG.has(verdict)).length,
    abstained: verdicts.filter((verdict) => verdict === 'wrong-abstained').length,
    apart: verdicts.filter((verdict) => APART.has(verdict)).length,
    ex: summarise(verdicts).accuracy,
  }));
}

function totalOf({ databases, ex }: BatchSummary): DatabaseSummary {
  const sum = (key: 'questions' | 'ended' | 'right' | 'wrong' | 'abstained' | 'apart'): number =>
    databases.reduce((total, row) => total + row[key], 0);
  return {
    ...{ database: 'all', engine: '', questions: sum('questions'), ended: sum('ended'), right: sum('right') },
    ...{ wrong: sum('wrong'), abstained: sum('abstained'), apart: sum('apart'), ex },
  };
}

function ruleOf(lines: readonly ResultLine[], rule: 'execution' | 'official') {
  const compared = lines.filter((line) => line[rule] !== null);
  return { compared: compared.length, equal: compared.filter((line) => line[rule]).length };
}

function countsOf(keys: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const key of keys) counts[key] = (counts[key] ?? 0) + 1;
  return counts;
}

function listedCounts(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([what, count]) => `${count} ${what}`)
    .join(', ');
}

function scaled(usage: Usage, factor: number): Usage {
  return Object.fromEntries(
    Object.entries(usage).map(([key, value]) => [key, round(value * factor, 6)]),
  ) as unknown as Usage;
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

export function percent(share: number | null): string {
  return share === null ? '' : `${(100 * share).toFixed(1)} %`;
}

/** As it can be typed again, without passwords. */
export function shownCommand(args: readonly string[], program = 'gate'): string {
  const quoted = args.map((argument) => {
    const text = withoutSecrets(argument);
    return /^[\w./:=@,+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
  });
  return [program, ...quoted].join(' ');
}
