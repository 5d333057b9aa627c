/** The part of the prompt for every role: the question, the schema, profiles, proved readings and facts. */
import type { ColumnProfile, SearchInput, Update } from '../domain';
import type { MemoryEntry, PromptContext } from '../prompts';
import { CLOCK_CONTEXT } from '../sql/clock';
import { renderDocumentation } from '../database/documentation/notes';
import { shownDocuments } from '../database/documents';
import { renderProfiles } from '../database/column-profiles';
import type { MemoryRef } from '../ports/search-steps';
import { SCHEMA_ID } from '../record/contents';
import type { StepContext } from './context';
import { entryText } from './layer-entries';
import { webTexts } from './lookups';
import { extraTables } from './shown-tables';

const PROFILE_CHARS = 16_000;

/**
 * `plans`: also show the profiles that were computed when these plans were checked. `views`: show the tables of these plans
 * even if the schema only lists them by name.
 */
export async function promptContext(
  context: StepContext,
  memory: MemoryRef,
  plans: readonly string[] = [],
  views: readonly string[] = plans,
): Promise<PromptContext> {
  const { run, input } = context;
  const { question } = input;
  const [schema, updates, facts, touched, remarks, known, told] = await Promise.all([
    run.get('schema', SCHEMA_ID),
    Promise.all(memory.updates.map((id) => run.get('update', id))),
    Promise.all(memory.facts.map((id) => run.get('fact', id))),
    Promise.all([...new Set(plans)].map((id) => run.find('profile', id))),
    Promise.all((memory.remarks ?? []).map((id) => run.get('remark', id))),
    run.find('known', SCHEMA_ID),
    run.find('told', SCHEMA_ID),
  ]);
  const profiles = [...schema.profiles, ...touched.flatMap((each) => each?.profiles ?? [])];
  const extra = await extraTables(context, schema, views);
  const { description, shown, profiled = false } = schema;
  return {
    question: {
      ...question,
      context: contextOf(input),
      documents: [...shownDocuments(question.documents, question.text)],
    },
    dialect: description.dialect,
    schema: schema.text,
    ...(extra === '' ? {} : { furtherTables: extra }),
    profiled,
    ...(shown === undefined ? {} : { listedOnly: description.tables.length - shown.length }),
    ...(question.notes === undefined
      ? {}
      : { documentation: renderDocumentation(description, question.notes, { question: question.text }) }),
    profiles: profiles.length === 0 ? null : renderProfiles(distinct(profiles), PROFILE_CHARS),
    memory: await Promise.all(updates.map((update) => memoryEntry(context, update))),
    facts: facts.map((fact) => fact.statement),
    ...(known === null ? {} : { known: known.entries.map(({ key, entry }) => ({ key, text: entryText(entry) })) }),
    remarks: [
      ...remarks.map(({ author, text }) => `${author}: ${text}`),
      ...(told?.rules ?? []).map(({ text }) => text),
    ],
    ...(memory.web === undefined ? {} : { web: await webTexts(context, memory) }),
  };
}

/** The context with the search's clock, unless the context names a clock itself, as benchmarks do. */
function contextOf({ question, clock }: SearchInput): string | null {
  return question.context ?? (clock === undefined ? null : CLOCK_CONTEXT);
}

async function memoryEntry(context: StepContext, update: Update): Promise<MemoryEntry> {
  const body = await context.run.get('body', update.bodyId);
  return {
    updateId: update.updateId,
    intent: update.intent,
    relations: update.interface.relations,
    columns: update.interface.columns,
    grain: update.interface.grain,
    mapping: update.mapping,
    summary: update.summary,
    sql: body.sql,
  };
}

function distinct(profiles: readonly ColumnProfile[]): ColumnProfile[] {
  const byColumn = new Map(profiles.map((profile) => [`${profile.table}.${profile.column}`, profile]));
  return [...byColumn.values()];
}
