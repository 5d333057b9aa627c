/** SQL as HTML: keywords, strings and comments marked, and operator names linked to their evidence. */
import { anchor, markup, type Html } from './html';

const TOKEN =
  /(?<comment>--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|(?<string>'(?:[^']|'')*'?)|(?<name>"(?:[^"]|"")*"?|[A-Za-z_][\w$]*)|(?<other>[^\w"'/-]+|.)/g;

const KEYWORDS = new Set(
  `select from where group by order having limit offset with recursive as on using join left right full inner outer cross
   lateral union all except intersect distinct case when then else end and or not in is null like ilike between exists
   asc desc nulls first last over partition rows range cast filter within values true false interval any some`.split(
    /\s+/,
  ),
);

/** `operators`: names that have an entry in the evidence. `id`: of the text, where something refers to it. */
export function sqlHtml(sql: string, operators: ReadonlySet<string>, id?: string): Html {
  const parts = [...sql.matchAll(TOKEN)].map((match) => {
    const { comment, string, name } = match.groups ?? {};
    const text = match[0];
    if (comment !== undefined) return markup`<span class="c">${text}</span>`;
    if (string !== undefined) return markup`<span class="s">${text}</span>`;
    if (name === undefined) return markup`${text}`;
    const plain = text.replace(/^"|"$/g, '');
    if (operators.has(plain)) return markup`<a href="#${anchor('operator', plain)}">${text}</a>`;
    return KEYWORDS.has(text.toLowerCase()) ? markup`<span class="k">${text}</span>` : markup`${text}`;
  });
  return markup`<pre class="sql" tabindex="0"><code${id !== undefined && markup` id="${id}"`}>${parts}</code></pre>`;
}
