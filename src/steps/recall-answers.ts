/** What people answered to questions of lessons, where it may matter to this question. It proves nothing. */
import type { DatabaseDescription } from '../domain';
import { answersFor, answerText, visibleQuestions } from '../layer/questions';
import { layerOf } from '../layer/state';
import { SCHEMA_ID } from '../record/contents';
import { readLayer } from '../record/layer-store';
import { rankedTables } from '../schema/table-relevance';
import type { StepContext } from './context';
import { layerPlace } from './layer-entries';

/** The likeliest tables of a question. */
const LIKELY = 3;

export async function recallAnswers(context: StepContext, description: DatabaseDescription): Promise<void> {
  if (context.settings.layer === undefined) return;
  const { questions } = layerOf(await readLayer(layerPlace(context)));
  if (questions.every(({ answer }) => answer === null)) return;
  const { text, context: background, instructions } = context.input.question;
  const question = [text, background ?? '', instructions ?? ''].join('\n');
  const tables = rankedTables(description, { question })
    .filter(({ score }) => score > 0)
    .slice(0, LIKELY)
    .map(({ table }) => table.name);
  const told = answersFor(visibleQuestions(questions, description), { question, tables });
  if (told.length > 0) await context.run.put('told', SCHEMA_ID, { schemaVersion: 1, answers: told.map(answerText) });
}
