import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Of this package: two folders up from the sources and the program, three from the compiled sources. Null where its file is missing. */
export function packageFolder(): string | null {
  const folders = ['../..', '../../..'].map((up) => join(__dirname, up));
  return folders.find((folder) => existsSync(join(folder, 'package.json'))) ?? null;
}

/** What `npm run build` made, by its path in `dist`. */
export function builtFile(path: string): string {
  return join(packageFolder() ?? '.', 'dist', path);
}

/** Of this package; null where its file is missing. */
export function packageVersion(): string | null {
  const folder = packageFolder();
  if (folder === null) return null;
  return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { readonly version: string }).version;
}
