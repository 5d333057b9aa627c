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
import { appendToLayer, readLayer } from '../record/layer-store';
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
  return keepClaims(context, step, { description, claims, question: context.input.question.text });
}

/** Also of a search that learns, without a question. */
export async function keepClaims(
  context: StepContext,
  step: KeepInput,
  made: {
    readonly description: DatabaseDescription;
    readonly claims: readonly Claim[];
    readonly question: string | null;
  },
): Promise<ModelOutcome<Kept>> {
  const { description, question } = made;
  const { hash } = context.deps;
  const place = layerPlace(context);
  const { entries } = layerOf(await readLayer(place));
  const held = new Set(entries.map(({ entry }) => entry.entryId));
  const fresh = made.claims.filter(isEstablished).flatMap((claim) => {
    const check = plainCheck(claim.check);
    const entryId = entryIdOf(check, hash);
    return held.has(entryId) || claim.entry !== undefined || isClocked(check) ? [] : [{ claim, check, entryId }];
  });
  if (fresh.length === 0) return { kind: 'ok', value: { kept: 0 }, usage: {} };
  const inspector = await openParser(context, description.dialect);
  const read = fresh.map((each) => {
    const inspection = inspector.inspect(each.check);
    const tables = inspection.kind === 'select' ? [...inspection.relations] : [];
    return { ...each, tables, columns: namedColumns(each.check, tables, description) };
  });
  const known = near(
    visibleEntries(entries, description),
    read.flatMap(({ tables }) => tables),
  );
  const prompt = {
    ...{ dialect: description.dialect, question },
    claims: read.map(({ claim, check }) => claimToRead(claim, check)),
    known: known.map(({ entry }, at) => ({ key: `k${at + 1}`, text: entryText(entry) })),
  };
  const idOf = (key: string): string[] => {
    const at = /^k(\d+)$/.exec(key.trim())?.[1];
    const entry = at === undefined ? undefined : known[Number(at) - 1];
    return entry === undefined ? [] : [entry.entry.entryId];
  };
  const at = now(context);
  const entryOf = (reply: KeepReply['claims'][number]): LayerEntry[] => {
    const each = read[reply.claim - 1];
    if (each === undefined || !reply.keep || each.tables.length === 0) return [];
    const { claim, check, entryId, tables, columns } = each;
    return [
      {
        ...{ schemaVersion: 1 as const, entryId, statement: reply.statement.trim(), rows: claim.rows },
        ...{ scope: reply.scope, check, matching: claim.matching, examined: claim.examined },
        rivals: claim.rivals.map(({ reading, matching, examined, verdict }) => ({
          ...{ reading, matching, examined, refuted: verdict === 'refuted' },
        })),
        ...{ tables, columns, operator: null, restsOn: [...new Set(reply.restsOn.flatMap(idOf))] },
        from: { searchId: context.run.searchId, question },
        ...{ provedAt: at, schemaFingerprint: description.fingerprint },
      },
    ];
  };
  return runModelStep(context, step, {
    role: 'keep',
    schema: keepSchema,
    messages: () => renderKeep(prompt),
    parse: (text) => parseKeep(text, prompt),
    read: (reply) => ({
      kind: 'ok',
      store: async () => {
        const kept = reply.claims.flatMap((each) =>
          entryOf(each).map((entry) => ({ entry, contradicts: each.contradicts.flatMap(idOf) })),
        );
        const events = kept.flatMap(({ entry, contradicts }): LayerEvent[] => [
          { kind: 'proved', at, entry },
          ...contradicts.flatMap((other) => contradiction(at, entry, other)),
        ]);
        await appendToLayer(place, events, context.run.searchId);
        await context.run.put('kept', KEPT_ID, {
          schemaVersion: 1,
          entries: kept.map(({ entry: { entryId, statement } }) => ({ entryId, statement })),
        });
        return { kept: kept.length };
      },
    }),
  });
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
