/**
 * Finds the JSON object of a reply, wherever the model put it: bare, in a fence, or after its reasoning. The last
 * object counts. Line breaks inside strings and commas before a closing bracket, slips with one meaning, are mended. The scanner is ours, and not `JSON.parse`, for two reasons: its errors name the line, what stands
 * there and what to write instead, and they do not change between Node versions (a recorded retry must replay).
 */
export type Extracted =
  | { readonly kind: 'found'; readonly value: unknown }
  | { readonly kind: 'broken'; readonly error: string; readonly hint: string };

interface Fault {
  readonly at: number;
  readonly error: string;
  readonly hint: string;
}
type Scan = { readonly end: number } | Fault;

const MAX_DEPTH = 100;

export function extractJson(reply: string): Extracted {
  // Reasoning models may think aloud first; what they think is not the reply.
  const text = reply.slice(reply.lastIndexOf('</think>') + 1);
  let last: Extracted | null = null;
  for (let at = text.indexOf('{'); at >= 0; at = text.indexOf('{', at)) {
    if (!/^\{\s*["'}]/.test(text.slice(at, at + 200))) {
      at += 1; // a brace in prose
      continue;
    }
    const scan = scanObject(text, at, 1);
    if ('end' in scan) {
      last = { kind: 'found', value: JSON.parse(mended(text.slice(at, scan.end))) };
      at = scan.end;
    } else {
      last = { kind: 'broken', error: `${scan.error} ${place(text, scan.at)}`, hint: scan.hint };
      // What lies inside a broken object is a part of it, never the reply.
      at = closingBrace(text, at) ?? text.length;
    }
  }
  if (last !== null) return last;
  const found = reply.trim() === '' ? 'the reply is empty' : 'the reply holds no JSON object';
  return { kind: 'broken', error: found, hint: 'Reply with one JSON object of the shape given, starting with {.' };
}

function scanObject(text: string, start: number, depth: number): Scan {
  return scanMembers(text, start, '}', (at) => {
    if (text[at] !== '"') return fault(text, at, 'a key in double quotes');
    const key = scanString(text, at);
    if (!('end' in key)) return key;
    const colon = skipSpace(text, key.end);
    if (text[colon] !== ':') return fault(text, colon, 'a colon after the key');
    return scanValue(text, skipSpace(text, colon + 1), depth + 1);
  });
}

function scanMembers(text: string, start: number, close: '}' | ']', member: (at: number) => Scan): Scan {
  let at = skipSpace(text, start + 1);
  if (text[at] === close) return { end: at + 1 };
  for (;;) {
    const scan = member(at);
    if (!('end' in scan)) return scan;
    at = skipSpace(text, scan.end);
    if (text[at] === close) return { end: at + 1 };
    if (text[at] !== ',') return fault(text, at, `a comma or ${close}`);
    at = skipSpace(text, at + 1);
    if (text[at] === close) return { end: at + 1 };
  }
}

function scanValue(text: string, at: number, depth: number): Scan {
  // A model stuck on one bracket must not overflow the stack.
  if (depth > MAX_DEPTH) return { at, error: `nested deeper than ${MAX_DEPTH}`, hint: 'Use the shape given.' };
  if (text[at] === '{') return scanObject(text, at, depth);
  if (text[at] === '[') return scanMembers(text, at, ']', (inner) => scanValue(text, inner, depth + 1));
  if (text[at] === '"') return scanString(text, at);
  const literal = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])/.exec(
    text.slice(at, at + 60),
  );
  return literal === null ? fault(text, at, 'a JSON value') : { end: at + literal[0].length };
}

function scanString(text: string, start: number): Scan {
  for (let at = start + 1; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '"') return { end: at + 1 };
    if (char === '\\') {
      if (!/^\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/.test(text.slice(at, at + 6)) && at + 1 < text.length) {
        const hint = 'In JSON a backslash in SQL (a regular expression, say) is written twice: \\\\d.';
        return { at, error: `invalid escape ${text.slice(at, at + 2)} in a string`, hint };
      }
      at += 1;
    }
  }
  return fault(text, text.length, 'the end of the string');
}

/** Scanned text as JSON takes it: control characters in strings escaped, commas before a closing bracket left out. */
function mended(text: string): string {
  let out = '';
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '"') {
      const scan = scanString(text, at);
      const end = 'end' in scan ? scan.end : text.length;
      out += text.slice(at, end).replace(CONTROL, (found) => JSON.stringify(found).slice(1, -1));
      at = end - 1;
    } else if (char !== ',' || !/[}\]]/.test(text.charAt(skipSpace(text, at + 1)))) out += char;
  }
  return out;
}

const CONTROL = /[\u0000-\u001f]/g;

function fault(text: string, at: number, expected: string): Fault {
  if (at >= text.length) {
    const hint = 'The reply was cut off: send it again, shorter, and close every bracket.';
    return { at: text.length, error: `the JSON object ends before ${expected}`, hint };
  }
  const found = /^(?:[\w.+-]+|.)/s.exec(text.slice(at, at + 40))?.[0] ?? '';
  return { at, error: `found ${found} where ${expected} was expected`, hint: hintFor(found, expected) };
}

function hintFor(found: string, expected: string): string {
  if (/^[+-]?(?:NaN|Infinity)$/.test(found)) return `${found} is not JSON: use a number or null.`;
  if (/^(?:None|True|False|undefined)$/.test(found)) return `${found} is not JSON: use null, true or false.`;
  if (found === "'") return 'JSON strings and keys take double quotes.';
  if (found === '/' || found === '#') return 'JSON has no comments: remove it.';
  return `Write ${expected} there; escape double quotes inside strings as \\".`;
}

function place(text: string, at: number): string {
  const line = text.slice(0, at).split('\n').length;
  return `(line ${line}, after ${JSON.stringify(text.slice(Math.max(0, at - 40), at))})`;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (' \t\n\r'.includes(text[at] ?? 'x')) at += 1;
  return at;
}

function closingBrace(text: string, start: number): number | null {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === '"') {
      const scan = scanString(text, at);
      if ('end' in scan) at = scan.end - 1;
    } else if (text[at] === '{') depth += 1;
    else if (text[at] === '}' && (depth -= 1) === 0) return at + 1;
  }
  return null;
}
