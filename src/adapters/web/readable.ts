/**
 * The part of a page that a model reads: title, main text and a few links of HTML; XML, plain text, JSON and CSV unchanged.
 * Other types are refused, with the type in the message. Pure.
 */
import { clip } from '../../text/clip';
import { WebError } from '../../ports';
import { htmlText, htmlTitle, HTML_CHARS } from './html';

export interface Readable {
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
export function decoded(body: Buffer, header: string | null, isMarkup: boolean): string {
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

export function cleaned(text: string): string {
  // A terminal would execute some control characters.
  const shown = text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');
  return shown.replace(/\p{Surrogate}/gu, '\ufffd');
}

export function oneLine(text: string, maxChars: number): string {
  return clip(cleaned(text.replace(/\s+/g, ' ')).trim(), maxChars);
}
