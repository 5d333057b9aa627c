/**
 * What a model can read of a page: title, main text and a few links of HTML; plain text, JSON and CSV as they are.
 * Everything else is refused by its name. Pure.
 */
import { convert, type FormatCallback, type HtmlToTextOptions } from 'html-to-text';
import { WebError } from '../../ports';

export interface Readable {
  readonly title: string | null;
  readonly text: string;
  readonly cut: boolean;
}

const HTML = new Set(['text/html', 'application/xhtml+xml']);
const PLAIN = new Set([
  ...['text/plain', 'text/markdown', 'text/csv', 'text/tab-separated-values', 'application/csv'],
  ...['application/json', 'text/json', 'application/x-ndjson'],
]);
/** Of the markup that is parsed, here and now: hostile markup of this size takes about a second. */
const HTML_CHARS = 1_000_000;
const LINKS = 40;
const MAX_DEPTH = 200;
const MAX_CHILDREN = 5_000;
const TITLE_CHARS = 200;

/** Throws `WebError` for what is no text. Returns the type without its parameters. */
export function readableType(header: string | null): string {
  const type = header?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (type === '') throw new WebError('unsupported', 'the page does not say what type it has');
  if (HTML.has(type) || PLAIN.has(type) || /^application\/[a-z0-9.-]+\+json$/.test(type)) return type;
  throw new WebError('unsupported', `${type.slice(0, 80)} is not read; only HTML, plain text, JSON and CSV are`);
}

export function readable(body: Buffer, header: string | null, url: string, maxChars: number): Readable {
  const type = readableType(header);
  const source = decoded(body, header);
  if (source.includes('\0')) throw new WebError('unsupported', `it says it is ${type}, but it is binary`);
  const isHtml = HTML.has(type);
  const text = (isHtml ? htmlText(source, url) : source).replace(/\r\n?/g, '\n').trim();
  return {
    title: isHtml ? titleOf(source) : null,
    text: cutText(text, maxChars),
    cut: text.length > maxChars || (isHtml && source.length > HTML_CHARS),
  };
}

/** By the header, else by what the page says of itself, else UTF-8. */
function decoded(body: Buffer, header: string | null): string {
  const said = /charset\s*=\s*["']?([\w.:-]+)/i;
  const label = said.exec(header ?? '')?.[1] ?? said.exec(body.subarray(0, 1_024).toString('latin1'))?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(label).decode(body);
  } catch (error) {
    // An encoding that nobody knows: the rest of the page is still mostly ASCII.
    if (error instanceof RangeError) return new TextDecoder('utf-8').decode(body);
    throw error;
  }
}

function htmlText(whole: string, base: string): string {
  const html = whole.slice(0, HTML_CHARS);
  // `main` and `article` first: the rest of a page is menus.
  for (const selector of ['main', 'article', 'body'].filter((name) => new RegExp(`<${name}\\b`, 'i').test(html))) {
    const text = convert(html, htmlOptions(base, [selector])).trim();
    if (text.length > (selector === 'body' ? 0 : 200)) return text;
  }
  return convert(html, htmlOptions(base, [])).trim();
}

function htmlOptions(base: string, bases: string[]): HtmlToTextOptions {
  let links = 0;
  const absolute = (href: string): string => {
    if (!URL.canParse(href, base)) return '';
    const url = new URL(href, base);
    url.hash = '';
    const isOther = /^https?:$/.test(url.protocol) && url.href !== base && url.username === '';
    if (!isOther || url.href.length > 300 || links >= LINKS) return '';
    links += 1;
    return url.href;
  };
  const skipped = ['img', 'script', 'style', 'noscript', 'template', 'svg', 'iframe', 'nav', 'footer', 'aside', 'form'];
  return {
    wordwrap: false,
    baseElements: { selectors: bases.length === 0 ? ['html'] : bases, returnDomByDefault: bases.length === 0 },
    limits: { maxInputLength: HTML_CHARS, maxDepth: MAX_DEPTH, maxChildNodes: MAX_CHILDREN, ellipsis: '…' },
    formatters: { row, cell },
    selectors: [
      ...skipped.map((selector) => ({ selector, format: 'skip' })),
      { selector: 'a', options: { pathRewrite: absolute, noAnchorUrl: true, hideLinkHrefIfSameAsText: true } },
      { selector: 'table', format: 'block' },
      { selector: 'tr', format: 'row' },
      { selector: 'td', format: 'cell' },
      { selector: 'th', format: 'cell' },
      { selector: 'ol', format: 'unorderedList' },
      ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
    ],
  };
}

/** Not drawn with columns: a cell that claims to span a billion of them would be believed. */
const row: FormatCallback = (element, walk, builder) => {
  builder.openBlock({ leadingLineBreaks: 1 });
  walk(element.children, builder);
  builder.closeBlock({ trailingLineBreaks: 1 });
};

const cell: FormatCallback = (element, walk, builder) => {
  walk(element.children, builder);
  builder.addInline(' | ');
};

function titleOf(html: string): string | null {
  const inner = /<title[^>]{0,200}>([^<]{1,2000})/i.exec(html.slice(0, 200_000))?.[1];
  const title = inner === undefined ? '' : convert(inner, { wordwrap: false }).replace(/\s+/g, ' ').trim();
  return title === '' ? null : title.slice(0, TITLE_CHARS);
}

/** Not within a character of two code units. */
function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const kept = text.slice(0, maxChars);
  return /[\ud800-\udbff]$/.test(kept) ? kept.slice(0, -1) : kept;
}
