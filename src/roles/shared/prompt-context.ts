/** The part of the prompt for every role: the question, the schema, profiles, proved readings and facts. */
import type { SearchInput, Update } from '../../domain';
import type { MemoryEntry, PromptContext } from './prompt-parts';
import { CLOCK_CONTEXT } from '../../sql/clock';
import { renderDocumentation, shownDocuments } from '../../database/shown-documents';
import type { MemoryRef } from '../../domain/ports/step-parts';
import { SCHEMA_ID } from '../../record/contents';
import type { StepContext } from './context';
import { earlierText, knownEntries } from '../layer/earlier';
import { entryText } from '../layer/entries';
import { webTexts } from './lookups';
import { chosenTables, extraTables } from './shown-tables';

/**
 * `plans`: their tables are shown even if the schema only lists them by name. `turns`: after the first, a wide database shows
 * only what their replies name.
 */
export async function promptContext(
  context: StepContext,
  memory: MemoryRef,
  { plans = [], turns = [] }: { readonly plans?: readonly string[]; readonly turns?: readonly string[] } = {},
): Promise<PromptContext> {
  const { run, input } = context;
  const { question } = input;
  const [schema, updates, facts, remarks, known, told, earlier] = await Promise.all([
    run.get('schema', SCHEMA_ID),
    Promise.all(memory.updates.map((id) => run.get('update', id))),
    Promise.all(memory.facts.map((id) => run.get('fact', id))),
    Promise.all((memory.remarks ?? []).map((id) => run.get('remark', id))),
    run.find('known', SCHEMA_ID),
    run.find('told', SCHEMA_ID),
    question.after === undefined ? null : run.find('earlier', SCHEMA_ID),
  ]);
  const chosen = await chosenTables(context, schema, turns);
  const extra = await extraTables(context, schema, plans);
  const { description, shown, profiled = false } = schema;
  return {
    question: {
      ...question,
      context: contextOf(input),
      documents: [...shownDocuments(question.documents, question.text)],
    },
    dialect: description.dialect,
    schema: schema.text,
    furtherTables: [chosen, extra].filter((text) => text !== '').join('\n\n') || null,
    profiled,
    ...(shown === undefined ? {} : { listedOnly: description.tables.length - shown.length }),
    ...(question.notes === undefined
      ? {}
      : { documentation: renderDocumentation(description, question.notes, { question: question.text }) }),
    memory: await Promise.all(updates.map((update) => memoryEntry(context, update))),
    facts: facts.map((fact) => fact.statement),
    ...(known === null && earlier === null
      ? {}
      : { known: (await knownEntries(context)).map(({ key, entry }) => ({ key, text: entryText(entry) })) }),
    ...(earlier === null ? {} : { earlier: earlier.questions.map(earlierText) }),
    remarks: [
      ...remarks.map(({ author, text }) => `${author}: ${text}`),
      ...(earlier?.questions ?? []).flatMap((each) => each.remarks),
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
  const { updateId, intent, mapping, summary } = update;
  const { sql } = await context.run.get('body', update.bodyId);
  return { updateId, intent, mapping, summary, ...update.interface, sql };
}
