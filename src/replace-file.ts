import { renameSync, rmSync, writeFileSync } from 'node:fs';

/** Replaces a file in one step: whoever reads it meanwhile has the text before or this one. */
export function replaceFile(path: string, text: string, options: { readonly mode?: number } = {}): void {
  const fresh = `${path}.${process.pid}.new`;
  // What a killed process of the same number left, or a link that somebody put there.
  rmSync(fresh, { force: true });
  try {
    writeFileSync(fresh, text, { ...options, flag: 'wx' });
    renameSync(fresh, path);
  } finally {
    rmSync(fresh, { force: true });
  }
}
