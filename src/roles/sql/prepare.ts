/**
 * `prepare`: reads once what a search knows about its database: the description, the schema text with the profile of each
 * shown table, and what the layer of the database may tell.
 */
import type { DatabaseDescription } from '../../domain';
import { SqlEngineError } from '../../domain/ports';
import { placeNotes } from '../../database/shown-documents';
import { profiledText } from '../../database/profile/render';
import { SCHEMA_CHARS, schemaContext, type SchemaContext } from '../../database/context';
import { addDeltas, once, openEngine, type StepContext } from '../shared/context';
import type { AskedOf } from '../../database/relevance';
import { isWide } from '../../database/wide/overview';
import { wideSchema } from '../../database/wide/schema-text';
import { overviewShown, profileShown, showsValues, type Profiled } from './profiles';
import { SCHEMA_ID } from '../../record/contents';
import { earlierWords, recallEarlier } from '../layer/earlier';
import { currentLayer, layerPlace, visibleLayer } from '../layer/entries';
import { planLesson } from '../layer/lesson-tables';
import { recall } from '../layer/recall';
import type { Given, Gives } from '../../domain/ports/steps';

export async function prepare(context: StepContext, step: Given<'prepare'>): Promise<Gives<'prepare'>> {
  await forgetBadReplies(context);
  return once(context, step, readDatabase);
}

async function readDatabase(context: StepContext): Promise<Gives<'prepare'>> {
  const { engine } = await openEngine(context);
  // Taken before anything is read, so that any later change is noticed.
  const described = await engine.describe({ signal: context.signal });
  const description = showsValues(context) ? described : withoutSamples(described);
  if (description.tables.length === 0) {
    const { database } = context.input.question;
    throw new SqlEngineError(
      'not-found',
      `the database ${database} has no tables that may be read: check --db and the access lists`,
    );
  }
  const { text: own, notes = [] } = context.input.question;
  const earlier = await recallEarlier(context, description);
  const question = [own, ...(await earlierWords(context))].join('\n');
  const asked = { question, notes: placeNotes(description, notes) };
  const { text, frame, shown, chosen, profiles, usage } = await shownSchema(context, description, asked);
  await context.run.put('schema', SCHEMA_ID, {
    description,
    ...(chosen === undefined
      ? { text }
      : { text: frame, chosen: { ...chosen, whole: [...chosen.whole], blocks: [...chosen.blocks] } }),
    ...(shown === null ? {} : { shown: [...shown] }),
    ...(profiles.length === 0
      ? {}
      : {
          profiled: true,
          doubts: profiles.flatMap(({ doubts }) => doubts),
          flags: profiles.flatMap(({ table, flags }) => flags.map((flag) => ({ table, ...flag }))),
        }),
  });
  const recalled = await recall(context, description);
  const planned = context.settings.method === 'learn' ? await planLesson(context, description) : {};
  return { knownUpdates: [], usage: addDeltas(usage, earlier, recalled, planned) };
}

async function shownSchema(
  context: StepContext,
  description: DatabaseDescription,
  asked: AskedOf,
): Promise<SchemaContext & Profiled> {
  if (context.settings.profiles && isWide(description)) {
    const { overview, usage } = await overviewShown(context, description);
    const notes = [...(asked.notes ?? []), ...(await layerNotes(context, description))];
    return { ...wideSchema(description, overview, { ...asked, notes }), profiles: overview.profiles, usage };
  }
  const shownContext = schemaContext(description, { maxChars: SCHEMA_CHARS, ...asked });
  const names = shownContext.shown ?? description.tables.map(({ name }) => name);
  const { profiles, usage } = await profileShown(context, description, names);
  const text = profiles.length === 0 ? shownContext.text : profiledText(description, shownContext, profiles);
  return { ...shownContext, text, profiles, usage };
}

/** What the layer holds of tables speaks for them as documents do. */
async function layerNotes(context: StepContext, description: DatabaseDescription) {
  if (context.settings.layer === undefined) return [];
  const { entries } = visibleLayer(await currentLayer(layerPlace(context)), description);
  return entries
    .filter(({ status }) => status === 'active')
    .flatMap(({ entry, statement }) => entry.tables.map((table) => ({ table, text: statement })));
}

function withoutSamples(description: DatabaseDescription): DatabaseDescription {
  const tables = description.tables.map((table) => ({
    ...table,
    columns: table.columns.map((column) => ({ ...column, samples: [] })),
  }));
  return { ...description, tables };
}

export async function forgetBadReplies({ run }: StepContext): Promise<void> {
  const record = await run.find('result', run.searchId);
  const bad = new Set(record?.status === 'failed' ? record.givenUp?.map(({ reply }) => positionOf(reply)) : []);
  if (bad.size === 0) return;
  const calls = [...(await run.all('reply'))].map(([id, { endedAtMs: at }]) => {
    return { id, isBad: bad.has(positionOf(id)), at };
  });
  const forgotten = calls.filter(({ isBad }) => isBad);
  const first = Math.min(...forgotten.map(({ at }) => at));
  if (calls.some(({ isBad, at }) => !isBad && at >= first)) return;
  for (const { id } of forgotten) await run.delete('reply', id);
}

/** The position of a call in the journal. All tries of a step share it. */
function positionOf(id: string): string {
  return id.replace(/\.try\d+\.seed-?\d+$/, '');
}
