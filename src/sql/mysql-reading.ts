/**
 * MySQL's SQL as sql-parser-cst's grammar can read it, and back. That grammar takes "…" for a text (sessions of GATE make it a
 * name) and a backslash for an escape (there it is a character), and lacks CAST AS SIGNED, GROUP_CONCAT's SEPARATOR, JSON_TABLE
 * and functions named like statements. What stands for these is marked, so that `undone` finds it: text that is run has them.
 */
import { closing, tokensOf } from './lexer';

/** Stands for a backslash in a text; no one writes it, because Unicode gives it no meaning. */
const BACKSLASH = '\ue05c';
/** Functions whose names the grammar keeps for statements. */
const NAMES = /^(?:json_table|replace|insert|database|schema)$/;

export function asRead(sql: string): string {
  const tokens = tokensOf(sql, 'mysql');
  let text = '';
  let from = 0;
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token === undefined) break;
    const [before, next] = [tokens[at - 1], tokens[at + 1]];
    text += sql.slice(from, token.at);
    from = token.at + token.raw.length;
    if (token.kind === 'string') text += token.raw.replaceAll('\\', BACKSLASH);
    else if (token.kind === 'quoted') text += `\`${token.text.replaceAll('`', '``')}\``;
    else if (token.kind !== 'word') text += token.raw;
    else if (/^(?:un)?signed$/.test(token.text) && before?.text === 'as') text += `BIGINT/*gate ${token.raw}*/`;
    else if (token.text === 'integer' && /^(?:un)?signed$/.test(before?.text ?? '')) continue;
    else if (token.text === 'separator' && next?.kind === 'string') text += `/*gate ${token.raw}*/,`;
    else if (token.text === 'columns' && next?.raw === '(' && before?.kind === 'string') {
      at = closing(tokens, at + 1);
      const last = tokens[at];
      from = last === undefined ? sql.length : last.at + last.raw.length;
      const columns = sql.slice(token.at, from).replaceAll("'", "''").replaceAll('\\', BACKSLASH);
      text += `/*gate*/, '${columns}'`;
    } else text += NAMES.test(token.text) && next?.raw === '(' ? `gate_${token.raw}` : token.raw;
  }
  return text + sql.slice(from);
}

/** A part of a text that was read so, as it was written; names in double quotes are in backticks. */
export function undone(text: string): string {
  return text
    .replace(/\/\*gate\*\/\s*, '((?:[^']|'')*)'/g, (_, columns: string) => columns.replaceAll("''", "'"))
    .replace(/BIGINT\/\*gate ((?:un)?signed)\*\//gi, '$1')
    .replace(/\/\*gate (separator)\*\/\s*,/gi, '$1')
    .replace(/\bgate_(json_table|replace|insert|database|schema)\b/gi, '$1')
    .replaceAll(BACKSLASH, '\\');
}
