/**
 * How a corpus of hostile statements is written: groups by technique, one statement a line. `@OUT@` stands for a folder
 * in which the database server may write, `@CONN@` for a connection string to the same database, `@PID@` for the process
 * id of another session, `@FILE@` for the database file.
 */
export interface Group {
  readonly technique: string;
  readonly statements: readonly string[];
}

export function group(technique: string, lines: string, ...more: readonly string[]): Group {
  const statements = lines.split('\n').map((line) => line.trim());
  return { technique, statements: [...statements.filter((line) => line !== ''), ...more] };
}

export function fill(sql: string, values: Readonly<Record<string, string>>): string {
  return sql.replace(/@([A-Z]+)@/g, (whole, name: string) => values[name] ?? whole);
}
