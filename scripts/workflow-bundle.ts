/** Bundles the workflows into one file: `npm run build` the compiled ones, the tests the sources. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

/** Returns its bytes. */
export async function writeWorkflowBundle(file: string): Promise<number> {
  const code = withoutSourceMap(await bundleWorkflows(), basename(file));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, code);
  return Buffer.byteLength(code);
}

export async function bundleWorkflows(): Promise<string> {
  const workflowsPath = require.resolve('../src/workflows/index');
  const failureConverterPath = require.resolve('../src/workflows/failure-converter');
  const interceptors = ['tracing', 'clock'].map((name) => require.resolve(`../src/workflows/${name}`));
  const logging = require.resolve('@temporalio/worker/lib/workflow-log-interceptor');
  const { code } = await bundleWorkflowCode({
    ...{ workflowsPath, failureConverterPath, workflowInterceptorModules: interceptors },
    // Frozen and shared by all workflows of a worker: no module has state. Evaluated anew they are 70 KB of each workflow.
    preloadModules: [workflowsPath, failureConverterPath, ...interceptors, logging],
    logger: new DefaultLogger('WARN'),
  });
  return code;
}

const MAP_COMMENT = '//# sourceMappingURL=data:application/json;charset=utf-8;base64,';

/**
 * Temporal's worker wants an inline source map, and every worker parses it: an empty one. A stack trace then
 * shows lines of the bundle, whose code keeps the names of its functions.
 */
function withoutSourceMap(code: string, file: string): string {
  const at = code.lastIndexOf(MAP_COMMENT);
  if (at < 0) throw new TypeError('the bundler left no source map where it is expected');
  const empty = JSON.stringify({ version: 3, file, sources: [], names: [], mappings: '' });
  return `${code.slice(0, at)}${MAP_COMMENT}${Buffer.from(empty).toString('base64')}`;
}
