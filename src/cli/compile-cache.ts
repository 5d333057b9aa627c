/**
 * Keeps compiled code between runs, in the user's cache folder: Temporal's worker and its protocol buffers are large, and
 * compiling them anew is a third of the time to the first SQL. Node has this built in from 22.1 on; before, a library does
 * it. Imported first, for its effect.
 */
import module from 'node:module';
import { join } from 'node:path';
import { userFolders } from '../config/folders';

const folder = join(userFolders(process.env).cache, 'compiled');
const builtIn = (module as { enableCompileCache?: (folder: string) => unknown }).enableCompileCache;
if (builtIn === undefined) {
  process.env['V8_COMPILE_CACHE_CACHE_DIR'] ??= folder;
  const prototype = module.prototype as unknown as { _compile: Compile };
  const plain = prototype._compile;
  module.createRequire(__filename)('v8-compile-cache');
  const cached = prototype._compile;
  prototype._compile = function (content, filename, format, ...rest) {
    // The library takes everything for CommonJS; from 20.19 on, Node lets that require ECMAScript modules too. And what it
    // compiles cannot import(), which OpenTelemetry's exporters do.
    const isPlain = format === 'module' || filename.endsWith('.mjs') || filename.includes('@opentelemetry');
    const compile = isPlain ? plain : cached;
    return compile.call(this, content, filename, format, ...rest);
  };
} else builtIn(folder);

type Compile = (this: unknown, content: string, filename: string, format?: string, ...rest: unknown[]) => unknown;
