/** Texts and names as standard SQL writes them. */
export const literal = (value: string): string => `'${value.replaceAll("'", "''")}'`;
export const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;
