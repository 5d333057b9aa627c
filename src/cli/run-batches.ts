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
import { hasGold, type BenchmarkItem } from '../benchmarks';
import { each } from '../limiter';
import type { RunSet } from '../report/run';
import { compose } from '../workers/composition';
import { withEvents } from './batch-events';
import { tellNoGold } from './batch-preflight';
import { withResultFolder } from './batch-results';
import { shownCommand } from './batch-summary';
import { armsOf, isAnythingOpen, modelsOf, type Arm, type Comparing } from './compare-arms';
import { checkJudge } from './compare-judge';
import { ending } from './compare-run';
import { UsageError, type ExitCode } from './errors';
import type { Io } from './io';
import { checkModel } from './preflight';
import { estimated, runArms } from './run-arms';
import { readRunConfig } from './run-config';
import { checkedDatabases } from './run-provenance';
import { runOf, written } from './run-report';
import { costOf, setOf, type ReadyRun } from './run-set-report';
import { openSet, type RunFlags } from './run-sets';
import { openServices } from './services';

/** Batches that run at the same time: what one has no question for is left to the next ones. */
const AT_ONCE = 4;

export async function runBatches(
  file: string,
  flags: RunFlags,
  args: readonly string[],
  streams: Io,
): Promise<ExitCode> {
  const io = flags.events ? withEvents(streams) : streams;
  if (flags.out === undefined && !flags.dryRun)
    throw new UsageError('where does the report go? add --out FOLDER (or --dry-run for an estimate)');
  const path = resolve(io.cwd, file);
  const read = readRunConfig(path, file);
  const base = flags.data === undefined ? dirname(path) : resolve(io.cwd, flags.data);
  const services = openServices(io);
  const { config } = services;
  const opening = { config, run: read.config, flags, base, cwd: io.cwd };
  const sets = await each(read.config.questions, (entry) => openSet(entry, opening));
  for (const { asked, board } of sets)
    for (const remark of board?.remarks ?? []) io.err(`note: ${asked.name}: ${remark}\n`);
  const databases = new Map(sets.flatMap(({ asked }) => asked.databases.all).map((one) => [one.name, one]));
  const composition = await compose(config, { adHoc: [...databases.values()] });
  try {
    const ats = sets.map(({ asked, flags: own }): Comparing => ({
      ...{ services, asked, flags: own, files: {}, io: { ...io, cwd: base }, composition },
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
    if (await isAnythingOpen(services, arms)) await checkModel(config, composition, [...modelsOf(arms), ...judges]);
    for (const at of ats) if (at.flags.judge !== undefined) await checkJudge(at);
    const endpoint = composition.model.endpoint;
    const folder = resolve(io.cwd, flags.out ?? '.');
    const given = { read, sets, ats, arms, known, endpoint, command: shownCommand(args), folder };
    return await withResultFolder(folder, () => asked({ services, flags, io, ...given }));
  } finally {
    await composition.close();
  }
}

async function asked(ready: ReadyRun): Promise<ExitCode> {
  const { services, flags, io, read, sets, ats, arms, folder } = ready;
  const {
    ran,
    stopped: end,
    temporal,
    failure,
  } = await runArms({ services, io }, arms, { atOnce: AT_ONCE, run: read.config.name });
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
  return ending({ answers, stopped, failure }, expected, flags, io);
}
