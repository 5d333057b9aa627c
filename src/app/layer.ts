/** What a user can do with the layer of a database: read it, check it again, decide about its entries, state what holds. */
import { basename } from 'node:path';
import type { ResolvedDatabase } from '../config/databases';
import type { EntryCounts, LayerEvent, LayerRule } from '../domain';
import { compareText } from '../domain/canonical';
import { dbtFiles, fileName, type CountedEntry, type DbtFile } from '../layer/dbt';
import { driftAt, fallOf, type Drift } from '../layer/drift';
import { layerMarkdown } from '../layer/markdown';
import { claimedEntries, OssieError, ossieModel, type ClaimedEntry } from '../layer/ossie';
import { namedIn, ruleIdOf } from '../layer/rules';
import { allHeld, isCounted, layerOf, type Held, type HeldEntry, type Layer } from '../layer/state';
import { appendToLayer, readLayer, type LayerPlace } from '../record/layer-store';
import { identityKey } from '../record/search-id';
import { visibleLayer } from '../roles/layer/entries';
import { importEntries, type Imported } from '../roles/layer/import';
import { lowerOf, verifyEntries } from '../roles/layer/verify';
import { visibleLine } from '../clip';
import { DIALECTS } from '../sql/dialects';
import { CHECK_MS, checkDatabase, lookAt, withEngines } from './check-database';
import { GateError, UsageError } from './errors';
import type { LayerCommand } from './given';
import { askedDatabase, words } from './question-input';
import { openServices, type Services } from './services';
import type { saidBy, Surroundings } from './surroundings';

export interface OpenLayer extends Services {
  readonly database: ResolvedDatabase;
  readonly place: LayerPlace;
  readonly events: readonly LayerEvent[];
  /** What is about something that an access list hides is as if it did not exist. */
  readonly layer: Layer;
}

export async function openLayer(at: Surroundings, db?: string): Promise<OpenLayer> {
  const services = openServices(at);
  const database = askedDatabase(services.config, { db }, at);
  const place = { store: services.store, database: identityKey(database.identity) };
  const events = await readLayer(place);
  const layer = layerOf(events);
  const { allow, deny } = database.access;
  const isOpen = allow.length + deny.length === 0 || allHeld(layer).length + layer.questions.length === 0;
  const shown = isOpen ? layer : visibleLayer(layer, await lookAt(services.config, database));
  return { ...services, database, place, events, layer: shown };
}

/** By its id, or the beginning of one. */
export function findEntry({ layer }: Pick<OpenLayer, 'layer'>, wanted: string): Held {
  if (!/^e[0-9a-f]{2,16}$/.test(wanted))
    throw new UsageError(
      `'${wanted}' is not the id of an entry; give e…, or its beginning (gate layer list shows them)`,
    );
  const only = begunBy(wanted, allHeld(layer), ({ entry }) => entry.entryId, 'entries');
  if (only === null)
    throw new GateError(`no entry ${wanted} in this layer; gate layer list --all shows them`, 'not-found');
  return only;
}

/** The only one whose id begins so; null: none does. */
function begunBy<T>(wanted: string, all: readonly T[], idOf: (one: T) => string, what: string): T | null {
  const found = all.filter((one) => idOf(one).startsWith(wanted));
  if (found.length > 1)
    throw new UsageError(`'${wanted}' is the beginning of ${found.length} ${what}; give more of the id`);
  return found[0] ?? null;
}

/** Oldest first. */
export function historyOf({ events }: OpenLayer, { entry }: Held): readonly LayerEvent[] {
  return events.filter((event) => entryIdIn(event) === entry.entryId).sort((a, b) => compareText(a.at, b.at));
}

function entryIdIn(event: LayerEvent): string | null {
  if (event.kind === 'proved') return event.entry.entryId;
  if (event.kind === 'said') return event.rule.entryId;
  return 'entryId' in event ? event.entryId : null;
}

/** Who says something, and when. */
export type Said = ReturnType<typeof saidBy>;

/** A rule of a person, and whether it names a table or column: else questions are told it by its words alone. */
export interface Stated {
  readonly held: Held;
  readonly namesTable: boolean;
}

/** Decides about an entry, words it anew, states a rule, or answers a question. */
export async function tellLayer(open: OpenLayer, command: LayerCommand, by: Said): Promise<Stated> {
  switch (command.kind) {
    case 'confirm':
    case 'reject': {
      const kind = command.kind === 'confirm' ? 'confirmed' : 'rejected';
      const { entryId } = findEntry(open, command.entry).entry;
      return { held: await append(open, { kind, entryId, ...by }), namesTable: true };
    }
    case 'edit':
      return editEntry(open, command.entry, command.statement, by);
    case 'add': {
      const statement = words(command.statement, 'statement');
      return sayRule(open, { entryId: ruleIdOf(statement), statement, answers: null }, by);
    }
    case 'answer':
      return answerQuestion(open, command.question, command.text, by);
    default:
      return command satisfies never;
  }
}

/** Other words of an entry; its check stays. */
async function editEntry(open: OpenLayer, wanted: string, said: string, by: Said): Promise<Stated> {
  const statement = words(said, 'statement');
  const held = findEntry(open, wanted);
  const { entryId } = held.entry;
  // Other words are not what the first person said, and may be about something else.
  if (!isCounted(held)) return sayRule(open, { entryId, statement, answers: held.entry.answers }, by);
  return { held: await append(open, { kind: 'edited', entryId, statement, ...by }), namesTable: true };
}

/** `wanted`: a question that no data can decide. Its answer is a rule. */
async function answerQuestion(open: OpenLayer, wanted: string, said: string, by: Said): Promise<Stated> {
  const answer = words(said, 'answer');
  const asked = /^q./.test(wanted) ? open.layer.questions : [];
  const only = begunBy(wanted, asked, ({ questionId }) => questionId, 'questions');
  if (only === null)
    throw new GateError(
      `no open question ${wanted} in this layer; gate layer list shows those to be decided`,
      'not-found',
    );
  const { questionId: answers, text } = only;
  return sayRule(open, { entryId: ruleIdOf(answers), statement: `${text} ${answer}`, answers }, by);
}

async function sayRule(
  open: OpenLayer,
  rule: Pick<LayerRule, 'entryId' | 'statement' | 'answers'>,
  { author, at }: Said,
): Promise<Stated> {
  const about = namedIn(rule.statement, await lookAt(open.config, open.database));
  const said: LayerRule = { ...rule, author, saidAt: at, ...about };
  return { held: await append(open, { kind: 'said', at, rule: said }), namesTable: about.tables.length > 0 };
}

async function append({ place }: OpenLayer, event: LayerEvent): Promise<Held> {
  await appendToLayer(place, [event]);
  return findEntry({ layer: layerOf(await readLayer(place)) }, entryIdIn(event) ?? '');
}

export interface CheckOptions {
  /** Of one check. Left out: 25,000. */
  readonly timeoutMs?: number;
  readonly signal: AbortSignal;
  readonly now: number;
}

export interface Verdict extends Pick<Drift, 'fell' | 'heldAgain'> {
  readonly checked: number;
  /** Not checked: the table or column is gone, or the check did not end in time. */
  readonly unseen: number;
  readonly broken: readonly {
    readonly entryId: string;
    readonly statement: string;
    readonly why: string | null;
    readonly counts: EntryCounts | null;
    /** When a check showed it first. */
    readonly brokenSince: string;
  }[];
}

/** Runs all checks again and keeps what they show. `fell`: all entries that hold for fewer rows than is kept. */
export async function verifyLayer(
  { layer, place, database, config, events: before }: OpenLayer,
  {
    timeoutMs = CHECK_MS,
    signal,
    now,
    progress,
  }: CheckOptions & { readonly progress?: (done: number, of: number) => void },
): Promise<Verdict> {
  return withEngines(config, database, async (engines) => {
    const description = await checkDatabase(engines, database.name);
    const { engine } = await engines.engine(database.name);
    const at = new Date(now).toISOString();
    const verified = await verifyEntries(layer.entries, { engine, description, signal, at, timeoutMs, progress });
    const { entries, unseen } = verified;
    await appendToLayer(place, verified.events);
    const events = [...before, ...verified.events];
    const after = layerOf(events);
    const heldNot = new Set(entries.flatMap(({ held, why }) => (why === null ? [] : [held.entry.entryId])));
    return {
      checked: entries.length,
      unseen,
      broken: after.entries
        .filter(({ entry }) => heldNot.has(entry.entryId))
        .map(({ entry: { entryId }, statement, why, counts, since: brokenSince }) => {
          return { entryId, statement, why, counts, brokenSince };
        }),
      fell: lowerOf(verified, after).map(fallOf),
      heldAgain: driftAt(events, at).heldAgain,
    };
  });
}

export type LayerFormat = 'markdown' | 'ossie' | 'dbt';

export interface ExportedLayer {
  readonly files: readonly DbtFile[];
  /** Entries whose check does not run, and why. */
  readonly leftOut: readonly { readonly entryId: string; readonly why: string }[];
}

export async function exportLayer(open: OpenLayer, format: LayerFormat, signal: AbortSignal): Promise<ExportedLayer> {
  const { layer, database } = open;
  const { name, dialect, schemas } = database;
  const file = fileName(name);
  if (format === 'markdown') return { files: [{ path: `${file}.md`, text: layerMarkdown(name, layer) }], leftOut: [] };
  const active = allHeld(layer).filter(({ status }) => status === 'active');
  if (active.length === 0)
    throw new GateError(`nothing kept of '${name}' is in use, so there is nothing to export; gate layer list --all`);
  if (format === 'ossie') {
    const text = `${JSON.stringify(ossieModel(name, dialect, active), null, 2)}\n`;
    return { files: [{ path: `${file}.ossie.json`, text }], leftOut: [] };
  }
  const { counted, leftOut } = await withWidths(active.filter(isCounted), open, signal);
  return {
    files: dbtFiles(
      name,
      dialect,
      schemas[0] ?? DIALECTS[dialect].schema ?? basename(database.addressLabel),
      active,
      counted,
    ),
    leftOut,
  };
}

/** The checks run once, because only the database knows how many columns `SELECT *` gives. */
async function withWidths(entries: readonly HeldEntry[], { config, database }: OpenLayer, signal: AbortSignal) {
  const counted: CountedEntry[] = [];
  const leftOut: { readonly entryId: string; readonly why: string }[] = [];
  await withEngines(config, database, async (engines) => {
    const { engine } = await engines.engine(database.name);
    const options = { timeoutMs: CHECK_MS, maxRows: 2, signal, tag: 'gate layer export' };
    const checks = entries.map(({ entry }) => entry.check);
    const { results } = await engine.run(checks, options);
    for (const [at, held] of entries.entries()) {
      const result = results[at];
      if (result?.kind === 'rows') counted.push({ held, width: result.columns.length });
      else {
        const isLate = result === undefined || result.kind === 'timeout';
        leftOut.push({ entryId: held.entry.entryId, why: isLate ? 'no answer in time' : visibleLine(result.message) });
      }
    }
  });
  return { counted, leftOut };
}

/** A claim, and what the rows of this database say of it. */
export interface Proved extends Imported {
  /** In the layer, if it is kept. */
  readonly status: string | null;
}

/** What a file (`name`) claims is proved here, and only then kept. `rules`: of people, which are left out. */
export async function importLayer(
  open: OpenLayer,
  { name, text }: { readonly name: string; readonly text: string },
  options: CheckOptions,
): Promise<{ readonly entries: readonly Proved[]; readonly rules: number }> {
  try {
    const { claims, rules } = claimedEntries(text);
    if (claims.length === 0)
      throw new GateError(`${name}: it has no entry with a check; what it says otherwise proves nothing`);
    return { entries: await proveClaims(open, claims, 'import', options), rules };
  } catch (error) {
    if (!(error instanceof OssieError)) throw error;
    throw new GateError(`${name}: ${error.message}; nothing was imported`, 'failed', { cause: error });
  }
}

export interface ClaimToAdd {
  readonly statement: string;
  /** What one examined row is. */
  readonly rows: string;
  /** One SELECT of one row: examined, matching, then how many of the same rows match each rival. */
  readonly check: string;
  /** Readings that would be wrong, in the order of the check. */
  readonly rivals: readonly string[];
}

/** A person's claim: kept only if the rows show it. Whoever states it stands behind its words, and the rows behind its figures. */
export async function addClaim(
  open: OpenLayer,
  { statement: said, rows, check, rivals }: ClaimToAdd,
  by: Said,
  options: CheckOptions,
): Promise<readonly Proved[]> {
  const statement = words(said, 'statement');
  if (rivals.length === 0)
    throw new UsageError(
      '--check proves nothing without a reading that could lose: give --rival for each that it counts',
    );
  const refuted = rivals.map((reading) => ({ reading, refuted: true }));
  const claim = { entryId: 'new', statement, rows, scope: null, check, rivals: refuted, operator: null, restsOn: [] };
  // Proved at the time at which it is confirmed.
  const proved = await proveClaims(open, [claim], 'add', { ...options, now: Date.parse(by.at) });
  for (const { outcome, entryId } of proved)
    if (outcome === 'kept' && entryId !== null)
      await appendToLayer(open.place, [{ kind: 'confirmed', entryId, ...by }]);
  return proved;
}

async function proveClaims(
  { config, database, events: before, place }: OpenLayer,
  claims: readonly ClaimedEntry[],
  source: 'import' | 'add',
  { timeoutMs = CHECK_MS, signal, now }: CheckOptions,
): Promise<readonly Proved[]> {
  return withEngines(config, database, async (engines) => {
    const description = await checkDatabase(engines, database.name);
    const { engine, inspector } = await engines.engine(database.name);
    const deps = { engine, inspector, description, source, signal, now: () => now, timeoutMs };
    const { imported, events } = await importEntries(claims, layerOf(before).entries, deps);
    await appendToLayer(place, events);
    const { entries } = layerOf([...before, ...events]);
    return imported.map((each) => {
      const isHeld = each.outcome === 'kept' || each.outcome === 'known';
      const held = isHeld ? entries.find(({ entry }) => entry.entryId === each.entryId) : undefined;
      return { ...each, status: held?.status ?? null, why: each.why ?? held?.why ?? null };
    });
  });
}
