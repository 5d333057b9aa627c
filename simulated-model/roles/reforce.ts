/** The roles of the methods `reforce-…`: each vote errs by itself, so that right results agree and wrong ones do not. */
import type {
  ChooseReply,
  ExploreReply,
  FormatReply,
  GenerateReply,
  LinkReply,
  PhraseReply,
} from '../../src/methods/reforce/prompts';
import { answerSentence, baseBody, baseRelation, columnList, failingBody, isWrong, rowsBody } from '../bodies';
import { sectionsNamed } from '../request';
import type { World } from '../world';

const NO_ROWS = 'SELECT 1 AS nothing WHERE 1 = 0';

export function link(_world: World): Promise<LinkReply> {
  return Promise.resolve({ note: 'It may hold what the question names.', needed: 'Y', columns: [] });
}

export async function format(world: World): Promise<FormatReply> {
  return { header: world.question.answerable ? columnList(await world.gold()) : 'answer' };
}

/** Three looks, or the one query that is to be corrected. */
export async function explore(world: World): Promise<ExploreReply> {
  if (!world.question.answerable)
    return { note: 'Nothing fits.', queries: [1, 2, 3].map((at) => ({ why: `look ${at}`, sql: NO_ROWS })) };
  const gold = await world.gold();
  const look = baseRelation(gold) === null ? gold.sql : baseBody(gold, 0);
  const isCorrection = /^The last query failed/m.test(world.asked.lastUser);
  const failing = world.slip('look') < world.rates.failingSql ? failingBody(gold) : look;
  const queries = [
    { why: 'how many', sql: isCorrection ? look : failing },
    { why: 'which rows', sql: rowsBody(gold, 1, 'right') },
    { why: 'and again', sql: rowsBody(gold, 2, 'right') },
  ];
  return { note: 'Look first.', queries: isCorrection ? queries.slice(0, 1) : queries };
}

export async function generate(world: World): Promise<GenerateReply> {
  if (!world.question.answerable) return { note: 'Nothing fits.', sql: NO_ROWS };
  const gold = await world.gold();
  if (world.slip('sql') < world.rates.failingSql) return { note: 'One query.', sql: failingBody(gold) };
  const sql = world.draw('wrong') < world.rates.wrong ? rowsBody(gold, 0, 'misread') : gold.sql;
  return { note: 'One query.', sql };
}

export function choose(world: World): Promise<ChooseReply> {
  const at = sectionsNamed(world.asked, /^candidate \d+$/).findIndex(({ text }) => !isWrong(text));
  return Promise.resolve({ note: 'It counts each record once.', choice: Math.max(0, at) + 1 });
}

export async function phrase(world: World): Promise<PhraseReply> {
  return { answer: world.question.answerable ? answerSentence(await world.gold()) : null };
}
