/** Errors sorted by a table, so that each kind is one line: what the error says of itself, its code, the line for the user. */
export type ErrorTable<Code extends string> = readonly (readonly [says: RegExp, code: Code, line: string])[];

/** By the first row that fits; null: none does. In a line, `{host}` and the like stand for facts. */
export function sorted<Code extends string>(
  table: ErrorTable<Code>,
  says: string,
  facts: Readonly<Record<string, string>>,
): { code: Code; line: string } | null {
  const row = table.find(([pattern]) => pattern.test(says));
  if (row === undefined) return null;
  return { code: row[1], line: row[2].replace(/\{(\w+)\}/g, (_, name: string) => facts[name] ?? '') };
}
