/** The end of a lesson: what it came to, how far it came, and where the next one begins. */
import type { AnswerRecord, SearchState } from '../../domain';
import { counted, someOf } from '../../counted';
import { readingOf } from '../../domain/control-view';
import { appendToLayer } from '../../record/layer-store';
import { SCHEMA_ID } from '../../record/contents';
import { isSettled } from '../../sql/claims';
import { now, type StepContext } from '../shared/context';
import { currentLayer, layerPlace } from './entries';
import { ledgerOf } from './lesson-ledger';

/** Also leaves in the layer how far it came. */
export async function endLesson(
  context: StepContext,
  state: SearchState,
  { layer, endedBy }: Pick<AnswerRecord, 'layer' | 'endedBy'>,
): Promise<Pick<AnswerRecord, 'answer' | 'lesson'>> {
  const { run, settings } = context;
  const kept = layer?.kept.length ?? 0;
  const waiting = await unread(context, state);
  const proofs = proofsText(kept, waiting);
  const plan = await run.find('lesson-tables', SCHEMA_ID);
  if (plan === null) return { answer: proofs };
  const { group, begun } = state.lesson ?? { group: 0, begun: 0 };
  const left = plan.groups.slice(group).flat();
  const { tables } = (await run.get('schema', SCHEMA_ID)).description;
  const known = tables.map(({ name }) => name).filter((name) => !left.includes(name));
  if (settings.layer === 'on') {
    const turns = state.looking?.turns ?? [];
    const notes = left.length === 0 ? [] : [...(await ledgerOf(context, { turns, group, begun })).notes];
    const place = layerPlace(context);
    const { lesson } = await currentLayer(place);
    const seen = new Set(tables.map(({ name }) => name));
    // What this reader may not see stays as other lessons left it.
    const withHidden = (own: readonly string[], all: readonly string[] = []): string[] => [
      ...own,
      ...all.filter((name) => !seen.has(name)),
    ];
    await appendToLayer(place, [
      {
        ...{ kind: 'learned', at: now(context), notes },
        ...{ tables: withHidden(known, lesson?.tables), left: withHidden(left, lesson?.left) },
      },
    ]);
  }
  const share = known.length === 0 ? 'not done' : `${known.length} of ${counted(tables.length, 'table')} learned`;
  const goesOn =
    endedBy === 'stop' || endedBy === 'cancel' ? 'the same command goes on' : `gate learn goes on with ${someOf(left)}`;
  const rest = left.length > 0 ? `; ${share}: ${goesOn}` : '';
  return { answer: `${proofs}${rest}`, lesson: { learned: plan.groups.slice(0, group).flat(), left } };
}

function proofsText(kept: number, unreadProofs: number): string {
  const learned = kept === 0 ? null : `${counted(kept, 'convention')} proved and kept`;
  if (unreadProofs === 0) return learned ?? 'nothing new was proved';
  const rest = learned === null ? counted(unreadProofs, 'convention') : `${unreadProofs} more`;
  return `${learned === null ? '' : `${learned}, `}${rest} proved but not read yet`;
}

/** Claims that a lesson proved in turns whose reading did not come to its end. */
async function unread({ run }: StepContext, { lesson }: SearchState): Promise<number> {
  const turns = lesson?.unread ?? [];
  const last = turns.at(-1);
  if (last === undefined || (await run.find('kept', readingOf(last))) !== null) return 0;
  const verdicts = await Promise.all(turns.map((id) => run.get('verdict', id)));
  return verdicts.flatMap(({ claims }) => claims.filter(isSettled)).length;
}
