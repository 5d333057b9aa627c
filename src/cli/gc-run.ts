/** What `gate gc` does: asks Temporal what runs, removes old searches, then what nothing refers to any more; and tells it. */
import type { ObjectEntry } from '../ports';
import { counted } from '../report/printable';
import type { GateClient } from '../workers/client';
import { unlessGone } from '../workers/grpc-status';
import { planRuns, removable, removeBatch, removeRun, type AskTemporal, type StoredRun } from './gc-runs';
import { sweepCaches, sweepObjects, sweepPayloads, type Swept } from './gc-sweep';
import { UsageError } from './errors';
import type { Io } from './io';
import { openServices } from './services';
import { openRunning, type TemporalSession } from './temporal-session';

export interface GcFlags {
  readonly olderThan?: number;
  readonly dryRun?: boolean;
  readonly keepAnswers?: boolean;
  readonly json?: boolean;
}

type GcResult = Awaited<ReturnType<typeof collect>>;

const DAY_MS = 86_400_000;

export async function runGc(flags: GcFlags, io: Io): Promise<void> {
  const services = openServices(io);
  const { config } = services;
  const olderThanMs = flags.olderThan ?? (config.retentionDays === null ? null : config.retentionDays * DAY_MS);
  if (olderThanMs === null) {
    throw new UsageError('say how old: --older-than 30d, or set "store.retentionDays" in the configuration');
  }
  const session = await openRunning(config, io.env);
  try {
    const result = await collect(services.store, session, { ...flags, olderThanMs, nowMs: io.now() });
    io.out(flags.json ? `${JSON.stringify(result, null, 2)}\n` : told(result));
  } finally {
    await session?.close();
  }
}

type Store = ReturnType<typeof openServices>['store'];

async function collect(
  store: Store,
  session: TemporalSession | null,
  given: GcFlags & { readonly olderThanMs: number; readonly nowMs: number },
) {
  const { nowMs, olderThanMs, dryRun = false, keepAnswers = false } = given;
  const ask = session === null ? null : askTemporal(session.gate);
  const options = { nowMs, olderThanMs, keepAnswers };
  const plan = await planRuns(store, ask, options);
  const removed: StoredRun[] = [];
  const kept = [...plan.kept];
  for (const run of plan.remove) {
    if (dryRun || (await removeRun(store, ask, run, options))) removed.push(run);
    else kept.push({ id: run.id, why: 'it was used again meanwhile' });
  }
  if (!dryRun) for (const batch of plan.batches) await removeBatch(store, batch);
  const goneKeys = removed.flatMap((run) => removable(run, options));
  const { descriptions, layers, judgements } = await sweepCaches(store, { nowMs, dryRun, olderThanMs });
  const sweeping = { nowMs, dryRun, without: new Set(goneKeys) };
  const objects = await sweepObjects(store, sweeping);
  const payloads = await sweepPayloads(store, ask, session?.namespace ?? '', sweeping);
  const gone = new Set(goneKeys);
  const runBytes = removed.flatMap(({ entries }) => entries.filter(({ key }) => gone.has(key)));
  return {
    dryRun,
    searches: removed.map(({ id }) => id),
    batches: plan.batches.map(({ id }) => id),
    objects: objects.removed.length,
    payloads: payloads.removed.length,
    // Kept descriptions of databases that are too old to be used.
    descriptions: descriptions.removed.length,
    // Copies of layers beside a larger one.
    layerCopies: layers.removed.length,
    // Requests to a judge of answers, and its replies.
    judgements: judgements.removed.length,
    bytes: [
      runBytes,
      ...plan.batches.map(({ entries }) => entries),
      ...[objects, payloads, descriptions, layers, judgements].map((swept) => swept.removed),
    ]
      .map(sizeOf)
      .reduce((sum, bytes) => sum + bytes, 0),
    kept,
    // Unneeded objects and payloads of less than a day.
    young: objects.young + payloads.young,
    problems: problemsOf(ask, objects),
  };
}

export function askTemporal({ listing }: Pick<GateClient, 'listing'>): NonNullable<AskTemporal> {
  return async (workflowId) => {
    const described = await unlessGone(listing.workflow.getHandle(workflowId).describe());
    if (described === null) return 'gone';
    return described.status.name === 'RUNNING' ? 'running' : 'closed';
  };
}

function problemsOf(ask: AskTemporal, objects: Swept): string[] {
  return [
    ...(ask === null ? ['Temporal does not answer: searches without a final record and all payloads were kept'] : []),
    ...(objects.problem === null ? [] : [objects.problem]),
  ];
}

function sizeOf(entries: readonly ObjectEntry[]): number {
  return entries.reduce((sum, { bytes }) => sum + bytes, 0);
}

function told(result: GcResult): string {
  const { dryRun, searches, batches, objects, payloads, bytes, kept, young, problems } = result;
  const { descriptions, layerCopies, judgements } = result;
  const counts = [
    counted(searches.length, 'search', 'searches'),
    ...(batches.length === 0 ? [] : [counted(batches.length, 'batch', 'batches')]),
    counted(objects, 'shared object'),
    ...(payloads === 0 ? [] : [counted(payloads, 'payload')]),
    ...(descriptions === 0 ? [] : [counted(descriptions, 'old description')]),
    ...(layerCopies === 0 ? [] : [counted(layerCopies, 'old copy of a layer', 'old copies of a layer')]),
    ...(judgements === 0 ? [] : [counted(judgements, 'file of a judge', 'files of a judge')]),
  ];
  const lines = [
    `${dryRun ? 'would remove' : 'removed'} ${counts.join(', ')}: ${megabytes(bytes)}`,
    ...kept.map(({ id, why }) => `kept ${id}: ${why}`),
    ...(young === 0 ? [] : [`kept ${counted(young, 'unused object')} less than a day old: run gate gc again later`]),
    ...problems.map((problem) => `note: ${problem}`),
  ];
  return `${lines.join('\n')}\n`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(bytes < 10_000_000 ? 2 : 0)} MB`;
}
