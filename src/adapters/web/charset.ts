/**
 * Bytes of a page as text, in the order of the WHATWG: byte order mark, header, what the document says of itself, else
 * UTF-8 where it is that and windows-1252 where it is not. Throws for what is no text. Pure.
 */
import { WebError } from '../../ports';

const LABEL = /charset\s*=\s*["']?([\w.:-]+)/i;
/** What a document says of itself: in a tag of HTML, in the first line of XML. Nothing else says it. */
const META = /<meta\b[^>]{0,300}?charset\s*=\s*["']?([\w.:-]+)/i;
const XML = /^\s*<\?xml\b[^>]{0,200}?encoding\s*=\s*["']([\w.:-]+)/i;
const MARKS = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16be', [0xfe, 0xff]],
  ['utf-16le', [0xff, 0xfe]],
] as const;
/** Of the characters looked at; text has none but tabs and line ends. */
const CONTROLS_OF_TEXT = 0.01;
const LOOKED_AT = 10_000;

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
  // It could be read as ASCII to get here, so UTF-16 it is not.
  if (own !== null) return own.startsWith('utf-16') ? 'utf-8' : own;
  return isUtf8(body) ? 'utf-8' : 'windows-1252';
}

function knownLabel(label: string | undefined): string | null {
  if (label === undefined) return null;
  try {
    return new TextDecoder(label).encoding;
  } catch (error) {
    // An encoding that nobody knows: most of the page is ASCII all the same.
    // By name: it may be of another realm.
    if ((error as Error).name === 'RangeError') return null;
    throw error;
  }
}

/** The last character may be cut by the limit of the body. */
function isUtf8(body: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(body, { stream: true });
    return true;
  } catch {
    return false;
  }
}
