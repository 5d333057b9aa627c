/** The report of a run: its figures with all that is needed to make them again, as JSON, tables and a page. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { version as temporalSdk } from '@temporalio/client/package.json';
import type { ResolvedDatabase } from '../../config/databases';
import type { AnswerRecord } from '../../domain';
import { canonical } from '../../domain/canonical';
import { groupBy } from '../../group-by';
import { parsedJson } from '../../json';
import { each } from '../../limiter';
import { compareMethods, figuresOf, reliabilityOf, RESAMPLES, type ResultLine } from '../../questions';
import type { Run, RunSet } from '../../report/run';
import { runMarkdown, runPage } from '../../report/run-page';
import { sha256, sha256OfFile } from '../../sha256';
import type { Composition } from '../../workers/composition';
import { builtFile, packageVersion } from '../../workers/package-folder';
import { checkDatabase } from '../check-database';
import { GateError, withoutSecrets } from '../errors';
import { unpricedModels } from '../model-check';
import { modelsOf, withComposition, type AskingRun, type QuestionSet } from './arms';
import type { AskedArm } from './ask-arms';
import type { Stopped } from './ask-batch';
import type { Bench, Laboratory } from './laboratory';
import { replaceFile } from '../../replace-file';
import { SUMMARY } from './results';
import type { ReadConfig } from './run-config';

export interface ReportedRun {
  readonly run: AskingRun;
  readonly read: ReadConfig;
  readonly sets: readonly QuestionSet[];
  readonly known: ReadonlyMap<string, RunSet['databases'][number]>;
  readonly laboratory: Laboratory | null;
  readonly bench: Bench;
  /** What the searches and judges of the run have cost so far. */
  readonly spent: { usd: number };
}

interface SetReport {
  readonly set: RunSet;
  readonly lines: readonly ResultLine[];
  readonly stopped: Stopped | null;
}

/** Every database that cannot be used is named, before anything is asked. */
export async function checkedDatabases(
  composition: Composition,
  databases: readonly ResolvedDatabase[],
): Promise<ReadonlyMap<string, RunSet['databases'][number]>> {
  const problems: string[] = [];
  const found = await each(databases, async (database) => {
    const { name, dialect, address } = database;
    try {
      const { fingerprint } = await checkDatabase(composition, name);
      const hash = address.kind === 'path' ? await sha256OfFile(address.path) : null;
      return [[name, { name, dialect, sha256: hash, schema: fingerprint }] as const];
    } catch (error) {
      problems.push((error as Error).message);
      return [];
    }
  });
  if (problems.length > 0) throw new GateError([...new Set(problems)].join('\n'));
  return new Map(found.flat());
}

export function costOf(asked: readonly AskedArm[]): number {
  const costs = new Map(asked.flatMap(({ records }) => [...records].map(([id, { usage }]) => [id, usage.costUsd])));
  return [...costs.values()].reduce((sum, cost) => sum + cost, 0);
}

/** One set of questions: its answers, judged where a judge is asked for, and its figures. */
export async function reportSet(
  ready: ReportedRun,
  set: QuestionSet,
  asked: readonly AskedArm[],
  stopped: Stopped | null,
): Promise<SetReport> {
  const { run, known } = ready;
  const { board, items } = set;
  const { lines, judge, ...judged } = await judgedLines(ready, set, asked, stopped);
  const mine = run.arms.filter((arm) => arm.set === set);
  const byMethod = groupBy(mine, ({ spec }) => spec.spec);
  const seedsOf = (method: string): number => byMethod.get(method)?.length ?? 0;
  const entrants = [...byMethod].map(([method, [arm]]) => ({ method, models: { ...arm?.batch.settings.models } }));
  const own = new Map(asked.map((one) => [one.arm, one]));
  const figures = entrants.map(({ method }) =>
    figuresOf(
      method,
      lines.filter((line) => line.method === method),
      (byMethod.get(method) ?? []).map((arm) => ({
        ...{ seed: arm.seed, batchId: arm.batch.batchId },
        metrics:
          board === null ? reliabilityOf(own.get(arm)?.lines ?? []) : board.metrics(own.get(arm)?.scores ?? new Map()),
      })),
    ),
  );
  const unpriced = unpricedModels(run.services.config, modelsOf(mine));
  const remarks = [
    ...(board?.remarks ?? []),
    ...(unpriced.length === 0 ? [] : [`No price is known for ${unpriced.join(', ')}: its calls count as $0`]),
  ];
  const databases = [...new Set(items.map((item) => set.databases.of(item).name))];
  return {
    lines,
    stopped: judged.stopped,
    set: {
      ...{ name: set.name, note: set.note, benchmark: board?.benchmark ?? null, remarks },
      questionsSha256: sha256(canonical(items)),
      databases: databases.flatMap((name) => known.get(name) ?? []),
      settings: Object.fromEntries([...byMethod].map(([method, [arm]]) => [method, { ...arm?.batch.settings }])),
      figures,
      comparison: {
        file: set.file,
        questions: items.length,
        seeds: Math.max(...entrants.map(({ method }) => seedsOf(method))),
        replayed: run.files.replay !== undefined,
        resamples: RESAMPLES,
        ...(judge && { judge }),
        methods: compareMethods(entrants, lines, (method) => items.length * seedsOf(method)),
      },
    },
  };
}

/** What is open is asked first: an interrupted run is judged when it goes on. */
async function judgedLines(
  { run, laboratory, bench, read, spent }: ReportedRun,
  { name, judge, items, databases }: QuestionSet,
  asked: readonly AskedArm[],
  stopped: Stopped | null,
) {
  const lines = asked.flatMap((one) => one.lines);
  if (judge === null || laboratory === null) return { lines, judge: undefined, stopped };
  if (stopped !== null) {
    bench.note(`${name}: the judge is asked once every question has ended; until then execution decides`);
    return { lines, judge: undefined, stopped };
  }
  const { maxTotalCost, files } = run;
  const judged = await laboratory.judged(bench, {
    ...{ judge, items, databases, lines, replay: files.replay, model: read.config.model?.default },
    records: new Map(asked.flatMap(({ records }) => [...records])),
    maxCost: maxTotalCost === undefined ? 'none' : maxTotalCost - spent.usd,
    withComposition: (scope, work) => withComposition(run, databases, scope, work),
  });
  spent.usd += judged.paidUsd;
  return { lines: judged.lines, judge: judged.judge, stopped: judged.interrupted ? ('interrupted' as const) : null };
}

interface MadeWith {
  readonly command: string;
  readonly endpoint: string;
  readonly folder: string | null;
  readonly temporal: string | null;
}

export function reportOf(
  { run, read }: ReportedRun,
  sets: readonly RunSet[],
  asked: readonly AskedArm[],
  { command, endpoint, folder, temporal }: MadeWith,
): Run {
  const records = asked.flatMap((one) => [...one.records.values()]);
  const now = new Date(run.surroundings.now()).toISOString();
  const text = read.text.split('\n').map(withoutSecrets).join('\n');
  const times = (of: (record: AnswerRecord) => string): string[] => records.map(of).sort();
  return {
    ...{ schemaVersion: 1, name: read.config.name, command, endpoint },
    startedAt: times(({ startedAt }) => startedAt)[0] ?? now,
    endedAt: times(({ endedAt }) => endedAt).at(-1) ?? now,
    complete: sets.every(({ comparison }) => comparison.methods.every(({ missing }) => missing === 0)),
    config: { text, sha256: sha256(text) },
    versions: {
      ...{ gate: packageVersion() ?? 'unknown', node: process.versions.node, temporalSdk },
      temporalServer: temporal ?? serverBefore(folder),
    },
    models: modelsOf(run.arms),
    prompts: promptHashes(),
    sets: [...sets],
  };
}

/** Server of an earlier report of the same run: this time every answer was stored. */
function serverBefore(folder: string | null): string | null {
  const path = join(folder ?? '', SUMMARY);
  if (folder === null || !existsSync(path)) return null;
  const before = parsedJson(readFileSync(path, 'utf8')) as { readonly versions?: Partial<Run['versions']> } | null;
  return before?.versions?.temporalServer ?? null;
}

/** Hash of each file that a prompt is made from, as this version was built. */
export function promptHashes(): Record<string, string> {
  return JSON.parse(readFileSync(builtFile('program/prompt-hashes.json'), 'utf8')) as Record<string, string>;
}

/** Gives the names of the files. */
export function writeReport(run: Run, folder: string): readonly string[] {
  const files = {
    [SUMMARY]: `${JSON.stringify(run, null, 2)}\n`,
    'report.md': runMarkdown(run),
    'report.html': runPage(run),
  };
  for (const [name, text] of Object.entries(files)) replaceFile(join(folder, name), text);
  return Object.keys(files);
}
