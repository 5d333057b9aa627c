/** Writes the bundle into the folder; gives its path. */
export function mcpBundle(folder: string): Promise<string>;
