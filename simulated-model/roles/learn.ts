/** Role `learn`: one turn with a query on every shown table, then the end. Nothing is claimed: it knows no convention. */
import type { LearnReply } from '../../src/domain/turns';
import { sectionsNamed } from '../request';
import type { World } from '../world';

export function learn({ asked }: Pick<World, 'asked'>): Promise<LearnReply> {
  const schema = sectionsNamed(asked, /^tables in full$/)
    .map(({ text }) => text)
    .join('\n');
  const tables = [...schema.matchAll(/^TABLE (\S+) \(/gm)].map(([, name = '']) => name);
  const isFirst = sectionsNamed(asked, /^results of the last turn$/).length === 0;
  return Promise.resolve({
    notes: [],
    queries: isFirst
      ? tables.slice(0, 8).map((table) => ({ why: 'how many rows', sql: `SELECT count(*) AS n FROM ${table}` }))
      : [],
    claims: [],
    open: [],
    tables: [],
    done: !isFirst || tables.length === 0,
  });
}
