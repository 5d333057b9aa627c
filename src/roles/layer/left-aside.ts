/**
 * An answer held against what is known of the tables that it reads: entries of the layer and what people said that its SQL
 * leaves aside, and columns that tell rows apart and that nobody looked at.
 */
import type { AnswerRecord, DatabaseDescription, Dialect, NotUsed } from '../../domain';
import { allHeld, figuresOf, isCounted, type Held } from '../../layer/state';
import { ruleText } from '../../layer/rules';
import type { UsageDelta } from '../../domain/ports/step-parts';
import { SCHEMA_ID, type SchemaContent } from '../../record/contents';
import { wordsOf } from '../../database/relevance';
import { keyColumns } from '../../database/table-text';
import { tokensOf } from '../../sql/lexer';
import type { StepContext } from '../shared/context';
import { currentLayer, layerPlace, visibleLayer } from './entries';
import { countAgain } from './recall';

/** Of the layer, and of columns, that one answer names. */
const MOST_UNUSED = 4;
const MOST_FLAGS = 6;

/** What a person says of rows rather than of what a column means. */
const ABOUT_ROWS = /[=<>]|\bnull\b|\bcount(s|ed)?\b|\b(exclud|ignor|skip|omit)|\bleft out\b/i;

/** The tables that an answer reads, and the texts that say what else it looked at. */
export interface Read {
  readonly tables: readonly string[];
  readonly texts: readonly string[];
}

/**
 * Active entries and rules on a table that is read, of which no column and no value occurs. Only those that tell rows apart:
 * the unit of a column that is not read changes nothing.
 */
async function unusedIn(context: StepContext, { tables, texts }: Read): Promise<readonly Held[]> {
  if (context.settings.layer === undefined) return [];
  const { description, flags } = await context.run.get('schema', SCHEMA_ID);
  const { entries, rules } = visibleLayer(await currentLayer(layerPlace(context)), description);
  const read = new Set(tables.map((name) => name.toLowerCase()));
  const seen = mentionsIn(texts, description.dialect);
  const isLeft = (columns: readonly string[], values: readonly string[]): boolean => {
    const names = [...columns.map(columnOf), ...values];
    return names.length > 0 && !names.some((name) => seen.has(name));
  };
  const all = flags?.map((flag) => ({ ...flag, name: `${flag.table}.${flag.column}`.toLowerCase() }));
  const isFlag = (columns: readonly string[]): boolean =>
    all === undefined || columns.some((name) => all.some((flag) => flag.name === name));
  const unusedRules = rules.filter(({ status, entry, statement }) => {
    if (status !== 'active' || !entry.tables.some((table) => read.has(table.toLowerCase()))) return false;
    // "Deleted orders do not count" is about deleted_at.
    const words = new Set(wordsOf(statement));
    const meant = (all ?? []).filter(({ table, column }) => {
      // In `order_kind` of orders, "order" says nothing of the column.
      const common = new Set(wordsOf(table));
      return wordsOf(column).some((word) => words.has(word) && !common.has(word));
    });
    const columns = ownColumns([...entry.columns, ...meant.map(({ name }) => name)], read, description);
    const values = quotedIn(statement);
    const isAboutRows = values.length > 0 || ABOUT_ROWS.test(statement) || isFlag(columns);
    return isAboutRows && isLeft(columns, values);
  });
  const late = (await context.run.find('known', SCHEMA_ID))?.unchecked ?? [];
  const unusedEntries = entries.filter(({ status, entry }) => {
    // One whose check did not end in time was not shown, and the answer says so.
    if (status !== 'active' || late.some(({ entryId }) => entryId === entry.entryId)) return false;
    const columns = ownColumns(entry.columns, read, description);
    if (columns.length === 0 || !isLeft(columns, [])) return false;
    const compared = comparedIn(entry.check, description.dialect);
    return (compared.length > 0 || isFlag(columns)) && isLeft(columns, compared.filter(isText));
  });
  return [...unusedRules, ...unusedEntries].slice(0, MOST_UNUSED);
}

export async function unusedOf(context: StepContext, read: Read): Promise<NotUsed[]> {
  return (await unusedIn(context, read)).map((held) => ({ id: held.entry.entryId, statement: statementOf(held) }));
}

/** Of what a stored answer left aside, what is still in use, as it is known now. */
export async function stillUnused(
  context: StepContext,
  { notUsed }: Pick<AnswerRecord, 'notUsed'>,
): Promise<NotUsed[]> {
  if (notUsed === undefined) return [];
  const held = new Map(allHeld(await currentLayer(layerPlace(context))).map((each) => [each.entry.entryId, each]));
  return notUsed.flatMap(({ id }) => {
    const now = held.get(id);
    return now?.status === 'active' ? [{ id, statement: statementOf(now) }] : [];
  });
}

/** How the model is asked about them. Entries are counted again first; one that no longer holds is broken from here on. */
export async function askedAside(
  context: StepContext,
  read: Read,
): Promise<{ readonly texts: readonly string[]; readonly usage: UsageDelta }> {
  const unused = await unusedIn(context, read);
  const entries = unused.filter(isCounted);
  if (entries.length === 0) return { texts: unused.map(statementOf).map(unusedText), usage: {} };
  const { holding, usage } = await countAgain(context, entries);
  const held = [
    ...unused.filter((each) => !isCounted(each)),
    ...holding.map(({ held: before, counts }) => ({ ...before, counts })),
  ];
  return { texts: held.map(statementOf).map(unusedText), usage };
}

function statementOf(held: Held): string {
  return isCounted(held) ? `${held.statement} (${figuresOf(held, held.entry.rows)})` : ruleText(held);
}

function unusedText(statement: string): string {
  const said = /[.!?]$/.test(statement) ? statement : `${statement}.`;
  return `Known of a table that the SQL reads, and nothing of it occurs there: ${said} Use it, or say in assumed why it does not matter here.`;
}

/** Columns that tell rows of the tables apart, and that no text names. Nothing without a profile. */
export function notLookedAt(
  { flags = [], description }: Pick<SchemaContent, 'flags' | 'description'>,
  { tables, texts }: Read,
): AnswerRecord['notLookedAt'] {
  const read = new Set(tables.map((name) => name.toLowerCase()));
  const seen = mentionsIn(texts, description.dialect);
  const left = flags.filter(({ table, column }) => read.has(table.toLowerCase()) && !seen.has(column.toLowerCase()));
  if (left.length === 0) return undefined;
  return { columns: left.slice(0, MOST_FLAGS), more: Math.max(0, left.length - MOST_FLAGS) };
}

/** Every name and value of the texts, in lower case: whatever is named was thought of, wherever it stands. */
export function mentionsIn(texts: readonly string[], dialect: Dialect): ReadonlySet<string> {
  return new Set(
    texts
      .flatMap((text) => tokensOf(text, dialect))
      .map(({ kind, text, raw }) => (kind === 'string' ? textOf(raw) : text).toLowerCase()),
  );
}

/** Of the tables that are read, without keys: every statement names them. */
function ownColumns(
  columns: readonly string[],
  read: ReadonlySet<string>,
  { tables }: Pick<DatabaseDescription, 'tables'>,
): string[] {
  const own = tables
    .filter(({ name }) => read.has(name.toLowerCase()))
    .flatMap((table) => {
      const keys = keyColumns(table);
      return table.columns
        .filter(({ name }) => !keys.has(name))
        .map(({ name }) => `${table.name}.${name}`.toLowerCase());
    });
  return columns.map((column) => column.toLowerCase()).filter((column) => own.includes(column));
}

export function columnOf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

/** The texts of a check, as SQL writes them, and the numbers that it compares with data. */
function comparedIn(check: string, dialect: Dialect): string[] {
  return tokensOf(check, dialect).flatMap(({ kind, raw }, at, tokens) => {
    // A text with a percent sign may be the format of a date.
    if (kind === 'string') return raw.includes('%') ? [] : [textOf(raw).toLowerCase()];
    return kind === 'number' && /[=<>]/.test(tokens[at - 1]?.raw ?? '') ? [raw] : [];
  });
}

function isText(value: string): boolean {
  return value.startsWith("'");
}

function quotedIn(statement: string): string[] {
  return [...statement.matchAll(/['"‘“]([^'"’”]+)['"’”]/g)].map(([, text = '']) => `'${text.toLowerCase()}`);
}

/** Apart from names. */
function textOf(raw: string): string {
  return `'${raw.replace(/^[^']*'|'$/g, '')}`;
}
