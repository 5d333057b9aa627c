/**
 * What `gate batch run CONFIG.yaml` does: methods × sets of questions × seeds as durable batches, several at once under one
 * concurrency and one ceiling of cost; then their report.
 *
 * 1. All that is wrong with the file, the data, the databases and the settings is said before anything is asked.
 * 2. The batches have the ids that `gate batch run` gives them (`compare-arms.ts`): an interrupted run goes on where it was,
 *    and what another run asked alike costs nothing.
 * 3. An infrastructure failure is never a wrong answer; it is asked again by the next run.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { compareMethods, figuresOf, RESAMPLES, type ComparedAnswer, type Entrant } from '../benchmarks';
import type { AnswerRecord } from '../domain';
import { canonical } from '../domain/canonical';
import { groupBy } from '../group-by';
import { parsedJson } from '../json';
import { each } from '../limiter';
import { counted } from '../report/printable';
import type { Run, RunSet } from '../report/run';
import { runMarkdown, runPage } from '../report/run-page';
import { mainTable, setTables } from '../report/run-tables';
import { sha256 } from '../sha256';
import { compose } from '../workers/composition';
import { packageVersion } from '../workers/package-folder';
import { auditOf } from './audit-run';
import { replaceFile, withResultFolder } from './batch-results';
import { shownCommand, withoutSecrets } from './batch-summary';
import {
  armsOf,
  entrantsOf,
  estimated,
  isAnythingOpen,
  runArms,
  type Arm,
  type Comparing,
  type Ran,
  type RanArm,
} from './compare-arms';
import { checkJudge } from './compare-judge';
import { ending, judgedRun } from './compare-run';
import { ANSWER_HEAD, answerCells } from './compare-told';
import { UsageError, type ExitCode } from './errors';
import type { Io } from './io';
import { checkModel } from './preflight';
import { readRunConfig, type ReadConfig } from './run-config';
import { checkedDatabases, promptHashes, temporalSdk } from './run-provenance';
import { openSet, type RunFlags, type SetToRun } from './run-sets';
import { scoringEngines } from './score-engines';
import { checkpointsOf, openServices, type Services } from './services';
import { csv, textTable } from './table';

const RUN = 'run.json';
/** Batches that run at the same time: the end of one leaves no place empty. */
const AT_ONCE = 4;

export async function runBatches(file: string, flags: RunFlags, args: readonly string[], io: Io): Promise<ExitCode> {
  if (flags.out === undefined && !flags.dryRun)
    throw new UsageError('where does the report go? add --out FOLDER (or --dry-run for an estimate)');
  const path = resolve(io.cwd, file);
  const { text, config: asWritten } = readRunConfig(path, file);
  const read = { text, config: flags.seed === undefined ? asWritten : { ...asWritten, seeds: [flags.seed] } };
  const base = flags.data === undefined ? dirname(path) : resolve(io.cwd, flags.data);
  const services = openServices(io);
  const { config } = services;
  const engines = scoringEngines(config);
  const opening = { config, run: read.config, flags, base, cwd: io.cwd, engines };
  try {
    const sets = await each(read.config.questions, (entry) => openSet(entry, opening));
    const databases = new Map(sets.flatMap(({ asked }) => asked.databases.all).map((one) => [one.name, one]));
    const composition = await compose(config, { adHoc: [...databases.values()] });
    try {
      const ats = sets.map(({ asked, flags: own }): Comparing => ({
        ...{ services, asked, flags: own, files: {}, io: { ...io, cwd: base }, composition },
      }));
      const known = await checkedDatabases(composition, [...databases.values()]);
      const { methods, seeds } = read.config;
      const planned = (await each(ats, (at) => armsOf(at, methods, seeds), 1)).flat();
      // Seeds take turns before sets do, and those before methods.
      const arms = seeds.flatMap((seed) => planned.filter((arm) => arm.seed === seed));
      if (flags.dryRun) return await estimated(arms, flags, io);
      const { audit } = read.config;
      const judges = typeof audit === 'object' ? [audit.judge] : [];
      if (await isAnythingOpen(services, arms)) await checkModel(config, composition, [...modelsOf(arms), ...judges]);
      for (const at of ats) if (at.flags.judge !== undefined) await checkJudge(at);
      const endpoint = composition.model.endpoint;
      const folder = resolve(io.cwd, flags.out ?? '.');
      const given = { read, sets, ats, arms, known, endpoint, command: shownCommand(args), folder };
      return await withResultFolder(folder, () => asked({ services, flags, io, ...given }));
    } finally {
      await composition.close();
    }
  } finally {
    await engines.close();
  }
}

const modelsOf = (arms: readonly Arm[]): string[] => [
  ...new Set(arms.flatMap(({ batch }) => Object.values(batch.settings.models))),
];

interface Ready {
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
}

async function asked(ready: Ready): Promise<ExitCode> {
  const { services, flags, io, sets, ats, arms, folder } = ready;
  const concurrency = ats[0]?.flags.concurrency ?? 1;
  const open = (await each(arms, (arm) => isAnythingOpen(services, [arm]))).filter((isOpen) => isOpen).length;
  const atOnce = Math.max(1, Math.min(AT_ONCE, concurrency, open));
  const shared = arms.map((arm) => ({
    ...arm,
    flags: { ...arm.flags, concurrency: Math.max(1, Math.floor(concurrency / atOnce)) },
  }));
  for (const { asked: own } of sets) tellNoGold(own.name, own.items, io);
  const { ran, stopped: end, temporal } = await runArms({ services, io }, shared, { atOnce });
  let stopped = end;
  const reported: RunSet[] = [];
  // Of all searches, then also of the judges, as they come.
  const spent = { usd: costOf(ran) };
  for (const [n, set] of sets.entries()) {
    const at = ats[n];
    if (at === undefined) continue;
    const own = ran.filter(({ arm }) => arm.at === at);
    const made = await setOf(ready, set, at, own, { stopped, spent });
    stopped ??= made.stopped;
    reported.push(made.set);
  }
  const run = runOf(ready, reported, ran, temporal);
  written(run, folder, flags, io);
  const answers = reported.flatMap(({ comparison }) => comparison.answers);
  const expected = arms.reduce((sum, { batch }) => sum + batch.questions.length, 0);
  return ending({ answers, stopped }, expected, flags, io);
}

/** Before anything is asked: what has no gold is in no score. */
function tellNoGold(name: string, items: SetToRun['asked']['items'], io: Io): void {
  const without = items.filter(({ gold }) => gold === null).map(({ id }) => id);
  if (without.length === 0) return;
  const some = `${without.slice(0, 3).join(', ')}${without.length > 3 ? ' …' : ''}`;
  io.err(`${name}: ${counted(without.length, 'question')} without gold (${some}), in no accuracy\n`);
}

function costOf(ran: readonly RanArm[]): number {
  const costs = new Map(ran.flatMap(({ records }) => [...records].map(([id, { usage }]) => [id, usage.costUsd])));
  return [...costs.values()].reduce((sum, cost) => sum + cost, 0);
}

async function setOf(
  ready: Ready,
  set: SetToRun,
  at: Comparing,
  ran: readonly RanArm[],
  { stopped, spent }: { readonly stopped: Ran['stopped']; readonly spent: { usd: number } },
): Promise<{ readonly set: RunSet; readonly stopped: typeof stopped }> {
  const { services, arms, known, read } = ready;
  const { asked: own, file, note, benchmark, board } = set;
  const { maxTotalCost } = at.flags;
  // The judge itself takes off what the searches of this set cost.
  const others = spent.usd - costOf(ran);
  const left = maxTotalCost === undefined ? at.flags : { ...at.flags, maxTotalCost: maxTotalCost - others };
  const { run, judge, paidUsd } = await judgedRun(
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
  const seeds = read.config.seeds.length;
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
    run.stopped === null ? await auditsOf(ready, entrants, answers, spent) : { audits: {}, interrupted: false };
  const databases = [...new Set(own.items.map((item) => own.databases.of(item).name))];
  return {
    stopped: interrupted ? 'interrupted' : run.stopped,
    set: {
      ...{ name: own.name, note, benchmark, questionsSha256: sha256(canonical(own.items)) },
      databases: databases.flatMap((name) => known.get(name) ?? []),
      settings: Object.fromEntries(
        entrants.map(({ method }) => {
          const arm = mine.find(({ spec }) => spec.spec === method);
          return [method, { ...arm?.batch.settings }];
        }),
      ),
      figures,
      comparison: {
        ...{ schemaVersion: 1, file, questions: own.items.length, seeds, replayed: false, resamples: RESAMPLES },
        ...(judge && { judge }),
        methods: compareMethods(entrants, answers, own.items.length * seeds),
        answers,
      },
      ...(Object.keys(audits).length > 0 && { audits }),
    },
  };
}

/** Of the last checkpoint; null: it made no updates. */
async function reuseOf({ store }: Services, record: AnswerRecord | undefined): Promise<ComparedAnswer['reuse'] | null> {
  if (record?.method !== 'gate') return null;
  const updates = (await (await checkpointsOf(store, record.id)).at(-1)?.read())?.updates ?? [];
  const active = updates.filter(({ status }) => status === 'active');
  if (active.length === 0) return null;
  const reused = active.filter(({ reuses }) => reuses > 0).length;
  return { updates: active.length, reused, reuses: active.reduce((sum, { reuses }) => sum + reuses, 0) };
}

async function auditsOf(
  { read, services, io, flags }: Ready,
  entrants: readonly Entrant[],
  answers: readonly ComparedAnswer[],
  spent: { usd: number },
): Promise<{ readonly audits: NonNullable<RunSet['audits']>; readonly interrupted: boolean }> {
  const { audit } = read.config;
  const found: Record<string, NonNullable<RunSet['audits']>[string]> = {};
  if (!audit) return { audits: found, interrupted: false };
  const ceiling = flags.maxTotalCost ?? read.config['max-total-cost'];
  for (const { method, name } of entrants) {
    if (name !== 'gate') continue;
    const ids = new Set(answers.flatMap((answer) => (answer.method === method ? [answer.searchId] : [])));
    const maxCost = ceiling === undefined ? 'none' : ceiling - spent.usd;
    const made = await auditOf(services, [...ids], audit === true ? null : { model: audit.judge, maxCost }, io);
    spent.usd += made.paidUsd;
    // Half of an audit would read as a whole one.
    if (made.interrupted) return { audits: found, interrupted: true };
    found[method] = made.audit;
  }
  return { audits: found, interrupted: false };
}

function runOf(ready: Ready, sets: readonly RunSet[], ran: readonly RanArm[], temporal: string | null): Run {
  const { read, arms, command, endpoint, folder, io } = ready;
  const records = ran.flatMap(({ records: own }) => [...own.values()]);
  const now = new Date(io.now()).toISOString();
  const text = read.text.split('\n').map(withoutSecrets).join('\n');
  const times = (of: (record: AnswerRecord) => string): string[] => records.map(of).sort();
  return {
    ...{ schemaVersion: 1, name: read.config.name, command, endpoint },
    startedAt: times(({ startedAt }) => startedAt)[0] ?? now,
    endedAt: times(({ endedAt }) => endedAt).at(-1) ?? now,
    complete: sets.every(({ comparison }) => comparison.methods.every(({ missing }) => missing === 0)),
    config: { text, sha256: sha256(text) },
    versions: {
      ...{ gate: packageVersion() ?? 'unknown', node: process.versions.node, temporalSdk: temporalSdk() },
      temporalServer: temporal ?? serverBefore(folder),
    },
    models: modelsOf(arms),
    prompts: promptHashes(),
    sets: [...sets],
  };
}

/** Of an earlier report of the same run: this time every answer was stored. */
function serverBefore(folder: string): string | null {
  const path = join(folder, RUN);
  if (!existsSync(path)) return null;
  const before = parsedJson(readFileSync(path, 'utf8')) as { readonly versions?: Partial<Run['versions']> } | null;
  return before?.versions?.temporalServer ?? null;
}

function written(run: Run, folder: string, flags: RunFlags, io: Io): void {
  const json = `${JSON.stringify(run, null, 2)}\n`;
  const head = ['set', ...ANSWER_HEAD, 'difficulty', 'updates', 'updates_reused', 'reuses'];
  const rows = run.sets.flatMap(({ name, comparison }) =>
    comparison.answers.map((one) => [
      ...[name, ...answerCells(one), one.difficulty ?? null],
      ...[one.reuse?.updates ?? null, one.reuse?.reused ?? null, one.reuse?.reuses ?? null],
    ]),
  );
  const files = {
    ...{ [RUN]: json, 'report.csv': csv(head, rows) },
    ...{ 'report.md': runMarkdown(run), 'report.html': runPage(run) },
  };
  for (const [name, text] of Object.entries(files)) replaceFile(join(folder, name), text);
  io.out(flags.json ? json : shown(run, io.columns));
  io.err(`${join(folder, RUN)}, report.md, report.html, report.csv\n`);
}

function shown(run: Run, width: number): string {
  const sets = run.sets.flatMap((set) => [
    ...['', set.note === null ? set.name : `${set.name}: ${set.note}`],
    ...setTables(set).map((table) => ({ ...table, title: `${set.name}: ${table.title}` })),
  ]);
  return [mainTable(run), ...sets]
    .map((one) =>
      typeof one === 'string' ? one : `${one.title}\n${textTable(one.heads, one.rows, { width, whole: 1 })}\n`,
    )
    .map((text) => `${text}\n`)
    .join('');
}
