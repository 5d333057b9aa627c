/** The command that runs a statement of a report again, for a POSIX shell: every part is quoted, nothing is expanded. */

/** `database`: what to write after `--db`; null where only its generated name is known. */
export function rerunCommand(sql: string, database: string | null): string {
  const place = database === null ? 'DATABASE' : shellWord(database);
  return `gate sql --db ${place} ${sql.startsWith('-') ? '-- ' : ''}${shellQuoted(sql)}`;
}

export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function shellWord(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) && !text.startsWith('-') ? text : shellQuoted(text);
}
