/** What passes between a search and its children: their inputs, and the answers that are taken over. */
import { isConclusive } from '../../domain/answer';
import { storeCandidate } from '../sql/candidate';
import type { ChildInput, OpenedChild } from '../../domain/ports/step-parts';
import { createRunStore } from '../../record/run-store';
import { childIdOf } from '../../record/search-id';
import { writeAsked } from '../../record/search-index';
import type { StepContext } from '../shared/context';
import { summaryOfRecord } from './finish';
import type { AdoptInput, CandidateRun } from '../../domain/ports/steps';

/** A child of before keeps the input that it began with: its journal answers to that. */
export async function openChild({ deps, input }: StepContext, step: ChildInput): Promise<OpenedChild> {
  const searchId = childIdOf(step);
  const run = createRunStore(deps.store, searchId);
  const [before, record] = await Promise.all([run.find('input', searchId), run.find('result', searchId)]);
  const { parent: _, ...asked } = input;
  // A run of several is a run of its own.
  const { repeated: __, ...settings } = input.settings;
  const spec = settings.spec.replace(/[:,]repeats=\d+$/, '');
  const child = before ?? {
    ...asked,
    searchId,
    childOf: input.searchId,
    question: { ...input.question, ...step.question },
    settings: { ...settings, spec, seed: settings.seed + (step.seedOffset ?? 0), ...step.settings },
  };
  if (before === null) await writeAsked(deps.store, child);
  const ended = record && { summary: summaryOfRecord(record), isConclusive: isConclusive(record) };
  return { searchId, settings: child.settings, ended };
}

/** Its plan stays with the child; its sentence comes along. */
export async function adopt(context: StepContext, step: AdoptInput): Promise<CandidateRun> {
  const { deps } = context;
  const child = createRunStore(deps.store, step.child);
  const record = await child.get('result', step.child);
  const chosen = record.candidates.find((candidate) => candidate.chosen);
  const content = await child.get('candidate', chosen?.id ?? '');
  const { candidateId } = step;
  const taken = { ...content, candidateId, plan: null, answer: record.sentence ?? content.answer };
  return storeCandidate(context, taken, step.against, {});
}
