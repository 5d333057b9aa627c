/**
 * An answer held against what is known of the tables that it reads: what people said that its SQL leaves aside, and columns that
 * tell rows apart and that nobody looked at.
 */
import type { AnswerRecord, DatabaseDescription, Dialect, NotUsed } from '../../domain';
import type { HeldRule } from '../../layer/state';
import { ruleText } from '../../layer/rules';
import { SCHEMA_ID, type SchemaContent } from '../../record/contents';
import { wordsOf } from '../../database/relevance';
import { keyColumns } from '../../database/table-text';
import { tokensOf } from '../../sql/lexer';
import type { StepContext } from '../shared/context';
import { currentLayer, layerPlace, visibleLayer } from './entries';

/** Rules, and columns, that one answer names. */
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
 * Active rules on a table that is read, of which no column and no value occurs. Only those that tell rows apart: the unit of a
 * column that is not read changes nothing.
 *
 * Entries bind nobody: the likeliest were shown, and what tells rows apart is among the columns not looked at. Asked about as
 * well, they cost every second question a call and changed no answer of 36.
 */
async function unusedIn(context: StepContext, { tables, texts }: Read): Promise<readonly HeldRule[]> {
  if (context.settings.layer === undefined) return [];
  const { description, flags } = await context.run.get('schema', SCHEMA_ID);
  const { rules } = visibleLayer(await currentLayer(layerPlace(context)), description);
  const read = new Set(tables.map((name) => name.toLowerCase()));
  const seen = mentionsIn(texts, description.dialect);
  const isLeft = (columns: readonly string[], values: readonly string[]): boolean => {
    const names = [...columns.map(columnOf), ...values];
    return names.length > 0 && !names.some((name) => seen.has(name));
  };
  const all = flags?.map((flag) => ({ ...flag, name: `${flag.table}.${flag.column}`.toLowerCase() }));
  const isFlag = (columns: readonly string[]): boolean =>
    all === undefined || columns.some((name) => all.some((flag) => flag.name === name));
  const unused = rules.filter(({ status, entry, statement }) => {
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
  return unused.slice(0, MOST_UNUSED);
}

export async function unusedOf(context: StepContext, read: Read): Promise<NotUsed[]> {
  return (await unusedIn(context, read)).map((held) => ({ id: held.entry.entryId, statement: ruleText(held) }));
}

/** Of what a stored answer left aside, what is still in use, as it is known now. */
export async function stillUnused(
  context: StepContext,
  { notUsed }: Pick<AnswerRecord, 'notUsed'>,
): Promise<NotUsed[]> {
  if (notUsed === undefined) return [];
  const { rules } = await currentLayer(layerPlace(context));
  const held = new Map(rules.map((rule) => [rule.entry.entryId, rule]));
  return notUsed.flatMap(({ id }) => {
    const now = held.get(id);
    return now?.status === 'active' ? [{ id, statement: ruleText(now) }] : [];
  });
}

/** How the model is asked about them. */
export async function askedAside(context: StepContext, read: Read): Promise<readonly string[]> {
  return (await unusedIn(context, read)).map(ruleText).map(unusedText);
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

function quotedIn(statement: string): string[] {
  return [...statement.matchAll(/['"‘“]([^'"’”]+)['"’”]/g)].map(([, text = '']) => `'${text.toLowerCase()}`);
}

/** Apart from names. */
function textOf(raw: string): string {
  return `'${raw.replace(/^[^']*'|'$/g, '')}`;
}
