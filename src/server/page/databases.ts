/** A database as models see it: tables with profile and links, and what is kept from them. */
import type { DescribedDatabase } from '../../app/databases';
import type { DatabaseConfig } from '../../config';
import type { DatabaseDescription, TableDescription } from '../../domain';
import { anchor, badge, details, head, type Html, markup, table } from '../../report/html';
import { counted } from '../../report/printable';
import { reachedBadge, type KnownDatabase } from './ask';
import { choiceOf, path } from './shell';

export function databasesBody(databases: readonly KnownDatabase[]): Html {
  return markup`<h1>Databases</h1>
    ${
      databases.length === 0
        ? markup`<p class="empty">None is configured yet. <code>gate db add shop --path ./shop.sqlite</code> adds one.</p>`
        : table(
            'Databases',
            [head('Name'), head('State'), markup`<th scope="col" class="hide">What may be read</th>`, head('Layer')],
            databases.map(
              ({ name, engine, address, access, reached }) =>
                markup`<tr>
                  <td><a href="${path`/databases/${name}`}">${name}</a><span class="soft">${engine === '?' ? address : `${engine}, ${address}`}</span></td>
                  <td>${reachedBadge(reached)}${reached !== null && 'problem' in reached && markup`<span class="soft">${reached.problem}</span>`}</td>
                  <td class="hide">${access}</td>
                  <td><a href="${path`/layer/${name}`}">Conventions</a></td>
                </tr>`,
            ),
          )
    }`;
}

export interface DatabasePage {
  readonly databases: readonly string[];
  readonly described: DescribedDatabase;
  readonly description: DatabaseDescription;
  readonly access: DatabaseConfig['access'];
  /** Whether models see values of rows before they ask for any. */
  readonly showsValues: boolean;
  /** Names of its documents. */
  readonly docs: readonly string[];
  /** The table shown in full; null: as it is shown at first. */
  readonly only: string | null;
}

/** Tables that one page shows. */
const MOST = 60;

export function databaseBody(page: DatabasePage): Html {
  const { databases, described, description, only } = page;
  const { database: name, version, tables, tokens, text, shown } = described;
  const blocks = blocksOf(text);
  const known = new Map(description.tables.map((one) => [one.name, one]));
  return markup`${choiceOf(databases, name, 'Databases', (one) => path`/databases/${one}`)}
    <div class="sides">
      <div>
        <h1>${only ?? name}</h1>
        ${only !== null && markup`<p><a href="${path`/databases/${name}`}">All tables</a></p>`}
        <p class="soft">${version}; ${counted(tables, 'table')}. Below stands what a model is shown of it, word for word: about ${tokens.toLocaleString('en-US')} tokens${shown !== null && `, with the columns of ${shown} tables`}.</p>
        ${blocks.head !== '' && markup`<pre class="schema" tabindex="0">${blocks.head}</pre>`}
        ${blocks.tables.slice(0, MOST).map(([title, block]) => tableCard(title, block, known.get(title), name, only !== null))}
        ${blocks.tables.length > MOST && markup`<p class="soft">${counted(blocks.tables.length - MOST, 'more table')}: choose them on the side.</p>`}
      </div>
      <div class="side">
        <section aria-labelledby="kept"><h2 id="kept">Kept from models</h2>${keptFrom(page)}</section>
        ${
          page.docs.length > 0 &&
          markup`<section aria-labelledby="docs"><h2 id="docs">Documentation</h2><ul class="plain">${page.docs.map((doc) => markup`<li><code>${doc}</code></li>`)}</ul></section>`
        }
        <section aria-labelledby="tables"><h2 id="tables">Tables</h2>${tableList(description.tables, name)}</section>
        <section aria-label="Layer"><a href="${path`/layer/${name}`}">Conventions that its rows proved</a></section>
      </div>
    </div>`;
}

function tableList(tables: readonly TableDescription[], database: string): Html {
  const list = markup`<ul class="toc">${tables.map(({ name, rowEstimate }) => markup`<li><a href="${path`/databases/${database}`}?table=${encodeURIComponent(name)}">${name}</a>${rowEstimate !== null && markup` <span class="soft">${Math.round(rowEstimate).toLocaleString('en-US')}</span>`}</li>`)}</ul>`;
  return tables.length > 40 ? details(counted(tables.length, 'table'), list) : list;
}

/** The text of a schema by its tables; `head`: what stands before them. */
function blocksOf(text: string): {
  readonly head: string;
  readonly tables: readonly (readonly [name: string, block: string])[];
} {
  const parts = text.split(/^(?=(?:TABLE|VIEW) )/m);
  const isTable = (part: string): boolean => /^(?:TABLE|VIEW) /.test(part);
  return {
    head: parts
      .filter((part) => !isTable(part))
      .join('\n')
      .trim(),
    tables: parts
      .filter(isTable)
      .map((part) => [/^\w+ (.*?)(?: \(|$)/m.exec(part)?.[1]?.replace(/^"(.*)"$/, '$1') ?? '', part.trim()]),
  };
}

function tableCard(
  name: string,
  block: string,
  about: TableDescription | undefined,
  database: string,
  isOnly: boolean,
): Html {
  const to = (table: string): string => `${path`/databases/${database}`}?table=${encodeURIComponent(table)}`;
  const links = about?.foreignKeys ?? [];
  return markup`<article class="card entry" id="${anchor('table', name)}">
    <h2>${isOnly ? name : markup`<a href="${to(name)}">${name}</a>`} ${about?.kind === 'view' && badge('view', 'calm')}</h2>
    ${about?.comment && markup`<p class="soft">${about.comment}</p>`}
    ${links.length > 0 && markup`<p class="soft">${links.map(({ columns, table, references }, at) => markup`${at > 0 && ', '}<code>${columns.join(', ')}</code> is <a href="${to(table)}">${table}</a>.<code>${references.join(', ')}</code>`)}</p>`}
    <pre class="schema" tabindex="0">${block}</pre>
  </article>`;
}

function keptFrom({ access: { allow, deny }, showsValues }: DatabasePage): Html {
  const list = (names: readonly string[]): Html =>
    markup`<ul class="plain">${names.map((name) => markup`<li><code>${name}</code></li>`)}</ul>`;
  return markup`${allow.length > 0 && markup`<p>Everything but:</p>${list(allow)}`}
    ${deny.length > 0 && markup`<p>These tables and columns, which no search reads:</p>${list(deny)}`}
    ${allow.length + deny.length === 0 && markup`<p class="soft">Nothing: all that its login may read. <code>gate db add --deny</code> keeps tables or columns back.</p>`}
    ${!showsValues && markup`<p>Values of rows, until a search asks for them.</p>`}`;
}
