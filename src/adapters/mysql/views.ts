/**
 * Views that may act. A stored function has the rights of its author: called by a view it may change settings of the server or
 * write a file, which READ ONLY does not prevent. Functions of the server's own stand in a definition without backticks.
 */
import { tokensOf } from '../../sql/lexer';
import { actsBeyond } from './inspector';
import type { MysqlSession } from './session';

const CALLS_STORED = /`\s*\(/;
const OF_USERS = "table_schema NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema')";

/** Why a statement may not run: it names such a view, or one over such views. */
export async function actingViews(session: MysqlSession): Promise<(sql: string) => string | null> {
  const rows = await session.query(
    `SELECT table_name, view_definition FROM information_schema.views WHERE ${OF_USERS}`,
  );
  const views = rows.map(([name, text]) => ({ name: String(name), text: String(text ?? '') }));
  const found = new Map<string, string>();
  for (let before = -1; before < found.size;) {
    before = found.size;
    for (const { name, text } of views) {
      const why = whyNot(text, found);
      if (why !== null) found.set(name.toLowerCase(), `the view ${name} ${why}`);
    }
  }
  return (sql) => {
    const [why = null] = tokensOf(sql, 'mysql').flatMap(({ text }) => found.get(text.toLowerCase()) ?? []);
    return why;
  };
}

function whyNot(text: string, found: ReadonlyMap<string, string>): string | null {
  if (text === '') return 'may not be read, because its definition is not shown: grant SHOW VIEW to this login';
  const isOver = [...text.matchAll(/`([^`]+)`/g)].some(([, name = '']) => found.has(name.toLowerCase()));
  if (!isOver && !CALLS_STORED.test(text) && !actsBeyond(text)) return null;
  return 'calls a function that may act with rights of its own: read the tables';
}
