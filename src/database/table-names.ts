/** The names of tables in a text: SQL, or words about a database. Pure. */

/** The tables whose names a text has, whole and in any case: `Order Details` and `2023_sales`, too. Schemas do not matter. */
export function tablesNamed<Table extends { readonly name: string }>(text: string, tables: readonly Table[]): Table[] {
  const words = wordsIn(text);
  const known = new Set(words);
  const all = spaced(words);
  return tables.filter(({ name }) => {
    const own = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
    return known.has(own) || (/[^\p{L}\p{N}_$]/u.test(own) && all.includes(spaced(wordsIn(own))));
  });
}

function wordsIn(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}_$]+/gu) ?? [];
}

function spaced(words: readonly string[]): string {
  return ` ${words.join(' ')} `;
}
