/**
 * Role `keep`: what a search proved enters the layer of its database (docs/layer.md). Only claims that the database established by
 * counts, with a rival that it refuted, are read. The figures are the database's; the model says in words that other questions
 * can rely on what they show, and which of them help no other question.
 */
import type { Claim, DatabaseDescription, LayerEntry, LayerEvent, Dialect } from '../domain';
import { canonical, compareText } from '../domain/canonical';
import type { ModelOutcome, UsageDelta } from '../domain/ports/step-parts';
import { fittingTexts, type HeldEntry } from '../layer/state';
import type { Agreement } from '../sql/agreement';
import { renderProfiles } from '../database/profile/render';
import { checkTerms, literalsOf } from '../sql/checks';
import { countsText } from '../sql/claims';
import { isClocked } from '../sql/clock';
import { SCHEMA_ID } from '../record/contents';
import { appendToLayer, type LayerPlace } from '../record/layer-store';
import { now, once, openParser, runSql, type StepContext } from './shared/context';
import {
  columnsNamed,
  currentLayer,
  entryIdOf,
  entryText,
  layerPlace,
  namedColumns,
  plainCheck,
  recounted,
  visibleEntries,
} from './layer/entries';
import { findLoaded, loadPlan, planSql, reachedFrom, type LoadedPlan } from './shared/load-plan';
import { runModelStep } from './shared/model-step';
import * as z from 'zod';
import { parseReply, replySchema, sketch, type Prompt } from './shared/reply';
import * as shared from './shared/prompt-parts';
import type { Given, Gives } from '../domain/ports/steps';

export interface KeepPrompt {
  readonly dialect: Dialect;
  /** null: learned without a question. */
  readonly question: string | null;
  /** With their checks and figures, numbered from 1. */
  readonly claims: readonly string[];
  /** The tables that they read. */
  readonly tables: string;
  /** Entries on the same tables, by key. */
  readonly known: readonly { readonly key: string; readonly text: string }[];
}

export const KeepReply = z.object({
  claims: z.array(
    z.object({
      claim: z.int(),
      keep: z.boolean(),
      /** null: as claimed. */
      statement: z.string().nullable(),
      scope: z.string().nullable(),
      restsOn: z.array(z.string()),
      replaces: z.array(z.string()),
      contradicts: z.array(z.object({ key: z.string(), rival: z.int().nullable() })),
    }),
  ),
});
export type KeepReply = z.infer<typeof KeepReply>;

export const keepRole: Prompt<KeepPrompt, KeepReply> = {
  schema: () => replySchema('keep', KeepReply),
  render(input) {
    const { dialect, question, claims, tables, known } = input;
    return shared.conversation(
      dialect,
      [shared.rulesSection([RULES, shared.replyRule(sketch(KeepReply))])],
      [
        shared.data('tables', tables),
        shared.data(
          'kept before',
          known.map(({ key, text }) => `${key}: ${text}`).join('\n') || 'nothing on these tables',
        ),
        ...claims.map((claim, at) => shared.data(`claim ${at + 1}`, claim)),
        ...(question === null ? [] : [`Question: ${question}`]),
        `${question === null ? '' : 'They were made to answer it. '}Read ${claims.length === 1 ? 'the claim' : `all ${claims.length} claims`}.`,
      ],
    );
  },
  parse(text, { claims }) {
    return parseReply(text, KeepReply, (reply) =>
      reply.claims.flatMap(({ claim }, at) =>
        claim >= 1 && claim <= claims.length
          ? []
          : [{ where: `claims[${at}].claim`, found: `found ${claim}`, allowed: `use 1 to ${claims.length}` }],
      ),
    );
  },
};

const RULES = `You read what a database has just counted, before it is kept for every later question about it. Others will rely on your wording and will not see the check. For each claim:
- keep: false if what was kept before or an earlier claim says it already (also in other words, or with its lists in another order), if it helps no other question (it is about one customer, one period, one filter of the question), if the check cannot fail (it compares a thing with itself, or counts rows that were filtered by the condition), if it counts something else than it says, if no rival is a reading that a careful person would try, or if it is a mere value of today (a highest number, a count of rows).
- statement: null where the claim's own sentence can stand as it is; else one sentence, general, that says what the check counts and nothing more: tables and columns as table.column, the rule or formula to use. Of a code or a sign say what each side of the check is, so that nobody has to guess the rest. A bound, date or factor that the rows leave open is told as what was tried, with the others that fit. What was not counted stays out: other tables, other periods, why; but the everyday word that the counted rows bear out (cats, for rows whose breeds are cats; a night shift) may stand in brackets, because later questions use it. Figures of the counts stay out too; they are shown beside it.
- scope: which rows or which period the check looks at, where these are not all; else null.
- restsOn: keys of what was kept before, without which it means nothing; mostly [].
- replaces: keys of what was kept before that this one says as well, and more, or more strictly; mostly [].
- contradicts: what was kept before that cannot be true if this is, by key, and which rival of this claim, counted from 1, is its reading, if one is; mostly [].`;

/** Entries that the reading is shown, so that it sees what rests on what, and what contradicts what. */
const SHOWN = 12;

type Proved = Claim & { readonly operator: string; readonly matching: number; readonly examined: number };

export async function keep(context: StepContext, step: Given<'keep'>): Promise<ModelOutcome<Gives<'keep'>>> {
  const { description } = await context.run.get('schema', SCHEMA_ID);
  const verdict = (await context.run.find('verdict', step.turnId)) ?? (await context.run.find('restated', step.turnId));
  const before = await Promise.all((step.before ?? []).map((id) => context.run.get('verdict', id)));
  const question = context.settings.method === 'learn' ? null : context.input.question.text;
  const plan = await planOf(context, verdict?.candidateId ?? null);
  const claims = [...before.flatMap((each) => each.claims), ...(verdict?.claims ?? [])];
  const turn = await context.run.find('turn', step.turnId);
  const insteads = new Map(
    turn?.reply.claims.flatMap(({ operator, rivals }) =>
      rivals.flatMap(({ reading, instead }) => (instead === null ? [] : [[rivalKey(operator, reading), instead]])),
    ),
  );
  return keepClaims(context, step, { description, claims, question, plan, insteads });
}

function rivalKey(operator: string, reading: string): string {
  return canonical([operator, reading]);
}

async function planOf(context: StepContext, candidateId: string | null): Promise<LoadedPlan | null> {
  const ref = candidateId === null ? null : (await context.run.find('candidate', candidateId))?.plan;
  return ref ? loadPlan(context, ref) : null;
}

async function keepClaims(context: StepContext, step: Given<'keep'>, made: Made): Promise<ModelOutcome<Gives<'keep'>>> {
  const place = layerPlace(context);
  // What is read, is read once: a repeated step asks the same, although the layer holds more by then.
  const { claims } = made;
  const { position } = step;
  const { fresh, known } = await once({ ...context, position: `${position}.read` }, { claims }, (reading) =>
    readingFor(reading, made, place),
  );
  const heldBy = (key: string): HeldEntry | undefined => known.find((each) => each.key === key.trim())?.held;
  const stored = async (reply: KeepReply, usage: UsageDelta): Promise<ModelOutcome<Gives<'keep'>>> => {
    const value = await once({ ...context, position: `${position}.kept` }, { claims, reply }, (keeping) =>
      store(keeping, place, made, { position, reply, fresh, heldBy }),
    );
    return { kind: 'ok', value, usage };
  };
  if (fresh.length === 0) return stored({ claims: [] }, {});
  const prompt = {
    ...{ dialect: made.description.dialect, question: made.question },
    claims: fresh.map(({ claim, check }) => claimToRead(claim, check)),
    tables: tablesOf(fresh, made.description),
    known: known.map(({ key, held }) => ({ key, text: entryText({ ...held.entry, statement: held.statement }) })),
  };
  const asked = await runModelStep(context, step, keepRole, prompt, (reply) => () => Promise.resolve(reply));
  return asked.kind === 'ok' ? stored(asked.value, asked.usage) : asked;
}

/** Names, types and keys: what a statement may speak of. */
function tablesOf(fresh: readonly Fresh[], { tables, dialect }: DatabaseDescription): string {
  const read = new Set(fresh.flatMap(({ tables: names }) => names.map((name) => name.toLowerCase())));
  const shown = tables.filter(({ name }) => read.has(name.toLowerCase()));
  return renderProfiles(shown, [], { dialect, maxChars: 0 });
}

interface Reading {
  readonly fresh: readonly Fresh[];
  readonly known: readonly { readonly key: string; readonly held: HeldEntry }[];
}

async function readingFor(context: StepContext, made: Made, place: LayerPlace): Promise<Reading> {
  const { entries } = await currentLayer(place);
  const fresh = await freshClaims(context, made, entries);
  const read = fresh.flatMap(({ tables }) => tables);
  const known = near(visibleEntries(entries, made.description), read);
  return { fresh, known: known.map((held, at) => ({ key: `k${at + 1}`, held })) };
}

interface Made {
  readonly description: DatabaseDescription;
  readonly claims: readonly Claim[];
  /** null: learned without one. */
  readonly question: string | null;
  /** That the claims are about; null: a lesson has none. */
  readonly plan: LoadedPlan | null;
  /** What a rival would put in the SQL of its answer (`rivalKey`). */
  readonly insteads: ReadonlyMap<string, { readonly of: string; readonly put: string }>;
}

interface Fresh {
  readonly claim: Proved;
  readonly check: string;
  readonly entryId: string;
  readonly tables: readonly string[];
  readonly columns: readonly string[];
}

/** What the database established and no entry says yet. A proof that reads the clock holds for one day only. */
async function freshClaims(
  context: StepContext,
  { claims, description }: Made,
  entries: readonly HeldEntry[],
): Promise<readonly Fresh[]> {
  const held = new Set(entries.map(({ entry }) => entry.entryId));
  const fresh = claims.filter(isEstablished).flatMap((claim) => {
    const check = plainCheck(claim.check);
    const entryId = entryIdOf(check);
    if (held.has(entryId) || claim.entry !== undefined || isClocked(check)) return [];
    held.add(entryId);
    return [{ claim, check, entryId }];
  });
  if (fresh.length === 0) return [];
  const inspector = await openParser(context, description.dialect);
  const isSaid = saidIn(entries, description, await countsOfNow(context));
  return fresh.flatMap((each) => {
    const inspection = inspector.inspect(each.check);
    if (inspection.kind !== 'select' || inspection.relations.length === 0) return [];
    const tables = [...inspection.relations];
    if (isSaid(each.check, tables, each.claim)) return [];
    return [{ ...each, tables, columns: namedColumns(each.check, tables, description) }];
  });
}

/** What the checks counted that this search began with. */
async function countsOfNow(context: StepContext): Promise<ReadonlyMap<string, Agreement>> {
  const known = await context.run.find('known', SCHEMA_ID);
  return new Map((known?.entries ?? []).map(({ entry }) => [entry.entryId, entry]));
}

/**
 * Whether an entry says it already in other words, so that no model has to read it: over the same tables and columns, with the
 * same literals, and with the same counts. A broken one says nothing.
 */
function saidIn(
  entries: readonly HeldEntry[],
  description: DatabaseDescription,
  counts: ReadonlyMap<string, Agreement>,
): (check: string, tables: readonly string[], seen: Agreement) => boolean {
  const held = entries
    .filter(({ status }) => status !== 'broken')
    .map(({ entry, counts: later }) => {
      const { matching, examined } = counts.get(entry.entryId) ?? { ...entry, ...later };
      return { entry, matching, examined, tables: sorted(entry.tables) };
    });
  return (check, tables, { matching, examined }) => {
    const alike = held.filter(
      (each) => each.matching === matching && each.examined === examined && each.tables === sorted(tables),
    );
    const own = alike.length === 0 ? null : sayingOf(check, tables, description);
    return own !== null && alike.some(({ entry }) => sayingOf(entry.check, entry.tables, description) === own);
  };
}

/** Null where the check cannot be read. */
function sayingOf(check: string, read: readonly string[], description: DatabaseDescription): string | null {
  const terms = checkTerms(check, description.dialect);
  return terms === null ? null : canonical([terms.terms, columnsNamed(terms.names, read, description)]);
}

function sorted(tables: readonly string[]): string {
  return canonical([...new Set(tables.map((table) => table.toLowerCase()))].sort(compareText));
}

interface Read {
  /** Of the reading. */
  readonly position: string;
  readonly reply: KeepReply;
  readonly fresh: readonly Fresh[];
  /** The entry that a key of the prompt stands for. */
  readonly heldBy: (key: string) => HeldEntry | undefined;
}

async function store(
  context: StepContext,
  place: LayerPlace,
  made: Made,
  { position, reply, fresh, heldBy }: Read,
): Promise<Gives<'keep'>> {
  const at = now(context);
  const kept = reply.claims.flatMap((read) => {
    const each = fresh[read.claim - 1];
    if (each === undefined || !read.keep) return [];
    const { claim, check, entryId, tables, columns } = each;
    const statement = read.statement?.trim() || claim.statement.trim();
    const restsOn = read.restsOn.flatMap((key) => heldBy(key)?.entry.entryId ?? []);
    const entry: LayerEntry = {
      ...{ entryId, statement, rows: claim.rows, scope: read.scope, check },
      ...{ matching: claim.matching, examined: claim.examined },
      rivals: claim.rivals.map(({ verdict, ...rival }) => {
        const instead = made.insteads.get(rivalKey(claim.operator, rival.reading));
        const named = namedColumns(instead?.of ?? '', tables, made.description);
        // Without a column of the entry, the piece may mean something else in another answer.
        const isOwn = verdict !== 'refuted' && named.some((column) => columns.includes(column));
        return { ...rival, refuted: verdict === 'refuted', ...(isOwn && { instead }) };
      }),
      ...(claim.fitsAsWell === undefined
        ? {}
        : { fitsAsWell: claim.fitsAsWell.map(({ literal, put }) => ({ literal, put })) }),
      ...{ tables: [...tables], columns: [...columns], operator: operatorOf(claim, made), restsOn },
      from: { searchId: context.run.searchId, question: made.question },
      ...{ provedAt: at, schemaFingerprint: made.description.fingerprint },
    };
    const against = read.contradicts.flatMap(({ key, rival }) => {
      const held = heldBy(key);
      return held === undefined ? [] : { held, rival: rival === null ? undefined : claim.rivals[rival - 1] };
    });
    const replaced = read.replaces.flatMap((key) => heldBy(key) ?? []);
    return [{ entry, against, replaced }];
  });
  const events = kept.flatMap(({ entry, against, replaced }): LayerEvent[] => [
    { kind: 'proved', at, entry },
    ...against.flatMap(({ held, rival }) => contradiction(at, entry, held, rival)),
    ...replaced
      // What a person has confirmed only a person takes back.
      .filter((held) => held.confirmedBy === null && !against.some((other) => other.held === held))
      .map((held): LayerEvent => ({ kind: 'superseded', entryId: held.entry.entryId, at, by: entry.entryId })),
  ]);
  await appendToLayer(place, events, context.run.searchId);
  const entries = kept.map(({ entry: { entryId, statement } }) => ({ entryId, statement }));
  await context.run.put('kept', position, { entries });
  const contradicted = new Set(kept.flatMap(({ against }) => against.map(({ held }) => held.entry.entryId)));
  return { kept: kept.length, contradicted: [...contradicted] };
}

/**
 * Both, until their checks or a person tell them apart. `rival`: of the new one, what the other says. Where that lost, and the other
 * contradicted something before, this is the count that decides between those two.
 */
function contradiction(
  at: string,
  { entryId, statement }: LayerEntry,
  held: HeldEntry,
  rival: Claim['rivals'][number] | undefined,
): LayerEvent[] {
  const lost =
    rival?.verdict === 'refuted'
      ? `; there "${rival.reading}" lost with ${String(rival.matching)} of ${String(rival.examined)}`
      : '';
  const other = held.entry.entryId;
  const loses: LayerEvent = {
    ...{ kind: 'contradicted', at, entryId: other, by: entryId },
    why: `both cannot be right: ${statement}${lost}`,
  };
  if (lost !== '' && held.contradictedBy !== undefined && held.confirmedBy === null) return [loses];
  return [loses, { kind: 'contradicted', at, entryId, by: other, why: `kept before, and both cannot be right${lost}` }];
}

/** Of the operator that took it for granted. The last one is the answer to that question, and no other literal was counted. */
function operatorOf({ operator: name, check }: Proved, { plan, description }: Made): LayerEntry['operator'] {
  const loaded = plan === null ? undefined : findLoaded(plan, name);
  if (plan === null || loaded === undefined || loaded === plan.operators.at(-1)) return null;
  const { sql } = planSql(plan, name);
  if (sql === null || isClocked(sql)) return null;
  const [own, counted] = [literalsOf(sql, plan.dialect), literalsOf(check, plan.dialect)];
  if (own === null || counted === null || [...own].some((literal) => !counted.has(literal))) return null;
  const reached = reachedFrom(plan, [name]);
  const tables = [...new Set(reached.flatMap(({ operator }) => operator.relations))];
  return { intent: loaded.operator.intent, sql, tables, columns: namedColumns(sql, tables, description) };
}

/** Runs the checks of entries again that a new one contradicts; one that no longer shows it is broken. */
export async function recount(context: StepContext, { entries: ids }: Given<'recount'>): Promise<Gives<'recount'>> {
  const place = layerPlace(context);
  const { description } = await context.run.get('schema', SCHEMA_ID);
  const { entries } = await currentLayer(place);
  const held = visibleEntries(entries, description).filter(({ entry }) => ids.includes(entry.entryId));
  const { results, usage } = await runSql(
    context,
    held.map(({ entry }) => entry.check),
  );
  const at = now(context);
  const broken = recounted(held, results).flatMap(({ held: { entry }, why, counts, unseen }): LayerEvent[] =>
    why === null || unseen ? [] : [{ kind: 'broken', entryId: entry.entryId, at, why, counts }],
  );
  await appendToLayer(place, broken);
  return { broken: broken.length, usage };
}

/** A claim none of whose rivals the data refuted has been told apart from nothing. */
export function isEstablished(claim: Claim): claim is Proved {
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
    ...(claim.rows === '' ? [] : [`one examined row is: ${claim.rows}`]),
    `counted: ${countsText(claim) ?? ''}${claim.state === 'exceptions' ? ', with exceptions' : ''}`,
    ...claim.rivals.map(
      ({ reading, matching, verdict }) => `rival "${reading}": ${matching ?? 'not counted'}, ${verdict}`,
    ),
    ...fittingTexts(claim).map((text) => `left open by these rows: ${text}`),
    `check: ${check}`,
  ].join('\n');
}

/** Those on the same tables first. */
function near(entries: readonly HeldEntry[], tables: readonly string[]): readonly HeldEntry[] {
  const read = new Set(tables.map((table) => table.toLowerCase()));
  const shared = ({ entry }: HeldEntry): number => entry.tables.filter((table) => read.has(table.toLowerCase())).length;
  return entries
    .filter((entry) => entry.status !== 'rejected' && entry.status !== 'superseded' && shared(entry) > 0)
    .sort((a, b) => shared(b) - shared(a))
    .slice(0, SHOWN);
}
