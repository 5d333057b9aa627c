/** Entries of a layer and the database: which of them this reader may see, and whether their checks still show them. */
import type { Claim, DatabaseDescription, EntryCounts, LayerEntry, LayerEvent, SqlResult } from '../../domain';
import { canonical } from '../../domain/canonical';
import { FEW_ROWS } from '../../sql/agreement';
import { countedClaim, readCounts } from '../../sql/claims';
import { sha256 } from '../../sha256';
import { wordsOf } from '../../database/relevance';
import { oneLine } from '../../clip';
import { fittingTexts, layerOf, type HeldEntry, type Layer, type LessonState } from '../../layer/state';
import { readLayer, type LayerPlace } from '../../record/layer-store';
import { identityKey } from '../../record/search-id';
import type { StepContext } from '../shared/context';

/** The counts of an entry now; `why`: why it no longer holds, null if it does. */
export interface Recounted<Held = HeldEntry> {
  readonly held: Held;
  /** As it stands in the layer, with the counts of now. */
  readonly entry: LayerEntry;
  readonly counts: EntryCounts;
  readonly why: string | null;
  /** The check may not be read here, or the database did not answer: this says nothing about the entry. */
  readonly unseen: boolean;
}

export function layerPlace({ deps, input }: Pick<StepContext, 'deps' | 'input'>): LayerPlace {
  return { store: deps.store, database: identityKey(input.identity) };
}

const LAYERS = new WeakMap<readonly LayerEvent[], Layer>();

/** The same value as long as nothing is added, so that what was worked out about it stands. */
export async function currentLayer(place: LayerPlace): Promise<Layer> {
  const events = await readLayer(place);
  const layer = LAYERS.get(events) ?? layerOf(events);
  LAYERS.set(events, layer);
  return layer;
}

interface Read {
  readonly tables: readonly string[];
  readonly columns: readonly string[];
}

/** Whether this reader's description shows all tables and columns of it. */
function shownBy({ tables }: Pick<DatabaseDescription, 'tables'>): (read: Read) => boolean {
  const columns = new Set<string>();
  const names = new Set<string>();
  for (const table of tables) {
    names.add(table.name.toLowerCase());
    for (const { name } of table.columns) columns.add(`${table.name}.${name}`.toLowerCase());
  }
  return (read) =>
    read.tables.every((table) => names.has(table.toLowerCase())) &&
    read.columns.every((column) => columns.has(column.toLowerCase()));
}

/** An entry on a hidden table or column, or its operator, is as if it did not exist. */
export function visibleEntries(
  entries: readonly HeldEntry[],
  description: Pick<DatabaseDescription, 'tables'>,
): readonly HeldEntry[] {
  const isVisible = shownBy(description);
  return entries.flatMap((held) => {
    const { entry } = held;
    if (!isVisible(entry)) return [];
    const { operator } = entry;
    return operator === null || isVisible(operator) ? held : { ...held, entry: { ...entry, operator: null } };
  });
}

/** A layer without what is about something hidden. */
export function visibleLayer(layer: Layer, description: Pick<DatabaseDescription, 'tables'>): Layer {
  const isVisible = shownBy(description);
  return {
    ...layer,
    entries: visibleEntries(layer.entries, description),
    rules: layer.rules.filter(({ entry }) => isVisible(entry)),
    questions: layer.questions.filter(isVisible),
    lesson: layer.lesson && visibleLesson(layer.lesson, description),
  };
}

/** Notes may be about what this reader may not see. */
function visibleLesson(
  { tables, left, notes }: LessonState,
  description: Pick<DatabaseDescription, 'tables'>,
): LessonState {
  const names = new Set(description.tables.map(({ name }) => name));
  const [own, open] = [tables, left].map((all) => all.filter((name) => names.has(name)));
  const isWhole = own?.length === tables.length && open?.length === left.length;
  return { tables: own ?? [], left: open ?? [], notes: isWhole ? notes : [] };
}

/** `results`: of the entries' checks, in order. */
export function recounted<Held extends Pick<HeldEntry, 'entry' | 'statement'>>(
  entries: readonly Held[],
  results: readonly SqlResult[],
): readonly Recounted<Held>[] {
  return entries.map((held, at) => recount(held, results[at]));
}

function recount<Held extends Pick<HeldEntry, 'entry' | 'statement'>>(
  held: Held,
  result: SqlResult | undefined,
): Recounted<Held> {
  const { entry } = held;
  const now = claimNow(entry, result);
  const { matching, examined } = now;
  const counts = countsOf(now);
  const stands = now.state === 'proved' || now.state === 'exceptions';
  const unseen = result === undefined || result.kind === 'refused' || result.kind === 'timeout';
  return {
    held,
    entry: {
      ...entry,
      statement: held.statement,
      matching: matching ?? entry.matching,
      examined: examined ?? entry.examined,
      rivals: entry.rivals.map((rival, at) => ({ ...rival, ...counts.rivals[at] })),
    },
    counts,
    why: stands ? null : (now.reason ?? 'its check shows it no longer'),
    unseen,
  };
}

export function countsOf({ matching, examined, rivals }: EntryCounts): EntryCounts {
  return {
    matching,
    examined,
    rivals: rivals.map((rival) => ({ matching: rival.matching, examined: rival.examined })),
  };
}

type Counting = Pick<LayerEntry, 'statement' | 'rows' | 'check'> & {
  readonly rivals: readonly Pick<LayerEntry['rivals'][number], 'reading' | 'refuted'>[];
};

/** The entry as a claim with the counts of now. Rivals that gave the same answer need not lose. */
export function claimNow({ statement, rows, check, rivals }: Counting, result: SqlResult | undefined): Claim {
  const others = rivals.map(({ reading, refuted }) => ({ reading, sameAnswer: refuted ? null : true }));
  return countedClaim({ operator: '', statement, rows, check }, readCounts(result, 2), others);
}

/** Names of the check's relations are numbered by the reply that it comes from; one reply's number says nothing. */
export function plainCheck(check: string): string {
  return check.replace(/\b(claim|examined|matching|rival)_\d+(?=\b|_)/g, '$1_1');
}

export function entryIdOf(check: string): string {
  return `e${sha256(canonical(check.replace(/\s+/g, ' ').trim())).slice(0, 16)}`;
}

/** Of the tables that a check reads, the columns that it names. */
export function namedColumns(
  check: string,
  tables: readonly string[],
  description: Pick<DatabaseDescription, 'tables'>,
): string[] {
  const words = (check.match(/[A-Za-z_][\w$]*|"[^"]+"|`[^`]+`/g) ?? []).map((word) => plainName(word));
  return columnsNamed(new Set(words), tables, description);
}

/** Of these tables, the columns whose names are among `names` (in lower case). */
export function columnsNamed(
  names: ReadonlySet<string>,
  tables: readonly string[],
  description: Pick<DatabaseDescription, 'tables'>,
): string[] {
  const read = new Set(tables.map((table) => table.toLowerCase()));
  return description.tables
    .filter(({ name }) => read.has(name.toLowerCase()))
    .flatMap(({ name, columns }) =>
      columns.filter((column) => names.has(column.name.toLowerCase())).map((column) => `${name}.${column.name}`),
    );
}

function plainName(word: string): string {
  return word.replace(/^["`]|["`]$/g, '').toLowerCase();
}

/**
 * How a prompt shows an entry: its statement, its figures, the readings that it leaves open and those that it rules out. A scope whose every word the rest says
 * already is left out.
 */
export function entryText(entry: LayerEntry): string {
  const { statement, scope, matching, examined, rows, rivals, operator } = entry;
  const told = scope === null || isSaid(scope, [statement, rows]) ? '' : ` (${scope})`;
  const against = rivals
    .filter((rival) => rival.refuted)
    .slice(0, SHOWN_RIVALS)
    .map(({ reading, matching: of }) => `${oneLine(reading, PART_CHARS)} ${of ?? '?'}`);
  const parts = [
    `${matching} of ${examined} ${oneLine(rows.trim() === '' ? 'rows' : rows, PART_CHARS)}`,
    ...(examined < FEW_ROWS ? ['few rows'] : []),
    ...fittingTexts(entry),
    ...(against.length === 0 ? [] : [`rivals: ${against.join(', ')}`]),
    ...(operator === null || operator.sql.length > SQL_CHARS ? [] : [`SQL: ${oneLine(operator.sql)}`]),
  ];
  return `${statement}${told} [${parts.join('; ')}]`;
}

function isSaid(text: string, by: readonly string[]): boolean {
  const said = new Set(by.flatMap(wordsOf));
  return wordsOf(text).every((word) => said.has(word));
}

const SHOWN_RIVALS = 2;
const PART_CHARS = 60;
/** Longer SQL costs more than it tells. */
const SQL_CHARS = 200;
