/**
 * The part of a page that a model reads: title, main text and a few links of HTML; XML, plain text, JSON and CSV unchanged.
 * Other types are refused, with the type in the message. Pure.
 */
import { convert, type DomNode, type FormatCallback, type HtmlToTextOptions } from 'html-to-text';
import { clip } from '../../clip';
import { WebError } from '../../domain/ports';

interface Readable {
  readonly title: string | null;
  readonly text: string;
  readonly cut: boolean;
}

const HTML: ReadonlySet<string> = new Set(['text/html', 'application/xhtml+xml']);
const PLAIN = /^(text\/.+|application\/(json|xml|csv|yaml|x-yaml|x-ndjson|[a-z0-9.-]+\+(json|xml|yaml)))$/;
const CODE = /^text\/(css|javascript|ecmascript|x-javascript)$/;
const TITLE_CHARS = 200;

/** Returns the type without its parameters. Throws `WebError` if it is not text. */
export function readableType(header: string | null): string {
  const type = header?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (type === '') throw new WebError('unsupported', 'the page does not say what type it has');
  if (PLAIN.test(type) && !CODE.test(type)) return type;
  throw new WebError('unsupported', `${type.slice(0, 80)} is not read; only HTML, XML, plain text, JSON and CSV are`);
}

export function readable(body: Buffer, header: string | null, url: string, maxChars: number): Readable {
  const type = readableType(header);
  const isHtml = HTML.has(type);
  const source = decoded(body, header, isHtml || type.endsWith('xml'));
  const whole = cleaned((isHtml ? htmlText(source, url) : source).replace(/\r\n?/g, '\n')).trim();
  const title = isHtml ? oneLine(htmlTitle(source), TITLE_CHARS) : '';
  return {
    title: title === '' ? null : title,
    text: clip(whole, maxChars),
    cut: whole.length > maxChars || (isHtml && source.length > HTML_CHARS),
  };
}

const LABEL = /charset\s*=\s*["']?([\w.:-]+)/i;
/** The encoding that a document declares, in a tag of HTML or in the first line of XML. */
const META = /<meta\b[^>]{0,300}?charset\s*=\s*["']?([\w.:-]+)/i;
const XML = /^\s*<\?xml\b[^>]{0,200}?encoding\s*=\s*["']([\w.:-]+)/i;
const MARKS = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16be', [0xfe, 0xff]],
  ['utf-16le', [0xff, 0xfe]],
] as const;
/** The largest share of control characters in text, tabs and line ends not counted. */
const CONTROLS_OF_TEXT = 0.01;
const LOOKED_AT = 10_000;

/**
 * Decodes the bytes of a page. The encoding is found in the order of the WHATWG: byte order mark, header, declaration in
 * the document; else UTF-8 if the bytes are valid UTF-8, and windows-1252 if not. Throws if the content is binary. Pure.
 */
function decoded(body: Buffer, header: string | null, isMarkup: boolean): string {
  const text = new TextDecoder(labelOf(body, header, isMarkup)).decode(body);
  const sample = text.slice(0, LOOKED_AT);
  const controls = sample.match(/[\u0000-\u0008\u000e-\u001a\u001c-\u001f]/g)?.length ?? 0;
  if (text.includes('\0') || controls > Math.max(3, sample.length * CONTROLS_OF_TEXT))
    throw new WebError('unsupported', `it says it is ${header?.split(';')[0] ?? 'text'}, but it is binary`);
  return text;
}

function labelOf(body: Buffer, header: string | null, isMarkup: boolean): string {
  const marked = MARKS.find(([, mark]) => mark.every((byte, at) => body[at] === byte))?.[0];
  if (marked !== undefined) return marked;
  const told = knownLabel(LABEL.exec(header ?? '')?.[1]);
  if (told !== null) return told;
  const start = isMarkup ? body.subarray(0, 1_024).toString('latin1') : '';
  const own = knownLabel((META.exec(start) ?? XML.exec(start))?.[1]);
  // The declaration was read as ASCII, so the document cannot be UTF-16.
  if (own !== null) return own.startsWith('utf-16') ? 'utf-8' : own;
  return isUtf8(body) ? 'utf-8' : 'windows-1252';
}

function knownLabel(label: string | undefined): string | null {
  if (label === undefined) return null;
  try {
    return new TextDecoder(label).encoding;
  } catch (error) {
    // An unknown encoding is ignored, since most of a page is ASCII. Checked by name: the error may be of another realm.
    if ((error as Error).name === 'RangeError') return null;
    throw error;
  }
}

/** `stream`: the size limit may have cut the last character. */
function isUtf8(body: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(body, { stream: true });
    return true;
  } catch {
    return false;
  }
}

function cleaned(text: string): string {
  // A terminal would execute some control characters.
  const shown = text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');
  return shown.replace(/\p{Surrogate}/gu, '\ufffd');
}

export function oneLine(text: string, maxChars: number): string {
  return clip(cleaned(text.replace(/\s+/g, ' ')).trim(), maxChars);
}

/**
 * Converts HTML to text without changing its meaning: powers and indices get a mark, struck-out text is removed, lists keep
 * their numbers, formulas their source, tables their rows. Menus and other things around the text are left out.
 */

/** At most this much markup is parsed, because parsing is synchronous: hostile markup of this size takes about a second. */
const HTML_CHARS = 1_000_000;
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

function htmlText(whole: string, url: string): string {
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

function htmlTitle(whole: string): string {
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

/** Not in Roman numerals, which the author could make endless, nor from a number beyond four digits. */
const numbered: FormatCallback = (element, walk, builder, options) => {
  const { start = '1', type = '1' } = (element.attribs ?? {}) as Readonly<Record<string, string | undefined>>;
  const attribs = { start: /^\d{1,4}$/.test(start) ? start : '1', type: /^a$/i.test(type) ? type : '1' };
  builder.options.formatters.orderedList?.({ ...element, attribs }, walk, builder, options);
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
