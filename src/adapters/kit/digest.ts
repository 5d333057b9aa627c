/**
 * The statement that counts and hashes the rows of another one on the server (rule S5): the text of each row is hashed, and the
 * halves of the hashes are summed, so that their order is of no account. Columns are taken by position, so that two may have the
 * same name. Equal hashes mean equal results: whole numbers enter exactly, others with 7 significant digits, NULL as what no value
 * is, texts with their length.
 */
export interface DigestWords<Column> {
  /** One text of several. */
  readonly join: (texts: readonly string[]) => string;
  readonly length: (text: string) => string;
  /** Null: the column is no number. */
  readonly number: (name: string, column: Column) => NumberWords | null;
  /** What a value that is no number is compared by. */
  readonly text: (name: string, column: Column) => string;
  /** Left out: `name IS NULL`. */
  readonly isNull?: (name: string) => string;
  /** Left out: the columns get their names from a list. */
  readonly named?: (columns: readonly Column[], sql: string) => string;
  /** What of a row's text is summed, as columns of `gate_hashes`, and the sums. */
  readonly hash: (row: string) => string;
  readonly sums: readonly [high: string, low: string];
}

interface NumberWords {
  /** `WHEN … THEN …` for zero and what is no number, where these need one. */
  readonly odd?: string;
  /** Whether it enters by its digits. */
  readonly isWhole: string;
  readonly digits: string;
  /** With 7 significant digits. */
  readonly short: string;
}

/** `sql` without its final semicolon. */
export function digestSql<Column>(sql: string, columns: readonly Column[], words: DigestWords<Column>): string {
  const names = columns.map((_, at) => `c${at}`);
  const parts = columns.map((column, at) => part(`c${at}`, column, words));
  const list = names.length === 0 ? '' : ` (${names.join(', ')})`;
  const rows = words.named?.(columns, sql) ?? `gate_rows${list} AS (\n${sql}\n)`;
  const row = words.join(["''", ...parts.flatMap((text, at) => (at === 0 ? [text] : ["'|'", text]))]);
  return `WITH ${rows}, gate_hashes AS (
    SELECT ${words.hash(row)} FROM gate_rows
  ) SELECT COUNT(*), ${words.sums.join(', ')} FROM gate_hashes`;
}

function part<Column>(name: string, column: Column, words: DigestWords<Column>): string {
  const { join, length } = words;
  const none = `CASE WHEN ${words.isNull?.(name) ?? `${name} IS NULL`} THEN 'n'`;
  const number = words.number(name, column);
  if (number === null) {
    const text = words.text(name, column);
    return `${none} ELSE ${join(["'t'", length(text), "':'", text])} END`;
  }
  const { odd = '', isWhole, digits, short } = number;
  return `${none} ${odd} WHEN ${isWhole} THEN ${join(["'d'", digits])} ELSE ${join(["'d'", short])} END`;
}

/** Where no format prints an exponent of fixed width. `print`: a number as text, with so many digits after the point. */
export function byArithmetic(
  double: string,
  log10: (value: string) => string,
  print: (value: string, decimals: 0 | 6) => string,
  join: (texts: readonly string[]) => string,
): string {
  const exponent = `FLOOR(${log10(`ABS(${double})`)})`;
  const mantissa = `ROUND(${double} / POWER(10, ${exponent}), 6)`;
  const printed = (value: string, power: string): string => join([print(value, 6), "'e'", print(power, 0)]);
  // Rounding gives 10 for what is almost that, and so may the logarithm.
  return `CASE WHEN ABS(${mantissa}) >= 10 THEN ${printed(`${mantissa} / 10`, `${exponent} + 1`)} ELSE ${printed(mantissa, exponent)} END`;
}

export const byBars = (texts: readonly string[]): string => texts.join(' || ');
export const byConcat = (texts: readonly string[]): string => `CONCAT(${texts.join(', ')})`;
