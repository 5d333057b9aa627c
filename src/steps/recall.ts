/**
 * What the layer of the database knows that may help a question: entries of its tables and words, within a budget. Their
 * checks run again first, together, unless no row has changed since; one that fails is withheld and said to be broken.
 * What people state of the database is told beside them; it proves nothing.
 */
import type { DatabaseDescription, LayerEvent } from '../domain';
import type { HeldEntry } from '../layer/state';
import { rulesFor, ruleText } from '../layer/rules';
import { relevantEntries } from '../layer/relevance';
import type { UsageDelta } from '../ports/search-steps';
import { SCHEMA_ID } from '../record/contents';
import { appendToLayer } from '../record/layer-store';
import { rankedTables } from '../schema/table-relevance';
import { now, type StepContext } from './context';
import { runChecks } from './counted-checks';
import { currentLayer, entryText, layerPlace, recounted, visibleLayer } from './layer-entries';

/** A check that takes longer would hold up every question; its entry is not used then. `gate layer verify` gives it more time. */
const CHECK_MS = 3_000;

/** `dataRevision`: of the rows, taken before; null: unknown. */
export async function recall(
  context: StepContext,
  description: DatabaseDescription,
  dataRevision: string | null,
): Promise<UsageDelta> {
  if (context.settings.layer === undefined) return {};
  const place = layerPlace(context);
  const layer = await currentLayer(place);
  const shown = visibleLayer(layer, description);
  const active = shown.entries.filter(({ status }) => status === 'active');
  const visible = new Map(active.map((held) => [held.entry.entryId, held]));
  if (visible.size + shown.rules.length === 0) return {};
  const { text, context: background, instructions } = context.input.question;
  const question = [text, background ?? '', instructions ?? ''].join('\n');
  const tables = rankedTables(description, { question }).map(({ table, score }) => ({ name: table.name, score }));
  const told = rulesFor(shown.rules, { question, tables: likeliest(tables) }).map((rule) => ({
    ...{ entryId: rule.entry.entryId, text: ruleText(rule) },
  }));
  if (told.length > 0) await context.run.put('told', SCHEMA_ID, { schemaVersion: 1, rules: told });
  if (visible.size === 0) return {};
  const seenAs = (held: HeldEntry): HeldEntry => visible.get(held.entry.entryId) ?? held;
  const relevant = relevantEntries(
    layer.entries,
    { question, tables },
    {
      chars: (held) => entryText(seenAs(held).entry).length,
      isUsable: ({ entry }) => visible.has(entry.entryId),
    },
  ).map(seenAs);
  const sqlTimeoutMs = Math.min(context.settings.sqlTimeoutMs, CHECK_MS);
  const { results, usage } = await runChecks(
    { ...context, settings: { ...context.settings, sqlTimeoutMs } },
    relevant.map(({ entry }) => entry.check),
    dataRevision,
  );
  const seen = recounted(relevant, results);
  const holding = seen.filter(({ why, unseen }) => why === null && !unseen);
  const broken = seen.filter(({ why, unseen }) => why !== null && !unseen);
  const late = relevant.filter((_, at) => results[at]?.kind === 'timeout');
  await context.run.put('known', SCHEMA_ID, {
    schemaVersion: 1,
    entries: holding.map(({ entry }, at) => ({ key: `k${at + 1}`, entry })),
    withheld: broken.map(({ held, why }) => ({
      ...{ entryId: held.entry.entryId, statement: held.statement, why: why ?? '' },
    })),
    ...(late.length === 0
      ? {}
      : {
          unchecked: late.map(({ entry, statement }) => ({
            ...{ entryId: entry.entryId, statement, why: `its check did not end within ${sqlTimeoutMs / 1000} s` },
          })),
        }),
  });
  const at = now(context);
  await appendToLayer(
    place,
    broken.map(({ held, why, counts }): LayerEvent => {
      return { kind: 'broken', entryId: held.entry.entryId, at, why: why ?? '', counts };
    }),
  );
  return usage;
}

/** The likeliest tables of a question. */
const LIKELY = 3;

function likeliest(tables: readonly { readonly name: string; readonly score: number }[]): string[] {
  return tables
    .filter(({ score }) => score > 0)
    .slice(0, LIKELY)
    .map(({ name }) => name);
}
