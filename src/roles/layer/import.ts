/**
 * Entries of a file are claims like a model's: each check is read by the database's parser, runs, and only what the rows show
 * becomes an entry. The figures of the file decide nothing. Its words are kept as they are, because no check proves words.
 */
import {
  EntryId,
  type Claim,
  type DatabaseDescription,
  type LayerEntry,
  type LayerEvent,
  type SqlResult,
} from '../../domain';
import { canonical } from '../../domain/canonical';
import { type ClaimedEntry, OssieError } from '../../layer/ossie';
import type { HeldEntry } from '../../layer/state';
import type { SqlEngine, SqlInspector } from '../../domain/ports';
import { readCounts } from '../../sql/claims';
import { isClocked } from '../../sql/clock';
import { DEFAULT_SCHEMAS } from '../../sql/access';
import { countingParts, vacuousCheck } from '../../sql/checks';
import { runInBatches } from './verify';
import { claimNow, entryIdOf, namedColumns, plainCheck } from './entries';
import { counted } from '../../counted';

export type Outcome =
  /** The rows show it; it is an entry now. */
  | 'kept'
  /** The layer holds its check already. */
  | 'known'
  /** The rows show otherwise. */
  | 'contradicted'
  /** The rows show neither it nor otherwise. */
  | 'not-shown'
  | 'not-checked';

export interface Imported {
  /** Of its check; null: it has none. */
  readonly entryId: string | null;
  readonly statement: string;
  readonly outcome: Outcome;
  /** In one line; null if it is kept. */
  readonly why: string | null;
  /** Of its check here; null: it did not run. */
  readonly counts: Pick<Claim, 'matching' | 'examined' | 'rivals'> | null;
}

export interface ImportOptions {
  /** Where the claims come from: kept as `from.searchId`, because no search proved them. */
  readonly source: 'import' | 'add';
  readonly engine: SqlEngine;
  readonly inspector: SqlInspector;
  readonly description: DatabaseDescription;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly now: () => number;
}

/** Throws `OssieError` where two claims have the same check and differ. */
export async function importEntries(
  claims: readonly ClaimedEntry[],
  held: readonly HeldEntry[],
  options: ImportOptions,
): Promise<{ readonly imported: readonly Imported[]; readonly events: readonly LayerEvent[] }> {
  const ids = new Map(claims.map(({ entryId, check }) => [entryId, entryIdOf(plainCheck(check))]));
  const read = claims.map((claim) => ({ claim, ...readEntry(claim, ids, held, options) }));
  refuseTwins(read.map(({ claim, entryId }) => ({ claim, entryId })));
  const runnable = read.filter((each) => each.kind === 'runs');
  const { engine, timeoutMs, signal } = options;
  const checks = runnable.map(({ check }) => check);
  const results = await runInBatches(engine, checks, { timeoutMs, signal, tag: 'gate layer import' });
  const at = new Date(options.now()).toISOString();
  const events: LayerEvent[] = [];
  const imported = read.map((each): Imported => {
    const base = { entryId: each.entryId, statement: each.claim.statement };
    if (each.kind === 'told') return { ...base, outcome: each.outcome, why: each.why, counts: null };
    const decided = decide(each.claim, each.check, results[runnable.indexOf(each)]);
    if (decided.outcome === 'kept') {
      const { matching, examined, rivals } = decided.counts;
      const entry: LayerEntry = {
        ...{ entryId: each.entryId, statement: each.claim.statement, rows: each.claim.rows },
        ...{ scope: each.claim.scope, check: each.check, matching, examined },
        rivals: rivals.map(({ verdict, ...rival }) => ({ ...rival, refuted: verdict === 'refuted' })),
        ...{ tables: [...each.tables], columns: [...each.columns], operator: each.claim.operator },
        ...{ restsOn: [...each.restsOn], from: { searchId: options.source, question: null }, provedAt: at },
        schemaFingerprint: options.description.fingerprint,
      };
      events.push({ kind: 'proved', at, entry });
    }
    return { ...base, ...decided };
  });
  return { imported, events };
}

type Read =
  | { readonly kind: 'told'; readonly entryId: string | null; readonly outcome: Outcome; readonly why: string }
  | {
      readonly kind: 'runs';
      readonly entryId: string;
      readonly check: string;
      readonly tables: readonly string[];
      readonly columns: readonly string[];
      readonly restsOn: readonly string[];
    };

/** Whether its check may run here, by what is written in it. */
function readEntry(
  claim: ClaimedEntry,
  ids: ReadonlyMap<string, string>,
  held: readonly HeldEntry[],
  { inspector, description }: ImportOptions,
): Read {
  const check = plainCheck(claim.check);
  const entryId = check.trim() === '' ? null : entryIdOf(check);
  const told = (why: string, outcome: Outcome = 'not-checked'): Read => ({ kind: 'told', entryId, outcome, why });
  if (entryId === null) return told('it has no check');
  if (claim.rivals.length === 0) return told('it has no rival that could lose');
  const inspection = inspector.inspect(check);
  if (inspection.kind === 'refused') return told(`its check is refused: ${inspection.message}`);
  if (inspection.kind === 'syntax-error') return told(`its check is no SQL of this database: ${inspection.message}`);
  if (isClocked(check)) return told('its check reads the clock, and would hold for a day');
  if (inspection.relations.length === 0) return told('its check reads no table');
  const found = inspection.relations.map((relation) => ({ relation, table: tableNamed(relation, description) }));
  const missing = found.filter(({ table }) => table === undefined).map(({ relation }) => relation);
  if (missing.length > 0) return told(`not in this database: ${missing.join(', ')}`);
  const { dialect } = description;
  // An entry does not say what its rivals put into an answer.
  const ran = claim.rivals.map(() => true);
  const [fault] = countingParts(check, dialect).flatMap((part) => vacuousCheck(part, ran, dialect) ?? []);
  if (fault !== undefined) return told(`its check shows nothing: ${fault}`);
  const restsOn = claim.restsOn.map((id) => ids.get(id) ?? id);
  const unknown = restsOn.find((id) => !EntryId.safeParse(id).success);
  if (unknown !== undefined) return told(`it rests on ${unknown}, which is no entry`);
  const known = held.find(({ entry }) => entry.entryId === entryId);
  if (known !== undefined) return told(`the layer holds it, as ${known.status}`, 'known');
  const tables = [...new Set(found.flatMap(({ table }) => table ?? []))];
  return { kind: 'runs', entryId, check, tables, columns: namedColumns(check, tables, description), restsOn };
}

/** As an entry names it; `public.team` may be described as `team`. */
function tableNamed(relation: string, { tables }: DatabaseDescription): string | undefined {
  const wanted = relation.toLowerCase();
  const schema = DEFAULT_SCHEMAS.find((name) => wanted.startsWith(`${name}.`));
  const isNamed = (name: string): boolean => tables.some((table) => table.name.toLowerCase() === name);
  if (isNamed(wanted)) return relation;
  return schema !== undefined && isNamed(wanted.slice(schema.length + 1))
    ? relation.slice(schema.length + 1)
    : undefined;
}

function refuseTwins(read: readonly { readonly claim: ClaimedEntry; readonly entryId: string | null }[]): void {
  const seen = new Map<string, string>();
  for (const { claim, entryId } of read) {
    if (entryId === null) continue;
    const text = canonical({ ...claim, entryId });
    if (seen.has(entryId) && seen.get(entryId) !== text)
      throw new OssieError(`it has two entries with the check of ${entryId} that differ`);
    seen.set(entryId, text);
  }
}

type Decided =
  | { readonly outcome: 'kept'; readonly why: null; readonly counts: Counted }
  | { readonly outcome: Exclude<Outcome, 'kept'>; readonly why: string; readonly counts: Imported['counts'] };

interface Counted {
  readonly matching: number;
  readonly examined: number;
  readonly rivals: Claim['rivals'];
}

/** That a rival gave the same answer is the file's word, so at least one other has to lose by its counts. */
function decide({ statement, rows, rivals }: ClaimedEntry, check: string, result: SqlResult | undefined): Decided {
  const unchecked = (why: string): Decided => ({ outcome: 'not-checked', why, counts: null });
  const counts = readCounts(result, 2);
  if (typeof counts === 'string') return unchecked(`its check gave no counts: ${counts}`);
  const width = 2 + rivals.length;
  if (counts.length !== width && counts.length !== width + rivals.length)
    return unchecked(
      `its check gives ${counted(counts.length, 'column')} instead of ${width} or ${width + rivals.length}`,
    );
  const claim = claimNow({ statement, rows, check, rivals }, result);
  const { state, reason, matching, examined } = claim;
  const told = { matching, examined, rivals: claim.rivals };
  if (state === 'failed') return { outcome: 'contradicted', why: reason ?? 'its check fails', counts: told };
  if (matching === null || examined === null) return unchecked(reason ?? 'its check gave no counts');
  const hasLoser = claim.rivals.some(({ verdict }) => verdict === 'refuted');
  if ((state === 'proved' || state === 'exceptions') && hasLoser)
    return { outcome: 'kept', why: null, counts: { matching, examined, rivals: claim.rivals } };
  return { outcome: 'not-shown', why: reason ?? 'no rival loses', counts: told };
}
