/**
 * How a lesson takes the tables of its database: in groups that hang together, each shown in full on its own turns, all others
 * by name. It begins with what the lesson before left.
 */
import type { DatabaseDescription } from '../../domain';
import { centrality, neighbours } from '../../database/wide/choose';
import { isWide } from '../../database/wide/overview';
import { tableBlocks, type Overview } from '../../database/wide/schema-text';
import type { UsageDelta } from '../../domain/ports/step-parts';
import { tableGroups } from '../../layer/table-groups';
import { SCHEMA_ID, type Contents } from '../../record/contents';
import type { StepContext } from '../shared/context';
import { overviewShown, profileShown } from '../sql/profiles';
import { currentLayer, layerPlace, visibleLayer } from './entries';

export type LessonTables = Contents['lesson-tables'];

/** About 3,500 tokens. */
const GROUP = { chars: 12_000, tables: 14 };
const BLOCK_CHARS = 1_400;
const LEAST_BLOCK_CHARS = 500;

export async function planLesson(context: StepContext, description: DatabaseDescription): Promise<UsageDelta> {
  const names = description.tables.map(({ name }) => name);
  const { overview, usage } = await overviewOf(context, description, names);
  const most = isWide(description) ? BLOCK_CHARS : Math.max(GROUP.chars / names.length, LEAST_BLOCK_CHARS);
  const { beginning, links, blocks, rows: read } = tableBlocks(description, overview, most);
  const rows = new Map(
    description.tables.map(({ name, rowEstimate }) => [name, read.get(name) ?? Math.round(rowEstimate ?? 1)]),
  );
  const { lesson } = visibleLayer(await currentLayer(layerPlace(context)), description);
  const before = new Set(lesson?.tables);
  const filled = names.filter((name) => rows.get(name) !== 0);
  const left = filled.filter((name) => !before.has(name));
  const isAnew = left.length === 0;
  const taken = isAnew ? filled : left;
  const near = neighbours(description, links, new Set(taken));
  const grouping = {
    ...{ near, central: centrality(taken, near, rows), most: GROUP },
    sizes: new Map([...blocks].map(([name, text]) => [name, text.length])),
  };
  await context.run.put('lesson-tables', SCHEMA_ID, {
    catalogue: beginning,
    groups: isWide(description) || taken.length === 0 ? tableGroups(taken, grouping) : [taken],
    blocks: Object.fromEntries(blocks),
    // Notes of what a lesson was at are of no use to one that begins anew.
    notes: isAnew ? [] : [...(lesson?.notes ?? [])],
  });
  return usage;
}

/** Of a database that is not wide, the profiles alone. */
async function overviewOf(
  context: StepContext,
  description: DatabaseDescription,
  names: readonly string[],
): Promise<{ readonly overview: Overview; readonly usage: UsageDelta }> {
  if (context.settings.profiles && isWide(description)) return overviewShown(context, description);
  const { profiles, usage } = await profileShown(context, description, names);
  return { overview: { profiles, links: [], kinds: [], everywhere: [], index: null }, usage };
}
