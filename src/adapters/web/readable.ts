/**
 * The part of a page that a model reads: title, main text and a few links of HTML; XML, plain text, JSON and CSV unchanged.
 * Other types are refused, with the type in the message. Pure.
 */
import { clip } from '../../text/clip';
import { WebError } from '../../ports';
import { decoded } from './charset';
import { htmlText, htmlTitle, HTML_CHARS } from './html';
import { cleaned, oneLine } from './text';

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
