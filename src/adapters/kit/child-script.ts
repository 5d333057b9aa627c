/** How the process that reads a file is started (`child.ts`): compiled beside this file, or from its source. */
import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

export function childScript(): { readonly path: string; readonly execArgv: readonly string[] } {
  const extension = extname(__filename);
  return {
    path: join(__dirname, `child${extension}`),
    execArgv: extension === '.ts' ? ['--import', pathToFileURL(require.resolve('tsx')).href] : [],
  };
}
