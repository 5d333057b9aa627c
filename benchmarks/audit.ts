/** `gate-bench audit`: reads the updates of stored searches, has pairs of them judged, and keeps what people decide. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import type { Bench } from '../src/app/run/laboratory';
import { resultsIn } from '../src/app/run/results';
import { GateError, UsageError } from '../src/app/errors';
import { EXIT, type ExitCode } from '../src/cli/exit';
import { watchInterrupts } from '../src/cli/interrupts';
import type { Io } from '../src/cli/io';
import { unpricedModels } from '../src/app/model-check';
import { findSearch } from '../src/app/searches';
import { openServices } from '../src/app/services';
import { authorOf } from '../src/app/surroundings';
import { findBatch, RESULTS, searchesOfBatch } from '../src/app/run/stored-batches';
import type { Dialect } from '../src/domain';
import { each } from '../src/limiter';
import type { ObjectStore, SqlInspector } from '../src/domain/ports';
import { SCHEMA_ID } from '../src/record/contents';
import { createRunStore } from '../src/record/run-store';
import { loadTrace } from '../src/report';
import { counted } from '../src/report/printable';
import { compose } from '../src/workers/composition';
import { inspectorOf } from '../src/workers/engines';
import { paidLines } from './judge';
import { JUDGE_VERSION } from './judge-prompt';
import { judgeContradiction } from './judge-step';
import { type JudgeFlags, openJudge } from './judging';
import {
  type AuditedSearch,
  type AuditedUpdate,
  auditSearch,
  decisionOf,
  DECISIONS,
  flaggedPairs,
  type Judged,
  type JudgedPair,
  storeDecision,
  storeFlagged,
  updateAudit,
  type UpdateAudit,
} from './update-audit';
import { auditText } from './update-audit-view';

export interface AuditFlags extends JudgeFlags {
  readonly judge?: boolean;
  readonly maxCost: number | 'none';
  readonly json?: boolean;
}

export async function auditUpdates(what: readonly string[], flags: AuditFlags, io: Io): Promise<ExitCode> {
  const services = openServices(io);
  const ids = [...new Set((await each(what, (one) => searchesOf(services.store, one, io))).flat())];
  const stopping = watchInterrupts(io);
  const bench = { services, stopping, now: () => io.now(), note: (line: string) => io.err(`${line}\n`) };
  const { audit, interrupted } = await auditOf(bench, ids, flags.judge ? flags : null).finally(stopping.stopListening);
  io.out(flags.json ? `${JSON.stringify(audit, null, 2)}\n` : auditText(audit, io.columns));
  if (!flags.judge && audit.pairs > 0) io.err(`--judge has ${counted(audit.pairs, 'pair')} judged by a model\n`);
  return interrupted ? EXIT.cancelled : EXIT.ok;
}

/** `judge` null: nothing is judged. */
export async function auditOf(
  bench: Bench,
  ids: readonly string[],
  judge: Pick<AuditFlags, 'model' | 'maxCost'> | null,
): Promise<{ readonly audit: UpdateAudit; readonly interrupted: boolean; readonly paidUsd: number }> {
  const searches = await each(ids, (id) => audited(bench.services.store, id), LOADED_AT_ONCE);
  const judged = judge === null ? null : await judgedPairs(bench, searches, judge);
  const { interrupted = false, paidUsd = 0 } = judged ?? {};
  return { audit: updateAudit(searches, judged), interrupted, paidUsd };
}

const LOADED_AT_ONCE = 4;

/** The searches of a folder of results, of a batch, or of an id. */
async function searchesOf(store: ObjectStore, what: string, io: Io): Promise<readonly string[]> {
  const folder = resolve(io.cwd, what);
  if (existsSync(join(folder, RESULTS))) return resultsIn(folder, what).map(({ searchId }) => searchId);
  if (what.startsWith('b-')) return searchesOfBatch(store, (await findBatch(store, what)).id);
  return [await findSearch(store, what)];
}

async function audited(store: ObjectStore, searchId: string): Promise<AuditedSearch> {
  const trace = await loadTrace(store, searchId);
  if (trace === null) throw new GateError(`no search ${searchId} in the store; gate list shows the known ones`);
  const schema = await createRunStore(store, searchId).find('schema', SCHEMA_ID);
  // Without a schema nothing was asked of the database yet, so there is nothing to parse.
  return auditSearch(trace, await parserOf(schema?.description.dialect ?? 'sqlite'));
}

const parsers = new Map<Dialect, Promise<SqlInspector>>();

function parserOf(dialect: Dialect): Promise<SqlInspector> {
  const opened = parsers.get(dialect) ?? inspectorOf(dialect);
  parsers.set(dialect, opened);
  return opened;
}

async function judgedPairs(
  { services: { config }, now, note, stopping }: Bench,
  searches: readonly AuditedSearch[],
  flags: Pick<AuditFlags, 'model' | 'maxCost'>,
): Promise<Judged & { readonly interrupted: boolean; readonly paidUsd: number }> {
  const pairs = searches.flatMap((search) => search.pairs);
  const composition = await compose(config);
  try {
    const judging = openJudge(composition, config, flags, { now, signal: stopping.quit });
    const { store } = composition;
    note(`judging ${counted(pairs.length, 'pair')}; what was judged before costs nothing`);
    const flagged = new Map<string, JudgedPair>();
    const verdicts = await judging.each(pairs, async ({ context, ...pair }) => {
      if (stopping.asked.aborted || judging.isSpent()) return [];
      const { pairId, searchId, question, updates } = pair;
      const { contradictory, reason } = await judgeContradiction(judging.judge, { question, context, updates });
      if (contradictory === true) {
        const ids = updates.map(({ updateId }) => updateId) as [string, string];
        await storeFlagged(store, { schemaVersion: 1, pairId, searchId, updates: ids });
        const sides = [...updates] as [AuditedUpdate, AuditedUpdate];
        const shown = { ...pair, tables: [...pair.tables], updates: sides };
        flagged.set(pairId, { ...shown, reason, decision: await decisionOf(store, pairId) });
      }
      return [{ pairId, contradictory }];
    });
    const unpriced = unpricedModels(config, [judging.judge.name]);
    const paid = judging.paid();
    for (const line of paidLines({ paid, unpricedModels: unpriced })) note(line);
    return {
      ...{ model: judging.judge.name, version: JUDGE_VERSION, verdicts: verdicts.flat() },
      flagged: pairs.flatMap(({ pairId }) => flagged.get(pairId) ?? []),
      interrupted: stopping.asked.aborted,
      paidUsd: paid.costUsd,
    };
  } finally {
    await composition.close();
  }
}

export interface DecideFlags {
  readonly note?: string;
  readonly author?: string;
  readonly json?: boolean;
}

export async function decidePair(wanted: string, given: string, flags: DecideFlags, io: Io): Promise<void> {
  const { store } = openServices(io);
  if (!/^p-[0-9a-f]{2,12}$/.test(wanted))
    throw new UsageError(`'${wanted}' is not the id of a pair; give p-…, as gate-bench audit updates --judge shows it`);
  const [pair, ...others] = await flaggedPairs(store, wanted);
  if (pair === undefined)
    throw new GateError(`no flagged pair ${wanted}: gate-bench audit updates … --judge shows them`);
  if (others.length > 0)
    throw new UsageError(`'${wanted}' is the beginning of ${others.length + 1} pair ids; give more of the id`);
  const decision = z.enum(DECISIONS).parse(given);
  const note = flags.note?.trim() ?? '';
  const decided = {
    ...{ schemaVersion: 1 as const, pairId: pair.pairId, decision, note: note === '' ? null : note },
    ...{ author: authorOf(flags.author, io), at: new Date(io.now()).toISOString() },
  };
  await storeDecision(store, decided);
  const [one, other] = pair.updates;
  io.out(
    flags.json
      ? `${JSON.stringify(decided)}\n`
      : `${pair.pairId} (${one} and ${other} of ${pair.searchId}) is ${decision === 'contradiction' ? 'a contradiction' : 'consistent'}\n`,
  );
}
