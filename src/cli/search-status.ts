/** Where a search stands: Temporal's view while it runs, else the final record, else the last checkpoint. */
import type { SearchInput, Usage } from '../domain';
import { idByName, searchIdOf } from '../record/search-id';
import { endpointText, type ServingParts } from '../workers/serving';
import type { Io } from './io';
import { outagesOf, outageText, type Outage } from './outages';
import { checkpointsOf, inputOf, recordOf, type Services } from './services';
import { openRunning, sayStoreOnly, statusWithoutRecord } from './temporal-session';

export interface SearchStatus {
  readonly id: string;
  readonly question: string | null;
  /** A final status, `running`, `paused`, `interrupted` (nobody works on it), or `unknown`: no Temporal answers. */
  readonly status: string;
  /** Why it ended without an answer. */
  readonly reason: string | null;
  readonly iteration: number | null;
  readonly bottleneck: string | null;
  readonly learned: string | null;
  readonly usage: Usage | null;
  /** Steps whose last attempt failed and that are tried again, in words. */
  readonly retrying: readonly string[];
  /** The same for programs: attempt, next try, when it gives up. */
  readonly outages: readonly Outage[];
  readonly ui: string | null;
  /** What to do next. */
  readonly next: string | null;
}

export async function searchStatus(
  { config, store }: Services,
  io: Pick<Io, 'env' | 'err'>,
  id: string,
): Promise<SearchStatus> {
  const input = await inputOf(store, id);
  const base = {
    id,
    question: input?.question.text ?? null,
    reason: null,
    bottleneck: null,
    learned: null,
    retrying: [],
    outages: [],
    ui: null,
  };
  const session = await openRunning(config, io.env, sayStoreOnly(io));
  try {
    const live = session === null ? null : await session.describe(id);
    if (session !== null && live?.status === 'RUNNING') {
      const progress = await session.progress(id);
      const attended = progress !== null;
      const paused = await session.isPaused(id);
      const nowMs = Date.now();
      const outages = outagesOf(live, nowMs);
      return {
        ...base,
        status: paused ? 'paused' : 'running',
        iteration: progress?.iteration ?? null,
        bottleneck: progress?.bottleneck ?? null,
        learned: progress?.learned ?? null,
        usage: progress?.usage ?? (await lastUsage(store, id)),
        retrying: outages.map((outage) => outageText(outage, nowMs)),
        outages,
        ui: session.uiOf(id),
        next: !attended ? noWorker(live.serving, input) : paused ? `gate resume ${id}` : null,
      };
    }
  } finally {
    await session?.close();
  }
  const record = await recordOf(store, id);
  if (record !== null) {
    return {
      ...base,
      status: record.status,
      reason: record.reason,
      iteration: null,
      usage: record.usage,
      next: `gate result ${id}`,
    };
  }
  const status = statusWithoutRecord(config, io.env, session !== null);
  const next = status === 'unknown' ? 'no Temporal answers: see gate doctor' : howToGoOn(input);
  return { ...base, status, iteration: null, usage: await lastUsage(store, id), next };
}

function noWorker(serving: ServingParts | null, input: SearchInput | null): string {
  const asked = serving === null ? '' : ` (it was asked with ${endpointText(serving)})`;
  return `no worker answers${asked}; ${howToGoOn(input)}`;
}

/** A search of `--fresh` has an id that no later question finds; a worker goes on with any that Temporal knows. */
export function howToGoOn(input: SearchInput | null): string {
  return `${wayOn(input)}: the search continues where it was and pays nothing twice`;
}

function wayOn(input: SearchInput | null): string {
  if (input?.parent !== undefined)
    return 'fork again the same way, or start gate worker with the same configuration and --db';
  if (input === null || ![searchIdOf(input), idByName(input)].includes(input.searchId))
    return 'start gate worker with the same configuration and --db';
  return input.namespace === 'user' ? 'ask the same question again' : 'run the same command again';
}

async function lastUsage(store: Services['store'], id: string): Promise<Usage | null> {
  const last = (await checkpointsOf(store, id)).at(-1);
  return last === undefined ? null : (await last.read()).usage;
}
