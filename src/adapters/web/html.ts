/**
 * Converts HTML to text without changing its meaning: powers and indices get a mark, struck-out text is removed, lists keep
 * their numbers, formulas their source, tables their rows. Menus and other things around the text are left out.
 */
import { convert, type DomNode, type FormatCallback, type HtmlToTextOptions } from 'html-to-text';

/** At most this much markup is parsed, because parsing is synchronous: hostile markup of this size takes about a second. */
export const HTML_CHARS = 1_000_000;
/** Title and base are looked for in this many characters. */
const HEAD_CHARS = 100_000;
const LINKS = 40;
const MAX_DEPTH = 200;
const MAX_CHILDREN = 5_000;
/** A main part that is shorter is not used. */
const LEAST_CHARS = 200;

/** `sign`: the page is converted again for these selectors only if its markup matches this. */
const MAIN = { selectors: ['main', '[role="main"]'], sign: /<main\b|role\s*=\s*["']?main/i, share: 0 };
/** An article that is a small part of its page is a teaser, not the main text. */
const ARTICLE = { selectors: ['article'], sign: /<article\b/i, share: 0.3 };
const NO_TEXT = ['img', 'script', 'style', 'template', 'svg', 'iframe', 'nav', 'button', 'select', 'textarea'];
/** Struck out, hidden, or shown a second time. The last one is Wikipedia's. */
const NOT_SAID = ['del', 's', 'strike', '[hidden]', '[aria-hidden="true"]', '.mw-editsection'];
/** Left out around the main part; inside it they hold notes. */
const ORNAMENT = ['footer', 'aside'];
const BLOCKS = ['table', 'caption', 'dl', 'dt', 'dd', 'summary', 'details', 'figcaption', 'legend', 'address', 'tr'];

export function htmlText(whole: string, url: string): string {
  const html = whole.slice(0, HTML_CHARS);
  const base = baseOf(html, url);
  const part = (...selectors: string[]): string => convert(html, options(base, selectors)).trim();
  const all = (/<body\b/i.test(html) && part('body')) || part('html');
  for (const { selectors, sign, share } of [MAIN, ARTICLE]) {
    const text = sign.test(html) ? part(...selectors) : '';
    if (text.length > Math.max(LEAST_CHARS, all.length * share)) return text;
  }
  return all;
}

export function htmlTitle(whole: string): string {
  return convert(whole.slice(0, HEAD_CHARS), {
    baseElements: { selectors: ['head > title', 'title'], orderBy: 'selectors', returnDomByDefault: false },
    limits: { maxBaseElements: 1, maxDepth: MAX_DEPTH },
    wordwrap: false,
  });
}

/** The base address of relative links. */
function baseOf(html: string, url: string): string {
  const said = /<base\b[^>]{0,300}?href\s*=\s*["']?([^"'\s>]{1,300})/i.exec(html.slice(0, HEAD_CHARS))?.[1] ?? '';
  return URL.canParse(said, url) ? new URL(said, url).href : url;
}

function options(base: string, selectors: string[]): HtmlToTextOptions {
  const isPart = !selectors.includes('body') && !selectors.includes('html');
  const skipped = [...NO_TEXT, ...NOT_SAID, ...(isPart ? [] : ORNAMENT)];
  return {
    wordwrap: false,
    baseElements: { selectors, returnDomByDefault: selectors.includes('html') },
    limits: { maxInputLength: HTML_CHARS, maxDepth: MAX_DEPTH, maxChildNodes: MAX_CHILDREN, ellipsis: '…' },
    formatters: { line, cell, numbered, semantics, above: marked('^'), below: marked('_') },
    selectors: [
      ...skipped.map((name) => ({ selector: name, format: 'skip' })),
      ...BLOCKS.map((name) => ({ selector: name, format: 'line' })),
      { selector: 'a', options: { pathRewrite: links(base), noAnchorUrl: true, hideLinkHrefIfSameAsText: true } },
      { selector: 'a[href^="mailto:"]', format: 'inline' },
      { selector: 'td', format: 'cell' },
      { selector: 'th', format: 'cell' },
      { selector: 'ol', format: 'numbered' },
      { selector: 'sup', format: 'above' },
      { selector: 'sub', format: 'below' },
      { selector: 'semantics', format: 'semantics' },
      ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((name) => ({ selector: name, options: { uppercase: false } })),
    ],
  };
}

/** Shows the first `LINKS` links that lead to other web pages. */
function links(base: string): (href: string) => string {
  let shown = 0;
  return (href) => {
    if (!URL.canParse(href, base)) return '';
    const url = new URL(href, base);
    url.hash = '';
    const isOther = /^https?:$/.test(url.protocol) && url.href !== base && url.username === '';
    if (!isOther || url.href.length > 300 || shown >= LINKS) return '';
    shown += 1;
    return url.href;
  };
}

/** Used for tables too: the library's own table layout would honour a cell that claims to span a billion columns. */
const line: FormatCallback = (element, walk, builder) => {
  builder.openBlock({ leadingLineBreaks: 1 });
  walk(element.children, builder);
  builder.closeBlock({ trailingLineBreaks: 1 });
};

/** A cell stays on the line of its row, even if its content is wrapped in a paragraph. */
const cell: FormatCallback = (element, walk, builder) => {
  let inner = element.children;
  for (let only = loneBlock(inner); only !== null; only = loneBlock(inner)) inner = only.children;
  walk(inner, builder);
  builder.addInline(' | ');
};

function loneBlock(nodes: readonly DomNode[]): DomNode | null {
  const [only, ...more] = nodes.filter(({ type, data }) => type !== 'text' || (data ?? '').trim() !== '');
  return more.length === 0 && /^(p|div|center)$/.test(only?.name ?? '') ? (only ?? null) : null;
}

/** Numbers a list from its `start`, in digits or letters. Not in Roman numerals: the author could make them endless. */
const numbered: FormatCallback = (element, walk, builder) => {
  const { start: from = '', type = '' } = (element.attribs ?? {}) as Readonly<Record<string, string | undefined>>;
  const isNested = element.parent?.name === 'li';
  const start = /^\d{1,4}$/.test(from) ? Number(from) : 1;
  const letter = /^a$/i.test(type) ? type.charCodeAt(0) : null;
  const items = element.children.filter(({ name }) => name === 'li');
  const lineBreaks = isNested ? 1 : 2;
  builder.openList({ leadingLineBreaks: lineBreaks, maxPrefixLength: 4 });
  items.forEach((item, at) => {
    const number = start + at;
    const mark =
      letter !== null && number >= 1 && number <= 26 ? String.fromCharCode(letter + number - 1) : String(number);
    builder.openListItem({ prefix: `${mark}. ` });
    walk([item], builder);
    builder.closeListItem();
  });
  builder.closeList({ trailingLineBreaks: lineBreaks });
};

/** Marks a power or an index: without the mark, 10 to the 6th would read 106. */
function marked(mark: string): FormatCallback {
  return (element, walk, builder) => {
    builder.addLiteral(mark);
    walk(element.children, builder);
  };
}

/** Shows the source of a formula, if it comes with one. */
const semantics: FormatCallback = (element, walk, builder) => {
  const source = element.children.filter(({ name }) => name === 'annotation');
  walk(source.length > 0 ? source : element.children, builder);
};
