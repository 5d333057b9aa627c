/** How the process that reads a SQLite file is started: compiled beside this file, or from its source. */
import { extname, join } from 'node:path';

export function childScript(): { readonly path: string; readonly execArgv: readonly string[] } {
  const extension = extname(__filename);
  return {
    path: join(__dirname, `child${extension}`),
    execArgv: extension === '.ts' ? ['--require', require.resolve('tsx/cjs')] : [],
  };
}
