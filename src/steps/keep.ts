/**
 * Role `keep`: what a search proved enters the layer of its database. Only claims that the database established by counts,
 * with a rival that it refuted, are read; the model words them and says which help no other question.
 */
import type { Claim, DatabaseDescription, LayerEntry, LayerEvent } from '../domain';
import { keepSchema, parseKeep, renderKeep, type KeepReply } from '../prompts/keep';
import type { KeepInput, Kept, ModelOutcome } from '../ports/search-steps';
import { layerOf, type HeldEntry } from '../layer/state';
import { countsText } from '../sql/claims';
import { isClocked } from '../sql/clock';
import { SCHEMA_ID } from '../record/contents';
import { appendToLayer, readLayer, type LayerPlace } from '../record/layer-store';
import { now, openParser, type StepContext } from './context';
import { entryIdOf, entryText, layerPlace, namedColumns, plainCheck, visibleEntries } from './layer-entries';
import { runModelStep } from './model-step';

/** The id under which a search stores what it kept. */
export const KEPT_ID = 'kept';

/** Entries that the reading is shown, so that it sees what rests on what, and what contradicts what. */
const SHOWN = 12;

type Proved = Claim & { readonly operator: string; readonly matching: number; readonly examined: number };

export async function keep(context: StepContext, step: KeepInput): Promise<ModelOutcome<Kept>> {
  const { description } = await context.run.get('schema', SCHEMA_ID);
  const claims = (await context.run.find('verdict', step.turnId))?.claims ?? [];
  const question = context.settings.method === 'learn' ? null : context.input.question.text;
  return keepClaims(context, step, { description, claims, question });
}

async function keepClaims(context: StepContext, step: KeepInput, made: Made): Promise<ModelOutcome<Kept>> {
  const place = layerPlace(context);
  const { entries } = layerOf(await readLayer(place));
  const fresh = await freshClaims(context, made, entries);
  if (fresh.length === 0) return { kind: 'ok', value: { kept: 0 }, usage: {} };
  const known = near(
    visibleEntries(entries, made.description),
    fresh.flatMap(({ tables }) => tables),
  ).map(({ entry }, at) => ({ key: `k${at + 1}`, entry }));
  const prompt = {
    ...{ dialect: made.description.dialect, question: made.question },
    claims: fresh.map(({ claim, check }) => claimToRead(claim, check)),
    known: known.map(({ key, entry }) => ({ key, text: entryText(entry) })),
  };
  const idsOf = (keys: readonly string[]): string[] =>
    known.filter(({ key }) => keys.some((each) => each.trim() === key)).map(({ entry }) => entry.entryId);
  return runModelStep(context, step, {
    role: 'keep',
    schema: keepSchema,
    messages: () => renderKeep(prompt),
    parse: (text) => parseKeep(text, prompt),
    read: (reply) => ({ kind: 'ok', store: () => store(context, place, made, { reply, fresh, idsOf }) }),
  });
}

interface Made {
  readonly description: DatabaseDescription;
  readonly claims: readonly Claim[];
  /** null: learned without one. */
  readonly question: string | null;
}

interface Fresh {
  readonly claim: Proved;
  readonly check: string;
  readonly entryId: string;
  readonly tables: readonly string[];
  readonly columns: readonly string[];
}

/** What the database established and the layer does not hold yet. A proof that reads the clock holds for one day only. */
async function freshClaims(
  context: StepContext,
  { claims, description }: Made,
  entries: readonly HeldEntry[],
): Promise<readonly Fresh[]> {
  const held = new Set(entries.map(({ entry }) => entry.entryId));
  const fresh = claims.filter(isEstablished).flatMap((claim) => {
    const check = plainCheck(claim.check);
    const entryId = entryIdOf(check, context.deps.hash);
    return held.has(entryId) || claim.entry !== undefined || isClocked(check) ? [] : [{ claim, check, entryId }];
  });
  if (fresh.length === 0) return [];
  const inspector = await openParser(context, description.dialect);
  return fresh.flatMap((each) => {
    const inspection = inspector.inspect(each.check);
    if (inspection.kind !== 'select' || inspection.relations.length === 0) return [];
    const tables = [...inspection.relations];
    return [{ ...each, tables, columns: namedColumns(each.check, tables, description) }];
  });
}

interface Read {
  readonly reply: KeepReply;
  readonly fresh: readonly Fresh[];
  /** The entries that keys of the prompt stand for. */
  readonly idsOf: (keys: readonly string[]) => string[];
}

async function store(
  context: StepContext,
  place: LayerPlace,
  made: Made,
  { reply, fresh, idsOf }: Read,
): Promise<Kept> {
  const at = now(context);
  const kept = reply.claims.flatMap(({ claim: number, keep: isKept, statement, scope, restsOn, contradicts }) => {
    const each = fresh[number - 1];
    if (each === undefined || !isKept) return [];
    const { claim, check, entryId, tables, columns } = each;
    const entry: LayerEntry = {
      ...{ schemaVersion: 1, entryId, statement: statement.trim(), rows: claim.rows, scope, check },
      ...{ matching: claim.matching, examined: claim.examined },
      rivals: claim.rivals.map(({ verdict, ...rival }) => ({ ...rival, refuted: verdict === 'refuted' })),
      ...{ tables: [...tables], columns: [...columns], operator: null, restsOn: idsOf(restsOn) },
      from: { searchId: context.run.searchId, question: made.question },
      ...{ provedAt: at, schemaFingerprint: made.description.fingerprint },
    };
    return [{ entry, contradicts: idsOf(contradicts) }];
  });
  const events = kept.flatMap(({ entry, contradicts }): LayerEvent[] => [
    { kind: 'proved', at, entry },
    ...contradicts.flatMap((other) => contradiction(at, entry, other)),
  ]);
  await appendToLayer(place, events, context.run.searchId);
  // Of earlier turns, too; a repeated step gives the same.
  const before = (await context.run.find('kept', KEPT_ID))?.entries ?? [];
  const all = [...before, ...kept.map(({ entry: { entryId, statement } }) => ({ entryId, statement }))];
  const entries = [...new Map(all.map((each) => [each.entryId, each])).values()];
  await context.run.put('kept', KEPT_ID, { schemaVersion: 1, entries });
  return { kept: kept.length };
}

/** Both, until a person or a later count tells them apart. */
function contradiction(at: string, { entryId, statement }: LayerEntry, other: string): LayerEvent[] {
  const why = `both cannot be right: ${statement}`;
  return [
    { kind: 'contradicted', at, entryId: other, by: entryId, why },
    { kind: 'contradicted', at, entryId, by: other, why: 'kept before, and both cannot be right' },
  ];
}

/** A claim none of whose rivals the data refuted has been told apart from nothing. */
function isEstablished(claim: Claim): claim is Proved {
  const { operator, state, matching, examined, rivals } = claim;
  return (
    operator !== null &&
    (state === 'proved' || state === 'exceptions') &&
    matching !== null &&
    examined !== null &&
    rivals.some(({ verdict }) => verdict === 'refuted')
  );
}

function claimToRead(claim: Proved, check: string): string {
  return [
    `statement: ${claim.statement}`,
    `one examined row is: ${claim.rows}`,
    `counted: ${countsText(claim) ?? ''}${claim.state === 'exceptions' ? ', with exceptions' : ''}`,
    ...claim.rivals.map(
      ({ reading, matching, verdict }) => `rival "${reading}": ${matching ?? 'not counted'}, ${verdict}`,
    ),
    `check: ${check}`,
  ].join('\n');
}

/** Those on the same tables first. */
function near(entries: readonly HeldEntry[], tables: readonly string[]): readonly HeldEntry[] {
  const read = new Set(tables.map((table) => table.toLowerCase()));
  const shared = ({ entry }: HeldEntry): number => entry.tables.filter((table) => read.has(table.toLowerCase())).length;
  return entries
    .filter((entry) => entry.status !== 'rejected' && shared(entry) > 0)
    .sort((a, b) => shared(b) - shared(a))
    .slice(0, SHOWN);
}
