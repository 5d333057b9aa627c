/**
 * What the layer of the database knows that may help a question: entries of its tables and words, within a budget. Their
 * checks run again first, together; one that fails is withheld and said to be broken.
 * What people state of the database is told beside them; it proves nothing.
 */
import type { DatabaseDescription, LayerEvent } from '../../domain';
import type { HeldEntry } from '../../layer/state';
import { rulesFor, ruleText } from '../../layer/rules';
import { relevantEntries } from '../../layer/relevance';
import type { UsageDelta } from '../../domain/ports/step-parts';
import { SCHEMA_ID } from '../../record/contents';
import { appendToLayer } from '../../record/layer-store';
import { rankedTables } from '../../database/relevance';
import { now, type StepContext, runSql } from '../shared/context';
import { earlierWords } from './earlier';
import { currentLayer, entryText, layerPlace, recounted, visibleLayer } from './entries';

/** A check that takes longer would hold up every question; its entry is not used then. `gate layer verify` gives it more time. */
export const CHECK_MS = 3_000;

export async function recall(context: StepContext, description: DatabaseDescription): Promise<UsageDelta> {
  if (context.settings.layer === undefined) return {};
  const layer = await currentLayer(layerPlace(context));
  const shown = visibleLayer(layer, description);
  const active = shown.entries.filter(({ status }) => status === 'active');
  const visible = new Map(active.map((held) => [held.entry.entryId, held]));
  if (visible.size + shown.rules.length === 0) return {};
  const { text, context: background, instructions } = context.input.question;
  const question = [text, background ?? '', instructions ?? '', ...(await earlierWords(context))].join('\n');
  const carried = new Set((await context.run.find('earlier', SCHEMA_ID))?.entries.map(({ entry }) => entry.entryId));
  const tables = rankedTables(description, { question }).map(({ table, score }) => ({ name: table.name, score }));
  const told = rulesFor(shown.rules, { question, tables: likeliest(tables) }).map((rule) => ({
    ...{ entryId: rule.entry.entryId, text: ruleText(rule) },
  }));
  if (told.length > 0) await context.run.put('told', SCHEMA_ID, { rules: told });
  if (visible.size === 0) return {};
  const seenAs = (held: HeldEntry): HeldEntry => visible.get(held.entry.entryId) ?? held;
  const relevant = relevantEntries(
    layer.entries,
    { question, tables },
    {
      chars: (held) => entryText(seenAs(held).entry).length,
      isUsable: ({ entry }) => visible.has(entry.entryId) && !carried.has(entry.entryId),
    },
  ).map(seenAs);
  const { holding, broken, late, afterMs, usage } = await countAgain(context, relevant);
  await context.run.put('known', SCHEMA_ID, {
    entries: holding.map(({ entry }, at) => ({ key: `k${at + 1}`, entry })),
    withheld: broken.map(({ held, why }) => ({
      ...{ entryId: held.entry.entryId, statement: held.statement, why: why ?? '' },
    })),
    ...(late.length === 0
      ? {}
      : {
          unchecked: late.map(({ entry, statement }) => ({
            ...{ entryId: entry.entryId, statement, why: `its check did not end within ${afterMs / 1000} s` },
          })),
        }),
  });
  return usage;
}

/** Runs the checks of entries; one that its check no longer shows is broken from here on. */
async function countAgain(context: StepContext, entries: readonly HeldEntry[]) {
  const afterMs = Math.min(context.settings.sqlTimeoutMs, CHECK_MS);
  const { results, usage } = await runSql(
    { ...context, settings: { ...context.settings, sqlTimeoutMs: afterMs } },
    entries.map(({ entry }) => entry.check),
  );
  const seen = recounted(entries, results).filter(({ unseen }) => !unseen);
  const broken = seen.filter(({ why }) => why !== null);
  const at = now(context);
  await appendToLayer(
    layerPlace(context),
    broken.map(({ held, why, counts }): LayerEvent => {
      return { kind: 'broken', entryId: held.entry.entryId, at, why: why ?? '', counts };
    }),
  );
  const late = entries.filter((_, each) => results[each]?.kind === 'timeout');
  return { holding: seen.filter(({ why }) => why === null), broken, late, afterMs, usage };
}

/** The likeliest tables of a question. */
const LIKELY = 3;

function likeliest(tables: readonly { readonly name: string; readonly score: number }[]): string[] {
  return tables
    .filter(({ score }) => score > 0)
    .slice(0, LIKELY)
    .map(({ name }) => name);
}
