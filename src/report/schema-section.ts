/** The part of a report on a schema that was too large to show: which tables the model saw in full, and why these. */
import { markup, type Html } from './html';
import { details } from './parts';
import { counted } from './printable';
import { rankedTable, rankingText, shownText } from './ranking';
import type { Trace } from './trace';

/** Null where all tables were shown. */
export function schemaPart({ shownTables, record }: Trace): Html | null {
  if (shownTables === undefined) return null;
  const { shown, warning } = shownTables;
  const text = record?.tableRanking === undefined ? shownText(shownTables) : rankingText(record.tableRanking);
  return markup`<h3 id="schema">Schema</h3>
    <p>The schema was too large to show to the model as a whole: ${text}. The model saw the other tables by name, and the columns of a table once a plan named it.</p>
    ${warning !== null && markup`<p class="soft">${warning}</p>`}
    ${details(
      `${counted(shown.length, 'table')} shown with columns`,
      markup`<ul>${shown.map((each) => markup`<li><code>${rankedTable(each)}</code></li>`)}</ul>`,
    )}`;
}
