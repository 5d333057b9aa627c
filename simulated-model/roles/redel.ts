/** Role `redel`: the root counts as role `react` does, and has a relation counted by helpers where it may; helpers count it. */
import type { AgentReply } from '../../src/methods/agent/prompt';
import { baseRelation, quotedRelation } from '../bodies';
import type { Asked } from '../request';
import type { World } from '../world';
import { react } from './others';

const WHAT = 'Count the rows of the table ';

export async function redel(world: World): Promise<AgentReply> {
  const { asked, question } = world;
  const last = asked.turns === 0 ? asked.task : asked.lastUser;
  const acted = await react(world);
  if (!question.answerable || /the action must be end\./.test(last)) return acted;
  const gold = await world.gold();
  const relation = baseRelation(gold);
  const isFirst = !asked.delegated && relation !== null;
  const delegated: AgentReply = {
    note: 'A helper may count this.',
    action: 'delegate',
    subtasks: relation === null ? [] : [`${WHAT}${quotedRelation(gold, relation)}.`],
  };
  if (asked.mayQuery) return isFirst && acted.action === 'end' && asked.turns >= 3 ? delegated : acted;
  // A root without tools has nothing else to do first.
  return isFirst ? delegated : await react({ ...world, asked: { ...asked, turns: Infinity } });
}

/** It needs no gold SQL. */
export function helper({ question, turns, severalQueries, lastUser, task }: Asked): AgentReply {
  const isSpent = /the action must be end\./.test(turns === 0 ? task : lastUser);
  const table = question.startsWith(WHAT) ? question.slice(WHAT.length, -1) : null;
  const sql = `SELECT count(*) AS n FROM ${table}`;
  if (turns === 0 && table !== null && !isSpent)
    return {
      ...{ note: 'One count.', action: 'tool_call', tool: 'execute_sql' },
      ...(severalQueries ? { queries: [{ why: 'count', sql }] } : { sql }),
    };
  const fact = table === null ? 'The subtask names no table.' : `The rows of ${table} are counted.`;
  return { note: 'Counted.', action: 'end', findings: [{ about: 'table', fact }], report: fact };
}
