import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Of this package: two folders up from the sources and three from the compiled code. Null where its file is missing. */
export function packageFolder(): string | null {
  const folders = ['../..', '../../..'].map((up) => join(__dirname, up));
  return folders.find((folder) => existsSync(join(folder, 'package.json'))) ?? null;
}
