/**
 * What a stored search was told, and which values it was shown: for the check that a submitted query holds no answer. Seen are
 * the rows of probes, the schema with its profiles, and what the counted claims of the answer name. The rows of candidates
 * are not among them, except where the method itself asked for those rows as a probe.
 */
import type { AnswerRecord, SearchInput } from '../src/domain';
import type { ObjectStore } from '../src/domain/ports';
import type { Hash } from '../src/sql/body';
import { createRunStore } from '../src/record/run-store';

export interface SeenValues {
  readonly told: string;
  readonly seen: string;
  readonly clock: string | null;
}

export async function seenValues(
  store: ObjectStore,
  { record, input }: { readonly record: AnswerRecord; readonly input: SearchInput },
  hash: Hash,
): Promise<SeenValues> {
  const { text, context, instructions, documents, notes = [] } = input.question;
  const steering = (record.steering ?? []).map((note) => Object.values(note).join(' '));
  const told = [text, context ?? '', instructions ?? '', ...documents.map((one) => one.text), ...steering];
  const searches = [record.id, ...(record.children ?? []).map(({ id }) => id)];
  const shown = await Promise.all(searches.map((id) => shownIn(store, id, hash)));
  const counted = (record.claims ?? []).flatMap(({ check, matching }) => ((matching ?? 0) > 0 ? [check] : []));
  const evidence = record.evidence.flatMap(({ observed }) => (observed === null ? [] : [textOf(observed.rows)]));
  return {
    told: [...told, ...notes.map((note) => note.text)].join('\n'),
    seen: [...shown, ...counted, ...evidence].join('\n'),
    clock: record.clock ?? null,
  };
}

async function shownIn(store: ObjectStore, searchId: string, hash: Hash): Promise<string> {
  const run = createRunStore(store, searchId, hash);
  const idsOf = async (kind: string): Promise<string[]> => {
    const prefix = `runs/${searchId}/${kind}/`;
    return (await store.list(prefix)).map((key) => key.slice(prefix.length, -'.json'.length));
  };
  const observations = await Promise.all((await idsOf('observation')).map((id) => run.get('observation', id)));
  const schemas = await Promise.all((await idsOf('schema')).map((id) => run.get('schema', id)));
  const profiles = await Promise.all((await idsOf('profile')).map((id) => run.get('profile', id)));
  const known = await Promise.all((await idsOf('known')).map((id) => run.get('known', id)));
  const rows = observations.flatMap(({ tests, web }) => [
    ...tests.flatMap(({ result, hypotheses }) => [
      rowsOf(result),
      ...hypotheses.flatMap((one) => (one.run === undefined ? [] : [rowsOf(one.run.result)])),
    ]),
    web?.text ?? '',
  ]);
  return [
    ...rows,
    ...schemas.flatMap(({ text, description }) => [text, textOf(description.tables)]),
    ...[...profiles, ...known].map(textOf),
  ].join('\n');
}

type Result = { readonly kind: string; readonly rows?: readonly unknown[] };

const rowsOf = ({ rows = [] }: Result): string => textOf(rows);

/** The names and values of a JSON value, apart from each other. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(' | ');
  if (typeof value === 'object' && value !== null)
    return Object.entries(value)
      .map(([name, one]) => `${name} ${textOf(one)}`)
      .join('\n');
  return ['string', 'number', 'boolean'].includes(typeof value) ? `${value as string | number | boolean}` : '';
}
