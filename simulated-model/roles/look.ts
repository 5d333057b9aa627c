/** Role `look`: up to two looks, then a commit of the gold SQL with a claim that can be counted, or a decline. */
import type { LookReply } from '../../src/domain/turns';
import { answerSentence, baseBody, baseRelation, failingBody, rowsBody } from '../bodies';
import type { World } from '../world';

export async function look(world: World): Promise<Partial<LookReply>> {
  const { asked } = world;
  if (!world.question.answerable)
    return { action: 'unanswerable', reason: 'the fact asked for is not stored in any table or column', absent: [] };
  const gold = await world.gold();
  const base = baseRelation(gold);
  if (base !== null && asked.turns < Math.floor(world.draw('looks') * 3)) {
    const failing = world.slip('look') < world.rates.failingSql;
    return {
      action: 'look',
      queries: [
        { why: 'rows as they stand', sql: failing ? failingBody(gold) : baseBody(gold, 0) },
        { why: 'how many there are', sql: `SELECT count(*) AS n FROM ${base}` },
      ],
    };
  }
  const wrong = world.draw('wrong') < world.rates.wrong;
  const failing = world.slip('commit') < world.rates.failingSql;
  const sql = failing ? failingBody(gold) : wrong ? rowsBody(gold, 0, 'twice') : gold.sql;
  // What went back is withdrawn.
  const isBack = /NOT ESTABLISHED|FAILED/.test(asked.lastUser);
  const claims = base === null || isBack || world.draw('claim') < 0.5 ? [] : [countedOnce(base)];
  return {
    action: 'commit',
    operators: [{ name: 'op_answer', intent: `the answer to: ${world.question.question}`, sql }],
    claims,
    control: base === null ? null : `SELECT count(*) AS n FROM ${base}`,
    sentence: asked.sentence ? answerSentence(gold) : null,
  };
}

function countedOnce(base: string): LookReply['claims'][number] {
  return {
    operator: 'op_answer',
    statement: 'Every record counts once.',
    rows: 'records',
    check: `SELECT count(*) AS examined, sum(CASE WHEN nth > 0 THEN 1 ELSE 0 END) AS matching, sum(CASE WHEN nth > 1000000000 THEN 1 ELSE 0 END) AS twice FROM (SELECT row_number() OVER () AS nth FROM ${base}) AS numbered`,
    rivals: [{ reading: 'records count twice', instead: null }],
  };
}
