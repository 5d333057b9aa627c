/** Values and numbers as Python writes them: EHRSQL publishes its answers in this form, and scorers in Python compare texts. */
import type { SqlValue } from '../domain';

export type Row = readonly SqlValue[];

/**
 * Rows written as a Python list of lists (`[['iv', 2.5], [None, 'it''s']]`); JSON arrays are read too, with `null`, `true` and
 * `false`. Throws a SyntaxError that says where and what was expected.
 */
export function parseRows(text: string): Row[] {
  const reader = new Reader(text);
  const rows = reader.sequence(() => reader.sequence(() => reader.cell()));
  reader.end();
  return rows;
}

const CLOSING: Readonly<Record<string, string>> = { '[': ']', '(': ')' };
const WORDS: Readonly<Record<string, SqlValue>> = {
  None: null,
  null: null,
  True: true,
  true: true,
  False: false,
  false: false,
};
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', '0': '\0' };
const CODE_LENGTH: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

class Reader {
  private at = 0;

  constructor(private readonly text: string) {}

  sequence<T>(element: () => T): T[] {
    const close = CLOSING[this.peek()] ?? this.fail('a list');
    this.at += 1;
    const elements: T[] = [];
    while (this.peek() !== close) {
      elements.push(element());
      if (this.peek() === ',') this.at += 1;
      else if (this.peek() !== close) this.fail(`"," or "${close}"`);
    }
    this.at += 1;
    return elements;
  }

  cell(): SqlValue {
    const quote = this.peek();
    if (quote === "'" || quote === '"') return this.quoted(quote);
    const word = /[A-Za-z]+|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?/y;
    word.lastIndex = this.at;
    const found = word.exec(this.text)?.[0] ?? this.fail('a value');
    this.at += found.length;
    if (found in WORDS) return WORDS[found] ?? null;
    return /[A-Za-z]{2,}/.test(found) ? this.fail('a value', found.length) : asNumber(found);
  }

  end(): void {
    if (this.peek() !== '') this.fail('the end of the text');
  }

  private quoted(quote: string): string {
    let value = '';
    for (this.at += 1; this.at < this.text.length; this.at += 1) {
      const char = this.text.charAt(this.at);
      if (char === quote) {
        this.at += 1;
        return value;
      }
      value += char === '\\' ? this.escape() : char;
    }
    return this.fail(`a closing ${quote}`);
  }

  /** Leaves the position on the last character of the escape. */
  private escape(): string {
    this.at += 1;
    const char = this.text.charAt(this.at);
    const length = CODE_LENGTH[char];
    if (length === undefined) return ESCAPES[char] ?? char;
    const digits = this.text.slice(this.at + 1, this.at + 1 + length);
    if (!/^[0-9a-f]+$/i.test(digits) || digits.length < length) this.fail('a character code');
    this.at += length;
    return String.fromCodePoint(Math.min(Number.parseInt(digits, 16), 0x10ffff));
  }

  private peek(): string {
    while (/\s/.test(this.text.charAt(this.at))) this.at += 1;
    return this.text.charAt(this.at);
  }

  private fail(expected: string, back = 0): never {
    throw new SyntaxError(`expected ${expected} at character ${this.at - back + 1}`);
  }
}

/** Whole numbers that a double cannot hold stay text, as in all results. */
function asNumber(text: string): SqlValue {
  const number = Number(text);
  return /^[-+]?\d+$/.test(text) && !Number.isSafeInteger(number) ? text : number;
}

/** `round(value, places)`: an exact half goes to the even neighbour, where `toFixed` goes away from zero. */
export function pythonRound(value: number, places: number): number {
  if (!Number.isFinite(value) || Math.abs(value) >= 1e16) return value;
  // Exact halves are odd multiples of a power of two.
  const parts = value * 2 ** (places + 1);
  if (Number.isInteger(parts) && parts % 2 !== 0) {
    const scale = 10 ** places;
    const below = Math.floor(value * scale);
    return (below % 2 === 0 ? below : below + 1) / scale;
  }
  const rounded = Number(value.toFixed(places));
  return rounded === 0 && value < 0 ? -0 : rounded;
}

/** `repr(float)`: a whole number keeps its `.0`; very small and very large ones have an exponent of two digits at least. */
export function pythonFloat(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
  if (Object.is(value, -0)) return '-0.0';
  const [digits = '', exponent = '0'] = value.toExponential().split('e');
  if (value === 0 || (Number(exponent) >= -4 && Number(exponent) < 16))
    return Number.isInteger(value) ? `${String(value)}.0` : String(value);
  return `${digits}e${exponent.charAt(0)}${exponent.slice(1).padStart(2, '0')}`;
}
