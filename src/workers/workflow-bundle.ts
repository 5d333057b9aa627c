/**
 * The workflow code as one file. Built ahead (`npm run build`) it saves a second at each start; it is used only when it
 * was made by the same SDK from the same sources, else the code is bundled on the fly.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { WorkflowBundleWithSourceMap, WorkerDeploymentOptions } from '@temporalio/worker';
import { deploymentOf, type VersioningConfig } from '../config';
import { packageVersion } from './package-folder';

export type WorkflowBundleOptions = { readonly codePath: string } | { readonly code: string };

/** Root of the compiled tree (`dist/src`) or of the sources (`src`). */
const SOURCES = resolve(__dirname, '..');
const PLAIN_FAILURES = 'gate-failures-plain';
const ENCODED_FAILURES = 'gate-failures-encoded';
const PREBUILT = 'workflow-bundle.js';
/** Folders that a workflow may import from. */
const BUNDLED_FOLDERS = ['workflows', 'search', 'methods', 'sql', 'domain'];

export async function workflowBundle(): Promise<WorkflowBundleOptions> {
  const codePath = prebuiltPath();
  if (codePath !== null) return { codePath };
  return { code: (await bundleWorkflows()).code };
}

/** The same bundle with the messages of failures as payloads (`workflows/failure-converter.ts`). */
export async function withEncodedFailures(bundle: WorkflowBundleOptions): Promise<WorkflowBundleOptions> {
  const code = 'code' in bundle ? bundle.code : await readFile(bundle.codePath, 'utf8');
  const encoded = code.replaceAll(PLAIN_FAILURES, ENCODED_FAILURES);
  if (encoded === code) throw new Error('this workflow bundle cannot encode failures: build it again (npm run build)');
  return { code: encoded };
}

/** Writes the bundle and the stamp by which `workflowBundle` recognises it. */
export async function writeWorkflowBundle(file: string): Promise<{ readonly bytes: number }> {
  const code = withoutSourceMap((await bundleWorkflows()).code);
  mkdirSync(dirname(file), { recursive: true });
  const fresh = `${file}.${String(process.pid)}`;
  writeFileSync(fresh, code);
  renameSync(fresh, file);
  writeFileSync(`${file}.stamp`, stamp());
  return { bytes: Buffer.byteLength(code) };
}

export async function bundleWorkflows(): Promise<WorkflowBundleWithSourceMap> {
  // Loaded here: with a prebuilt bundle nobody pays for the bundler.
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  return bundleWorkflowCode({
    workflowsPath: require.resolve('../workflows/index'),
    failureConverterPath: require.resolve('../workflows/failure-converter'),
    workflowInterceptorModules: [require.resolve('../workflows/tracing')],
    logger: new DefaultLogger('WARN'),
  });
}

const MAP_COMMENT = '//# sourceMappingURL=data:application/json;charset=utf-8;base64,';

/**
 * Temporal's worker wants an inline source map, and every worker and its thread parse it: an empty one. A stack trace then
 * shows lines of the bundle, whose code keeps the names of its functions.
 */
function withoutSourceMap(code: string): string {
  const at = code.lastIndexOf(MAP_COMMENT);
  if (at < 0) throw new TypeError('the bundler left no source map where it is expected');
  const empty = JSON.stringify({ version: 3, file: PREBUILT, sources: [], names: [], mappings: '' });
  return `${code.slice(0, at)}${MAP_COMMENT}${Buffer.from(empty).toString('base64')}`;
}

/** Beside the compiled sources, as `dist/workflow-bundle.js`. */
function prebuiltPath(): string | null {
  const file = join(SOURCES, '..', PREBUILT);
  if (!existsSync(file) || !existsSync(`${file}.stamp`)) return null;
  return readFileSync(`${file}.stamp`, 'utf8') === stamp() ? file : null;
}

/** Of the workflow code and the SDK: the same wherever the same build runs. */
function stamp(): string {
  const hash = createHash('sha256');
  const manifest = readFileSync(require.resolve('@temporalio/worker/package.json'), 'utf8');
  const { version } = JSON.parse(manifest) as { version: string };
  hash.update(`worker ${version}`);
  for (const file of BUNDLED_FOLDERS.flatMap(codeFiles)) {
    hash.update(`\n${file}\n`).update(readFileSync(join(SOURCES, file)));
  }
  return hash.digest('hex');
}

function codeFiles(folder: string): string[] {
  const names = readdirSync(join(SOURCES, folder), { recursive: true, encoding: 'utf8' });
  const code = names.filter((name) => /\.[jt]s$/.test(name) && !name.endsWith('.d.ts'));
  return code.map((name) => join(folder, name)).sort();
}

export interface WorkerVersion {
  readonly deploymentName: string;
  readonly buildId: string;
}

/**
 * Which build a worker says it is (docs/deploying.md). A search ends on the build that it began on; one that outgrows a run
 * moves to the current one when it continues as new. So a build is named by its package version and its workflow code.
 */
export function workerVersion(versioning: VersioningConfig | null): WorkerVersion {
  const buildId = versioning?.buildId ?? `${packageVersion() ?? '0'}-${stamp().slice(0, 12)}`;
  return { deploymentName: deploymentOf(versioning), buildId };
}

export function deploymentOptions(version: WorkerVersion): WorkerDeploymentOptions {
  return { version, useWorkerVersioning: true, defaultVersioningBehavior: 'PINNED' };
}
