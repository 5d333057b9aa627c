/** The moments of one kind on its stage: calm runs first, then the same searches with the fault. */
import type { LedgerReport } from '../../simulated-model';
import { drawOf, type Counts, type FaultKind } from './kind';
import { checkSearch, strayRequests, type Allowed } from './promises';
import { newBatch, type Batch } from './searches';
import type { Stage } from './stage';
import type { Trace } from './trace';

export interface MomentReport {
  readonly kind: string;
  readonly index: number;
  readonly moment: string;
  readonly searches: number;
  readonly calls: number;
  readonly paidAgain: number;
  /** One per search that had something left to do. */
  readonly recoveriesMs: readonly number[];
  readonly broken: readonly string[];
  readonly tookMs: number;
}

interface Calm extends Counts {
  readonly traces: readonly Trace[];
}

/** Different seeds, different searches: so many moments each. */
const MOMENTS_PER_VARIANT = 7;
const CALM: Allowed = { mayPayAgain: 0, askedAgain: false };
const CALM_ROUNDS = 5;

export async function runKind(
  kind: FaultKind,
  stage: Stage,
  options: { readonly moments: number; readonly seed: number; readonly report: (moment: MomentReport) => void },
): Promise<void> {
  const calms = new Map<number, Calm>();
  for (let index = 0; index < options.moments; index += 1) {
    const variant = Math.floor(index / MOMENTS_PER_VARIANT);
    const calm = calms.get(variant) ?? (await runCalm(kind, stage, options.seed + variant));
    calms.set(variant, calm);
    options.report(await runMoment(kind, stage, { index, seed: options.seed, variant, calm }));
  }
}

/** Profiles of columns are cached per database, so the first runs may differ: until two in a row are the same search. */
async function runCalm(kind: FaultKind, stage: Stage, seed: number): Promise<Calm> {
  let before: Calm | null = null;
  for (let round = 1; ; round += 1) {
    const { calm, ledger } = await runCalmly(kind, stage, { seed, namespace: `${kind.name}-calm-${String(round)}` });
    const broken = before === null ? ['the first run'] : check(before.traces, calm.traces, ledger, CALM).broken;
    if (broken.length === 0) return calm;
    if (round === CALM_ROUNDS) throw new Error(`without a fault the searches are not repeatable: ${broken.join('; ')}`);
    before = calm;
  }
}

async function runCalmly(
  kind: FaultKind,
  stage: Stage,
  options: { readonly seed: number; readonly namespace: string },
): Promise<{ readonly calm: Calm; readonly ledger: LedgerReport }> {
  await stage.model.reset();
  const sentBefore = stage.proxy.sent();
  const batch = newBatch(stage, kind.questions(stage.data.questions), options);
  try {
    await batch.start();
    const failed = await settle(batch);
    if (failed.length > 0) throw new Error(`without a fault ${failed.join('; ')}`);
    const [traces, ledger] = [await batch.traces(), await stage.model.ledger()];
    const counts = {
      requests: ledger.totals.asked,
      objects: batch.objects(),
      statements: stage.proxy.sent() - sentBefore,
    };
    return { calm: { traces, ...counts }, ledger };
  } finally {
    await batch.close();
  }
}

async function runMoment(
  kind: FaultKind,
  stage: Stage,
  at: { readonly index: number; readonly seed: number; readonly variant: number; readonly calm: Calm },
): Promise<MomentReport> {
  const { index, calm } = at;
  const startedMs = Date.now();
  const namespace = `${kind.name}-${String(index)}`;
  await stage.model.reset();
  const questions = kind.questions(stage.data.questions);
  const batch = newBatch(stage, questions, { seed: at.seed + at.variant, namespace });
  try {
    await batch.start();
    const draw = drawOf(at.seed, kind.name, index);
    const struck = await kind.strike({ stage, batch, draw, index, calm });
    if (struck.askAgain === true) await batch.start();
    const unended = await settle(batch);
    const [traces, ledger] = [await batch.traces(), await stage.model.ledger()];
    const dead = replaceDead(stage);
    const askedAgain = struck.askAgain ?? false;
    const allowed = { mayPayAgain: struck.mayPayAgain, askedAgain };
    const { broken, ...counted } = check(calm.traces, traces, ledger, allowed);
    return {
      ...{ kind: kind.name, index, searches: traces.length, ...counted },
      moment: [struck.moment, ...(struck.workerMayDie === true ? dead : [])].join('; '),
      recoveriesMs: batch.recoveries(struck.overAtMs),
      broken: [...unended, ...(struck.workerMayDie === true ? [] : dead), ...broken],
      tookMs: Date.now() - startedMs,
    };
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return {
      ...{ kind: kind.name, index, moment: '', searches: questions.length, calls: 0, paidAgain: 0, recoveriesMs: [] },
      broken: [said],
      tookMs: Date.now() - startedMs,
    };
  } finally {
    await batch.close();
  }
}

async function settle(batch: Batch): Promise<string[]> {
  const ends = await batch.ended();
  return ends.flatMap((end) => (end.kind === 'failed' ? [`a search failed: ${end.message}`] : []));
}

/** The line that says why, where the runtime writes one, and not its stack. */
function endOf(said: string): string {
  const lines = said.trim().split('\n');
  return lines.find((line) => /fatal|error|assert/i.test(line)) ?? lines.slice(-3).join(' ');
}

/** A worker that ended by itself is replaced, so that the moments after it do not suffer, and reported. */
function replaceDead(stage: Stage): string[] {
  return stage.workers.flatMap((worker, at) => {
    if (worker.isRunning()) return [];
    stage.workers[at] = stage.startWorker();
    return [`a worker ended by itself: ${endOf(worker.said())}`];
  });
}

function check(
  calm: readonly Trace[],
  met: readonly Trace[],
  ledger: LedgerReport,
  allowed: Allowed,
): { readonly broken: readonly string[]; readonly paidAgain: number; readonly calls: number } {
  const checked = met.map((trace, at) => {
    const before = calm[at];
    if (before === undefined) throw new Error('there is no calm run of this search');
    const { broken, ...counted } = checkSearch(before, trace, ledger, allowed);
    return { ...counted, broken: broken.map((line) => `${trace.searchId}: ${line}`) };
  });
  return {
    broken: [...checked.flatMap(({ broken }) => broken), ...strayRequests(met, ledger)],
    paidAgain: checked.reduce((sum, one) => sum + one.paidAgain, 0),
    calls: checked.reduce((sum, one) => sum + one.calls, 0),
  };
}
