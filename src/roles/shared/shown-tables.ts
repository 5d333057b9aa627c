/**
 * Further tables of a large schema that prompts show in detail: those that a plan names although the schema only lists them
 * by name. They are stored with the plan, so that later prompts agree and a repeated step writes the same.
 */
import type { Dialect, TableDescription } from '../../domain';
import type { LookReply } from '../../domain/turns';
import { data } from './prompt-parts';
import { renderProfiles } from '../../database/profile/render';
import { renderTables } from '../../database/context';
import { tablesNamed } from '../../database/table-names';
import { chosenText } from '../../database/wide/schema-text';
import type { UsageDelta } from '../../domain/ports/step-parts';
import { sameRelation } from '../../sql/validate';
import type { StepContext } from './context';
import { SCHEMA_ID, type SchemaContent } from '../../record/contents';
import { profileShown } from '../sql/profiles';

const EXTRA_CHARS = 16_000;
/** Of a table with a few rows, which are all shown. */
const SHORT_BLOCK = 400;
const EXTRA_TABLES = 20;
/** The most characters about columns in a retry. */
const HINT_CHARS = 6_000;

/** `relations`: the plan's declared tables; `text`: its words, which may name more; `asked`: to be shown though some of it was. */
export async function showTables(
  context: StepContext,
  planId: string,
  relations: readonly string[],
  text: string,
  asked: readonly string[] = [],
): Promise<void> {
  const schema = await context.run.get('schema', SCHEMA_ID);
  const hidden = listedOnly(schema);
  const tables = [
    ...schema.description.tables.filter(({ name }) => asked.some((each) => sameRelation(each, name))),
    ...hidden.filter(({ name }) => relations.some((relation) => sameRelation(relation, name))),
    ...tablesNamed(text, hidden),
  ].map(({ name }) => name);
  if (tables.length === 0) return;
  await context.run.put('schema-extra', planId, {
    tables: [...new Set(tables)].slice(0, EXTRA_TABLES),
  });
}

/**
 * What the question chose of a wide database. After a look it is most of the prompt and mostly not needed any more: then only
 * tables stay that the replies name and that no look shows in full, and short lists of codes, which define what literals mean.
 */
export async function chosenTables(
  { run }: StepContext,
  { chosen, shown = [], description }: SchemaContent,
  turns: readonly string[],
): Promise<string> {
  if (chosen === undefined) return '';
  if (turns.length === 0) return chosenText(chosen);
  const [replies, extras] = await Promise.all([
    Promise.all(turns.map((id) => run.get('turn', id))),
    Promise.all(turns.map((id) => run.find('schema-extra', id))),
  ]);
  const full = new Set(extras.flatMap((extra) => extra?.tables ?? []));
  const text = replies.map(({ reply }) => readBy(reply)).join('\n');
  const named = tablesNamed(text, description.tables).filter(({ name }) => !full.has(name));
  const kept = new Set(named.map(({ name }) => name));
  const isKept = (name: string, at: number): boolean =>
    kept.has(name) || (chosen.whole.includes(name) && (chosen.blocks[at]?.length ?? 0) <= SHORT_BLOCK);
  const stays = shown.map(isKept);
  const blocks = chosen.blocks.filter((_, at) => stays[at]);
  if (blocks.length === 0) return chosen.places;
  return chosenText({ ...chosen, blocks, whole: chosen.whole.filter((name) => stays[shown.indexOf(name)]) });
}

/** The SQL of a reply, and the tables that it asks to see. */
function readBy({ queries, operators, claims, absent, wording, control, coverage, tables = [] }: LookReply): string {
  const edits = [...claims.flatMap(({ rivals }) => rivals), ...wording];
  return [
    ...[...queries, ...operators].map(({ sql }) => sql),
    ...[...claims, ...absent].map(({ check }) => check),
    ...edits.map(({ instead }) => instead?.put),
    ...[control, coverage, ...tables],
  ].join('\n');
}

/** The columns of the tables that these plans added; empty if the schema shows all tables. */
export async function extraTables(
  context: StepContext,
  schema: Pick<SchemaContent, 'description' | 'shown'>,
  plans: readonly string[],
): Promise<string> {
  if (schema.shown === undefined) return '';
  const extras = await Promise.all([...new Set(plans)].map((id) => context.run.find('schema-extra', id)));
  const names = new Set(extras.flatMap((extra) => extra?.tables ?? []));
  const { dialect } = schema.description;
  const tables = schema.description.tables.filter(({ name }) => names.has(name));
  const text = rendered(context, dialect, tables, EXTRA_CHARS);
  const touched = await Promise.all([...new Set(plans)].map((id) => context.run.find('profile', id)));
  const profiles = touched.flatMap((each) => each?.tables ?? []);
  if (profiles.length === 0) return text;
  const maxChars = EXTRA_CHARS - text.length;
  return maxChars < EXTRA_CHARS / 4 ? text : renderProfiles(tables, profiles, { dialect, maxChars });
}

/** Rows tell of the tables that a plan brought into view, too; once per plan, so that its prompts stay the same. */
export async function profileExtra(context: StepContext, planId: string): Promise<UsageDelta> {
  const extra = await context.run.find('schema-extra', planId);
  if (extra === null || (await context.run.find('profile', planId)) !== null) return {};
  const { description } = await context.run.get('schema', SCHEMA_ID);
  const { profiles, usage } = await profileShown(context, description, extra.tables);
  await context.run.put('profile', planId, { tables: [...profiles] });
  return usage;
}

/** For a retry: columns of tables that a text names and the schema only lists. Null if there are none. */
export async function columnsOfNamed(context: StepContext, text: string): Promise<string | null> {
  const schema = await context.run.get('schema', SCHEMA_ID);
  const tables = tablesNamed(text, listedOnly(schema)).slice(0, EXTRA_TABLES);
  if (tables.length === 0) return null;
  const columns = rendered(context, schema.description.dialect, tables, HINT_CHARS);
  return data('columns of tables that were only listed', columns);
}

function rendered(
  { input }: StepContext,
  dialect: Dialect,
  tables: readonly TableDescription[],
  maxChars: number,
): string {
  return renderTables(tables, { dialect, maxChars, question: input.question.text });
}

function listedOnly({ description, shown }: SchemaContent): readonly TableDescription[] {
  if (shown === undefined) return [];
  const known = new Set(shown);
  return description.tables.filter(({ name }) => !known.has(name));
}
