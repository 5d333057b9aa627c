/** SQL as a report shows it: the statement, a button that copies it, and the command that runs it again. */
import { Dialect, type AnswerRecord, type Claim } from '../domain';
import { BoundedMap } from '../bounded-map';
import { tokensOf } from '../sql/lexer';
import { definedTexts } from '../text/claim-text';
import { anchor, type Html, markup } from './html';
import { copyButton } from './style';

export interface Rerun {
  /** The argument of `--db`; null where only a generated name is known. */
  readonly database: string | null;
  /** What a live page offers below a claim; left out: nothing. */
  readonly beside?: (claim: Claim, number: number) => Html | null;
}

export function sqlBody(record: AnswerRecord, rerun: Rerun): Html | null {
  if (record.sql === null) return null;
  const operators = new Set(record.evidence.map(({ operator }) => operator));
  return markup`${operators.size > 0 && markup`<p class="soft">Each name that begins with <code>op_</code> is a step of the answer and leads to the evidence for it.</p>`}
    ${statement('final', record.sql, operators, rerun)} ${definedTexts(record).map((line) => markup`<p class="soft">${line}.</p>`)}`;
}

/** `key`: unique on the page. */
export function statement(key: string, sql: string, operators: ReadonlySet<string>, rerun: Rerun): Html {
  const [text, command] = [`sql-${key}`, `run-${key}`];
  return markup`${sqlHtml(formattedSql(sql), operators, text)}
    <div class="actions">
      ${copyButton(text, 'Copy SQL')}
      <details class="rerun">
        <summary>Run it again</summary>
        <pre tabindex="0"><code id="${command}">${rerunCommand(sql, rerun.database)}</code></pre>
        ${rerun.database === null && markup`<p class="soft">Replace DATABASE with the file or URL of the database.</p>`}
        ${copyButton(command, 'Copy command')}
      </details>
    </div>`;
}

/** The command for a POSIX shell: every part is quoted, nothing is expanded. */
export function rerunCommand(sql: string, database: string | null): string {
  const place = database === null ? 'DATABASE' : shellWord(database);
  return `gate db sql --db ${place} ${sql.startsWith('-') ? '-- ' : ''}${shellQuoted(sql)}`;
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function shellWord(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) && !text.startsWith('-') ? text : shellQuoted(text);
}

const TOKEN =
  /(?<comment>--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|(?<string>'(?:[^']|'')*'?)|(?<name>"(?:[^"]|"")*"?|[A-Za-z_][\w$]*)|(?<other>[^\w"'/-]+|.)/g;

const KEYWORDS = new Set(
  `select from where group by order having limit offset with recursive as on using join left right full inner outer cross
   lateral union all except intersect distinct case when then else end and or not in is null like ilike between exists
   asc desc nulls first last over partition rows range cast filter within values true false interval any some`.split(
    /\s+/,
  ),
);

/**
 * SQL as HTML: keywords, strings and comments marked, and operator names linked to their evidence.
 *
 * `operators`: names that have an entry in the evidence. `id`: of the text, where something refers to it.
 */
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

type Format = (sql: string, options: { readonly language: Dialect; readonly expressionWidth: number }) => string;

/** A statement that fits on a line stays on it. */
const LINE = 76;

/**
 * SQL laid out for people. The stored SQL stays as it was written, and so does what runs. A layout is used only where each
 * engine's lexer sees the same tokens in it; else the SQL is shown as it is.
 */
export function formattedSql(sql: string): string {
  const known = formatted.get(sql);
  if (known !== undefined) return known;
  const text = formattedAnew(sql);
  formatted.set(sql, text, sql.length + text.length);
  return text;
}

/** A live page shows the same statements again and again. */
const formatted = new BoundedMap<string>(4 * 1024 * 1024);

function formattedAnew(sql: string): string {
  if (sql.length <= LINE && !sql.includes('\n')) return sql;
  const tokens = (text: string): string =>
    JSON.stringify(Dialect.options.map((dialect) => tokensOf(text, dialect).map(({ raw }) => raw)));
  // Literals on two lines are one literal in PostgreSQL; on one line they are an error.
  const isJoined = tokensOf(sql, 'postgresql').some(
    ({ kind }, at, all) => kind === 'string' && all[at + 1]?.kind === 'string',
  );
  if (isJoined) return sql;
  const before = tokens(sql);
  // A layout takes long enough to hold up a live page: the first that serves ends the search.
  for (const language of Dialect.options) {
    const text = laidOut(sql, language);
    if (text !== null && tokens(text) === before) return text;
  }
  return sql;
}

function laidOut(sql: string, language: Dialect): string | null {
  // Loaded where the first statement is shown: it would hold up the first query of a search.
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- a report is made without waiting
  const { format } = require('sql-formatter') as { readonly format: Format };
  try {
    return format(sql, { language, expressionWidth: LINE });
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('Parse error')) return null;
    throw error;
  }
}
