/**
 * Keeps compiled code between runs, in the user's cache folder: Temporal's worker and its protocol buffers are large, and
 * compiling them anew is a third of the time to the first SQL. Node has this built in from 22.1 on; before, a library does
 * it. Imported first, for its effect.
 */
import module from 'node:module';
import { join } from 'node:path';
import { userFolders } from '../folders';

const folder = join(userFolders(process.env).cache, 'compiled');
const builtIn = (module as { enableCompileCache?: (folder: string) => unknown }).enableCompileCache;
if (builtIn === undefined) {
  process.env['V8_COMPILE_CACHE_CACHE_DIR'] ??= folder;
  module.createRequire(__filename)('v8-compile-cache');
} else builtIn(folder);
