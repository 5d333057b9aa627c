/** One set of questions in the report of a run: its answers, judged where a judge is asked for, its figures and its audits. */
import { compareMethods, figuresOf, RESAMPLES, type ComparedAnswer, type Comparison, type Entrant } from '../questions';
import type { AnswerRecord } from '../domain';
import { canonical } from '../domain/canonical';
import { groupBy } from '../group-by';
import { each } from '../limiter';
import type { RunSet } from '../report/run';
import { sha256 } from '../sha256';
import { entrantsOf, modelsOf, type Arm, type Comparing } from './compare-arms';
import type { Io } from './io';
import type { AuditedRun, Laboratory } from './laboratory';
import { unpricedModels } from '../app/model-check';
import type { Ran, RanArm } from './run-arms';
import type { ReadConfig } from './run-config';
import type { RunFlags, SetToRun } from './run-sets';
import { checkpointsOf, type Services } from '../app/services';

export interface ReadyRun {
  readonly services: Services;
  readonly flags: RunFlags;
  readonly io: Io;
  readonly read: ReadConfig;
  /** In the order of the file, as `ats` are. */
  readonly sets: readonly SetToRun[];
  readonly ats: readonly Comparing[];
  readonly arms: readonly Arm[];
  readonly known: ReadonlyMap<string, RunSet['databases'][number]>;
  readonly endpoint: string;
  readonly command: string;
  readonly folder: string;
  readonly laboratory: Laboratory | null;
}

export function costOf(ran: readonly RanArm[]): number {
  const costs = new Map(ran.flatMap(({ records }) => [...records].map(([id, { usage }]) => [id, usage.costUsd])));
  return [...costs.values()].reduce((sum, cost) => sum + cost, 0);
}

export async function setOf(
  ready: ReadyRun,
  set: SetToRun,
  at: Comparing,
  ran: readonly RanArm[],
  { stopped, spent }: { readonly stopped: Ran['stopped']; readonly spent: { usd: number } },
): Promise<{ readonly set: RunSet; readonly stopped: typeof stopped }> {
  const { services, arms, known, laboratory } = ready;
  const { asked: own, file, note, board } = set;
  const benchmark = board?.benchmark ?? null;
  const { maxTotalCost } = at.flags;
  // The judge itself takes off what the searches of this set cost.
  const others = spent.usd - costOf(ran);
  const left = maxTotalCost === undefined ? at.flags : { ...at.flags, maxTotalCost: maxTotalCost - others };
  const { run, judge, paidUsd } = await judgedRun(
    laboratory,
    { ...at, flags: left },
    {
      answers: ran.flatMap(({ answers }) => answers),
      records: new Map(ran.flatMap(({ records }) => [...records])),
      stopped,
    },
  );
  spent.usd += paidUsd;
  const difficulties = new Map(own.items.map(({ id, gold }) => [id, gold?.difficulty ?? null]));
  const answers = await each(run.answers, async (answer): Promise<ComparedAnswer> => {
    const reuse = await reuseOf(services, run.records.get(answer.searchId));
    return { ...answer, difficulty: difficulties.get(answer.id) ?? null, ...(reuse && { reuse }) };
  });
  const mine = arms.filter((arm) => arm.at === at);
  const entrants = entrantsOf(mine);
  const seedsOf = (method: string): number => mine.filter(({ spec }) => spec.spec === method).length;
  const seeds = Math.max(...entrants.map(({ method }) => seedsOf(method)));
  const byMethod = groupBy(ran, ({ arm }) => arm.spec.spec);
  const figures = entrants.map(({ method }) =>
    figuresOf(
      method,
      answers.filter((answer) => answer.method === method),
      (byMethod.get(method) ?? []).map(({ arm, scores }) => ({
        ...{ seed: arm.seed, batchId: arm.batch.batchId },
        metrics: board && board.metrics(scores),
      })),
    ),
  );
  const { audits, interrupted } =
    run.stopped === null
      ? await auditsOf(ready, entrants, answers, spent)
      : { audits: new Map<string, AuditedRun>(), interrupted: false };
  const unpriced = unpricedModels(services.config, modelsOf(mine));
  const remarks = [
    ...(board?.remarks ?? []),
    ...(unpriced.length === 0 ? [] : [`No price is known for ${unpriced.join(', ')}: its calls count as $0`]),
  ];
  const databases = [...new Set(own.items.map((item) => own.databases.of(item).name))];
  return {
    stopped: interrupted ? 'interrupted' : run.stopped,
    set: {
      ...{ name: own.name, note, benchmark, questionsSha256: sha256(canonical(own.items)) },
      ...(remarks.length > 0 && { remarks }),
      databases: databases.flatMap((name) => known.get(name) ?? []),
      settings: Object.fromEntries(
        entrants.map(({ method }) => {
          const arm = mine.find(({ spec }) => spec.spec === method);
          return [method, { ...arm?.batch.settings }];
        }),
      ),
      figures,
      comparison: {
        ...{
          schemaVersion: 1,
          file,
          questions: own.items.length,
          seeds,
          replayed: at.files.replay !== undefined,
          resamples: RESAMPLES,
        },
        ...(judge && { judge }),
        methods: compareMethods(entrants, answers, (method) => own.items.length * seedsOf(method)),
        answers,
      },
      ...(audits.size > 0 && {
        audits: Object.fromEntries([...audits].map(([method, { audit }]) => [method, audit])),
        tables: [...audits].map(([method, { table }]) => ({ title: `Updates of ${method}`, ...table })),
      }),
    },
  };
}

/** Of the last checkpoint; null: it made no updates. */
async function reuseOf({ store }: Services, record: AnswerRecord | undefined): Promise<ComparedAnswer['reuse'] | null> {
  if (record === undefined || record.preset === null) return null;
  const updates = (await (await checkpointsOf(store, record.id)).at(-1)?.read())?.updates ?? [];
  const active = updates.filter(({ status }) => status === 'active');
  if (active.length === 0) return null;
  const reused = active.filter(({ reuses }) => reuses > 0).length;
  return { updates: active.length, reused, reuses: active.reduce((sum, { reuses }) => sum + reuses, 0) };
}

async function auditsOf(
  { read, services, io, flags, laboratory }: ReadyRun,
  entrants: readonly Entrant[],
  answers: readonly ComparedAnswer[],
  spent: { usd: number },
): Promise<{ readonly audits: ReadonlyMap<string, AuditedRun>; readonly interrupted: boolean }> {
  const { audit } = read.config;
  const audits = new Map<string, AuditedRun>();
  if (!audit || laboratory === null) return { audits, interrupted: false };
  const ceiling = flags.maxTotalCost ?? read.config['max-total-cost'];
  for (const { method, preset } of entrants) {
    if (preset === null) continue;
    const ids = new Set(answers.flatMap((answer) => (answer.method === method ? [answer.searchId] : [])));
    const judge =
      audit === true
        ? null
        : { model: audit.judge, maxCost: ceiling === undefined ? ('none' as const) : ceiling - spent.usd };
    const made = await laboratory.audited(services, [...ids], judge, io);
    spent.usd += made.paidUsd;
    // Half of an audit would read as a whole one.
    if (made.interrupted) return { audits, interrupted: true };
    audits.set(method, made);
  }
  return { audits, interrupted: false };
}

/** What is open is asked first: an interrupted comparison is judged when it goes on. */
async function judgedRun(
  laboratory: Laboratory | null,
  at: Comparing,
  ran: Ran,
): Promise<{ readonly run: Ran; readonly judge?: NonNullable<Comparison['judge']>; readonly paidUsd: number }> {
  const { judge: mode } = at.flags;
  if (mode === undefined || laboratory === null) return { run: ran, paidUsd: 0 };
  if (ran.stopped !== null) {
    at.io.err(`${at.asked.name}: the judge is asked once every question has ended; until then execution decides\n`);
    return { run: ran, paidUsd: 0 };
  }
  const { answers, judge, isInterrupted, paidUsd } = await laboratory.judged(at, mode, ran);
  return { run: { ...ran, answers, stopped: isInterrupted ? 'interrupted' : null }, judge, paidUsd };
}
