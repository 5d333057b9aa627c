/**
 * What `gate batch run CONFIG.yaml` does: methods × sets of questions × seeds as durable batches, several at once under one
 * concurrency and one ceiling of cost; then their report.
 *
 * 1. All that is wrong with the file, the data, the databases and the settings is said before anything is asked.
 * 2. The batches have the ids that `gate batch run` gives them (`compare-arms.ts`): an interrupted run goes on where it was,
 *    and what another run asked alike costs nothing.
 * 3. An infrastructure failure is never a wrong answer; it is asked again by the next run.
 */
import { dirname, resolve } from 'node:path';
import { hasGold, type BenchmarkItem } from '../questions';
import { each } from '../limiter';
import type { RunSet } from '../report/run';
import { compose } from '../workers/composition';
import { withEvents } from './batch-events';
import { tellNoGold } from './batch-preflight';
import { withResultFolder } from './batch-results';
import { shownCommand } from './batch-summary';
import { armsOf, isAnythingOpen, isNew, modelsOf, tellFound, type Arm, type Comparing } from './compare-arms';
import { UsageError } from '../app/errors';
import type { ExitCode } from './exit';
import type { Io } from './io';
import { checkModel } from '../app/model-check';
import { ending, estimated, runArms } from './run-arms';
import { readRunConfig, type ReadConfig } from './run-config';
import { checkedDatabases } from './run-provenance';
import { runOf, written } from './run-report';
import { costOf, setOf, type ReadyRun } from './run-set-report';
import { openSet, type RunFlags } from './run-sets';
import { openServices } from '../app/services';

/** Batches that run at the same time: what one has no question for is left to the next ones. */
const AT_ONCE = 4;

export async function runBatches(
  file: string,
  flags: RunFlags,
  args: readonly string[],
  io: Io,
  { laboratory = null, files = {} }: Partial<Pick<RunPlace, 'laboratory' | 'files'>> = {},
): Promise<ExitCode> {
  const path = resolve(io.cwd, file);
  const read = readRunConfig(path, file, laboratory?.benchmarks ?? null);
  const base = flags.data === undefined ? dirname(path) : resolve(io.cwd, flags.data);
  const command = shownCommand(args, laboratory === null ? 'gate' : 'gate-bench');
  return runRead(read, { flags, base, command, files, laboratory }, io);
}

export interface RunPlace extends Pick<ReadyRun, 'flags' | 'command' | 'laboratory'> {
  /** Where relative paths begin. */
  readonly base: string;
  readonly files: Comparing['files'];
}

export async function runRead(
  read: ReadConfig,
  { flags, base, command, files, laboratory }: RunPlace,
  streams: Io,
): Promise<ExitCode> {
  const io = flags.events ? withEvents(streams) : streams;
  if (flags.out === undefined && !flags.dryRun)
    throw new UsageError('where does the report go? add --out FOLDER (or --dry-run for an estimate)');
  const services = openServices(io);
  const { config } = services;
  const opening = { config, run: read.config, flags, base, cwd: io.cwd, laboratory };
  const sets = await each(read.config.questions, (entry) => openSet(entry, opening));
  for (const { asked, board } of sets)
    for (const remark of board?.remarks ?? []) io.err(`note: ${asked.name}: ${remark}\n`);
  const databases = new Map(sets.flatMap(({ asked }) => asked.databases.all).map((one) => [one.name, one]));
  const composition = await compose(config, { adHoc: [...databases.values()] });
  try {
    const isRecorded = Object.keys(files).length > 0;
    const ats = sets.map(({ asked, flags: own }): Comparing => ({
      ...{ services, asked, flags: own, files, io: { ...io, cwd: base } },
      ...(!isRecorded && { composition }),
    }));
    const known = await checkedDatabases(composition, [...databases.values()]);
    const planned: Arm[] = [];
    for (const [n, at] of ats.entries()) planned.push(...(await armsOf(at, sets[n]?.askedWith ?? [])));
    // Seeds take turns before sets do, and those before methods.
    const seeds = [...new Set(planned.map(({ seed }) => seed))];
    const arms = seeds.flatMap((seed) => planned.filter((arm) => arm.seed === seed));
    for (const { asked: own, board, flags: given } of sets) {
      const isScored = (item: BenchmarkItem): boolean =>
        board === null ? hasGold(item, given.judge !== undefined) : item.gold !== null;
      tellNoGold(own.items, isScored, io, `${own.name}: `);
    }
    if (flags.dryRun) return await estimated(arms, flags, io);
    const { audit } = read.config;
    const judges = typeof audit === 'object' ? [audit.judge] : [];
    if (files.replay === undefined && (await isAnythingOpen(services, arms)))
      await checkModel(config, composition, [...modelsOf(arms), ...judges]);
    for (const at of ats) if (at.flags.judge !== undefined) await laboratory?.checkJudge(at);
    const endpoint = composition.model.endpoint;
    const folder = resolve(io.cwd, flags.out ?? '.');
    const given = { services, flags, io, read, sets, ats, arms, known, endpoint, command, folder, laboratory };
    return await withResultFolder(folder, () => asked(given, files));
  } finally {
    await composition.close();
  }
}

async function asked(ready: ReadyRun, files: Comparing['files']): Promise<ExitCode> {
  const { services, flags, io, read, sets, ats, arms, folder } = ready;
  const isNewFile = isNew(files);
  // Exchanges of several batches at the same time would be mixed in one recording.
  const atOnce = Object.keys(files).length === 0 ? AT_ONCE : 1;
  const asking = await runArms({ services, io }, arms, { atOnce, run: read.config.name });
  const { ran, temporal, failure } = asking;
  let { stopped } = asking;
  if (stopped === null) tellFound(files, isNewFile, asking.found, io);
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
  return ending({ answers, stopped, failure }, expected, flags, io);
}
