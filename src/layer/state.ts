/**
 * The state of a layer from its events: entries that rows proved, and rules that people state. The order in which they were written to the store does not matter: they are sorted
 * by time and content, so that several workers and machines see the same layer.
 */
import type { EntryCounts, FitsAsWell, LayerEntry, LayerEvent, LayerRule } from '../domain';
import { compareText } from '../domain/canonical';
import { groupBy } from '../group-by';
import { FEW_ROWS, fellFrom, type Agreement } from '../sql/agreement';

export type EntryStatus =
  /** Used by searches. */
  | 'active'
  /** The rows no longer show it. */
  | 'broken'
  /** Contradicts another entry, or rests on one that is not active. */
  | 'suspended'
  /** Another entry says the same and more. */
  | 'superseded'
  /** A person says that it is wrong. */
  | 'rejected';

/** What happened to an entry or a rule. */
interface Standing {
  readonly status: EntryStatus;
  /** Why it is not active; null if it is. */
  readonly why: string | null;
  /** The entry that contradicts it, as long as nothing has decided between the two. */
  readonly contradictedBy?: string;
  /** The statement as a person edited it, else the entry's own. */
  readonly statement: string;
  readonly confirmedBy: string | null;
  /** Since when it has this status. */
  readonly since: string;
}

export interface HeldEntry extends Standing {
  readonly entry: LayerEntry;
  /** Its latest counts, if its check gave other ones than those of the entry, which are kept from its proof. */
  readonly counts: EntryCounts | null;
  /** When its check ran last. */
  readonly countedAt: string;
}

export interface HeldRule extends Standing {
  readonly entry: LayerRule;
}

export type Held = HeldEntry | HeldRule;

/** What no data can decide, and nobody answered yet. */
export interface OpenQuestion {
  readonly questionId: string;
  readonly text: string;
  readonly tables: readonly string[];
  readonly columns: readonly string[];
  readonly askedAt: string;
}

export interface Layer {
  /** Proved by counts; in the order of their ids, as the rules are. */
  readonly entries: readonly HeldEntry[];
  readonly rules: readonly HeldRule[];
  readonly questions: readonly OpenQuestion[];
  readonly verifiedAt: string | null;
  /** How far lessons came; null: there was none. */
  readonly lesson: LessonState | null;
}

export type LessonState = Pick<Extract<LayerEvent, { kind: 'learned' }>, 'tables' | 'left' | 'notes'>;

/** Whatever may be listed, shown, exported and withdrawn. */
export function allHeld({ entries, rules }: Pick<Layer, 'entries' | 'rules'>): readonly Held[] {
  return [...entries, ...rules];
}

export function isCounted(held: Held): held is HeldEntry {
  return 'check' in held.entry;
}

function isSaid(held: Held): held is HeldRule {
  return !isCounted(held);
}

/** `until`: as the layer was then (ISO time, inclusive). */
export function layerOf(events: readonly LayerEvent[], until?: string): Layer {
  const past = until === undefined ? events : events.filter(({ at }) => at <= until);
  // Parsed events have their fields in the order of the schema, so equal ones have equal texts.
  const sorted = [...new Map(past.map((event) => [JSON.stringify(event), event])).entries()]
    .sort(([a, one], [b, other]) => compareText(one.at, other.at) || rank(one) - rank(other) || compareText(a, b))
    .map(([, event]) => event);
  const entries = new Map<string, Draft>();
  const questions = new Map<string, OpenQuestion>();
  let verifiedAt: string | null = null;
  let lesson: LessonState | null = null;
  for (const event of sorted) {
    switch (event.kind) {
      case 'proved':
        proved(entries, event.entry, event.at);
        break;
      case 'said':
        said(entries, event.rule, event.at);
        break;
      case 'verified':
        verifiedAt = event.at;
        for (const id of event.checked) {
          const draft = entries.get(id);
          if (draft !== undefined) draft.countedAt = event.at;
        }
        break;
      case 'learned':
        lesson = { tables: event.tables, left: event.left, notes: event.notes };
        break;
      case 'asked':
        if (!questions.has(event.questionId)) {
          const { questionId, text, tables, columns, at } = event;
          questions.set(questionId, { questionId, text, tables, columns, askedAt: at });
        }
        break;
      default: {
        const draft = entries.get(event.entryId);
        if (draft !== undefined) happened(draft, event);
      }
    }
  }
  const all = [...entries.values()].map((draft) => held(draft, entries)).sort(byId);
  const rules = all.filter(isSaid);
  const answered = new Set(rules.flatMap(({ status, entry }) => (status === 'active' ? [entry.answers] : [])));
  return {
    entries: all.filter(isCounted),
    rules,
    questions: [...questions.values()].filter(({ questionId }) => !answered.has(questionId)),
    verifiedAt,
    lesson,
  };
}

/** What was written together with a proof is about it. */
function rank({ kind }: LayerEvent): number {
  return kind === 'proved' || kind === 'said' || kind === 'asked' ? 0 : 1;
}

/** Of one entry or rule, while its events are read. */
interface Draft {
  entry: LayerEntry | LayerRule;
  statement: string;
  confirmedBy: string | null;
  rejected: string | null;
  broken: string | null;
  /** Entries that contradict it. */
  readonly contradicted: Map<string, string>;
  /** Entries that say it as well, and more. */
  readonly superseded: Set<string>;
  counts: EntryCounts | null;
  countedAt: string;
  since: string;
}

function draftOf(entry: Draft['entry'], at: string, countedAt: string): Draft {
  const fresh = { statement: entry.statement, confirmedBy: null, rejected: null, broken: null, counts: null };
  return { entry, ...fresh, contradicted: new Map(), superseded: new Set(), since: at, countedAt };
}

/** The newest words of people count, also after a withdrawal. */
function said(entries: Map<string, Draft>, rule: LayerRule, at: string): void {
  entries.set(rule.entryId, draftOf(rule, at, at));
}

type OnEntry = Extract<LayerEvent, { entryId: string }>;

/** A repeated proof brings newer figures. It heals what was broken, but overrules no person. */
function proved(entries: Map<string, Draft>, entry: LayerEntry, at: string): void {
  const before = entries.get(entry.entryId);
  if (before === undefined) {
    entries.set(entry.entryId, draftOf(entry, at, entry.provedAt));
    return;
  }
  if (!('check' in before.entry)) return;
  const { matching, examined, rivals, fitsAsWell, provedAt, schemaFingerprint } = entry;
  const { fitsAsWell: _, ...kept } = before.entry;
  const figures = { matching, examined, rivals, provedAt, schemaFingerprint };
  before.entry = { ...kept, ...figures, ...(fitsAsWell === undefined ? {} : { fitsAsWell }) };
  before.counts = null;
  before.countedAt = provedAt;
  if (before.broken !== null) before.since = at;
  before.broken = null;
}

function happened(draft: Draft, event: OnEntry): void {
  const isAsBefore =
    (event.kind === 'broken' && draft.broken !== null) || (event.kind === 'counted' && draft.broken === null);
  if (event.kind !== 'edited' && !isAsBefore) draft.since = event.at;
  switch (event.kind) {
    case 'broken':
    case 'counted':
      draft.broken = event.kind === 'broken' ? event.why : null;
      draft.counts = event.counts;
      draft.countedAt = event.at;
      return;
    case 'confirmed':
      draft.confirmedBy = event.author;
      keepFigures(draft);
      draft.rejected = null;
      // A person has decided between it and what contradicts or replaces it.
      draft.contradicted.clear();
      draft.superseded.clear();
      return;
    case 'rejected':
      draft.confirmedBy = null;
      draft.rejected = `rejected by ${event.author}${event.note === null ? '' : `: ${event.note}`}`;
      return;
    case 'edited':
      draft.statement = event.statement;
      return;
    case 'contradicted':
      draft.contradicted.set(event.by, event.why);
      return;
    case 'superseded':
      draft.superseded.add(event.by);
      return;
    default:
      event satisfies never;
  }
}

/** Who confirms an entry that holds has seen its figures of now: a fall is told against these from then on. */
function keepFigures(draft: Draft): void {
  const { entry, counts, broken } = draft;
  if (broken !== null || counts === null || !('check' in entry)) return;
  const { matching, examined } = figuresNow({ entry, counts });
  const rivals = entry.rivals.map((rival, at) => ({ ...rival, ...counts.rivals[at] }));
  draft.entry = { ...entry, matching, examined, rivals };
  draft.counts = null;
}

function held(draft: Draft, all: ReadonlyMap<string, Draft>): Held {
  const { entry, statement, confirmedBy, since, counts, countedAt } = draft;
  const standing = { statement, confirmedBy, since, ...statusOf(draft, all, new Set()) };
  return 'check' in entry ? { entry, ...standing, counts, countedAt } : { entry, ...standing };
}

function statusOf(
  draft: Draft,
  all: ReadonlyMap<string, Draft>,
  above: ReadonlySet<string>,
): Pick<Standing, 'status' | 'why' | 'contradictedBy'> {
  if (draft.rejected !== null) return { status: 'rejected', why: draft.rejected };
  if (draft.broken !== null) return { status: 'broken', why: draft.broken };
  const { entryId } = draft.entry;
  for (const [by, why] of draft.contradicted) {
    const other = all.get(by);
    if (other === undefined || !speaks(other, all)) continue;
    const isOpen = other.contradicted.has(entryId);
    return { status: 'suspended', why: `${by} contradicts it: ${why}`, ...(isOpen ? { contradictedBy: by } : {}) };
  }
  const restsOn = 'check' in draft.entry ? draft.entry.restsOn : [];
  const deeper = new Set([...above, entryId]);
  for (const id of restsOn) {
    const basis = all.get(id);
    // Entries that rest on each other stand or fall by the others.
    if (deeper.has(id)) continue;
    const status = basis === undefined ? 'missing' : statusOf(basis, all, deeper).status;
    // What another entry says as well is still so.
    if (status !== 'active' && status !== 'superseded')
      return { status: 'suspended', why: `it rests on ${id}, which is ${status}` };
  }
  for (const by of draft.superseded) {
    const other = all.get(by);
    if (other !== undefined && !deeper.has(by) && statusOf(other, all, deeper).status === 'active')
      return { status: 'superseded', why: `${by} says it too, and more` };
  }
  return { status: 'active', why: null };
}

/**
 * One that was rejected, or no longer holds, speaks against nothing; nor does one that lost a count made for the two: what contradicts
 * it is not contradicted by it.
 */
function speaks(
  { entry: { entryId }, rejected, broken, contradicted }: Draft,
  all: ReadonlyMap<string, Draft>,
  above: ReadonlySet<string> = new Set(),
): boolean {
  if (rejected !== null || broken !== null) return false;
  const deeper = new Set([...above, entryId]);
  return ![...contradicted.keys()].some((id) => {
    const winner = all.get(id);
    if (winner === undefined || deeper.has(id) || winner.contradicted.has(entryId)) return false;
    return speaks(winner, all, deeper);
  });
}

type Counted = Pick<HeldEntry, 'entry' | 'counts'>;

/** The latest counts. */
export function figuresNow({ entry, counts }: Counted): Agreement {
  return { matching: counts?.matching ?? entry.matching, examined: counts?.examined ?? entry.examined };
}

/** Whether a smaller share of the rows matches now than the figures say that are kept. */
export function hasFallen(held: Counted): boolean {
  return fellFrom(held.entry, figuresNow(held));
}

/** What stands behind it: the counts of now, or who says it: `18 of 18, few rows`, `said by ann, not counted`. */
export function figuresOf(held: Held, rows = ''): string {
  if (!isCounted(held)) return `said by ${held.entry.author}, not counted`;
  const { matching, examined } = figuresNow(held);
  const few = examined < FEW_ROWS ? ', few rows' : '';
  const kept = hasFallen(held) ? ` (kept as ${held.entry.matching} of ${held.entry.examined})` : '';
  return `${matching} of ${examined}${rows === '' ? '' : ` ${rows}`}${few}${kept}`;
}

/** `29, 31 fit as well as 30`: values of the check that its rows do not tell from others, a text for each. */
export function fittingTexts({ fitsAsWell = [] }: { readonly fitsAsWell?: readonly FitsAsWell[] }): string[] {
  return [...groupBy(fitsAsWell, ({ literal }) => literal)].map(
    ([literal, others]) =>
      `${others.map(({ put }) => put).join(', ')} ${others.length === 1 ? 'fits' : 'fit'} as well as ${literal}`,
  );
}

function byId(a: Held, b: Held): number {
  return compareText(a.entry.entryId, b.entry.entryId);
}
