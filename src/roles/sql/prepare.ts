/**
 * `prepare`: reads once what a search knows about its database: the description, the schema text with the profile of each
 * shown table, and what the layer of the database may tell.
 */
import type { DatabaseDescription } from '../../domain';
import { SqlEngineError } from '../../domain/ports';
import { placeNotes } from '../../database/shown-documents';
import { profiledText } from '../../database/profile/render';
import { SCHEMA_CHARS, schemaContext } from '../../database/context';
import { addDeltas, once, openEngine, type StepContext } from '../shared/context';
import { profileShown, showsValues } from './profiles';
import { SCHEMA_ID } from '../../record/contents';
import { earlierWords, recallEarlier } from '../layer/earlier';
import { recall } from '../layer/recall';
import type { PrepareInput, Prepared } from '../../domain/ports/steps';

export async function prepare(context: StepContext, step: PrepareInput): Promise<Prepared> {
  await forgetBadReplies(context);
  return once(context, step, readDatabase);
}

async function readDatabase(context: StepContext): Promise<Prepared> {
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
  const shownContext = schemaContext(description, {
    maxChars: SCHEMA_CHARS,
    question,
    notes: placeNotes(description, notes),
  });
  const { shown } = shownContext;
  const names = shown ?? description.tables.map(({ name }) => name);
  const { profiles, usage } = await profileShown(context, description, names);
  const text = profiles.length === 0 ? shownContext.text : profiledText(description, shownContext, profiles);
  await context.run.put('schema', SCHEMA_ID, {
    description,
    text,
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
  return { knownUpdates: [], usage: addDeltas(usage, earlier, recalled) };
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
