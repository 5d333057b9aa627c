/** The workflow code as one file, built with the program (`npm run build`), and the version that names it. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { WorkerDeploymentOptions } from '@temporalio/worker';
import { deploymentOf, type VersioningConfig } from '../config';
import { builtFile, packageVersion } from './package-folder';

export type WorkflowBundleOptions = { readonly codePath: string } | { readonly code: string };

const PLAIN_FAILURES = 'gate-failures-plain';
const ENCODED_FAILURES = 'gate-failures-encoded';

export function workflowBundle(): { readonly codePath: string } {
  return { codePath: builtFile('workflow-bundle.js') };
}

/** The same bundle with the messages of failures as payloads (`workflows/failure-converter.ts`). */
export async function withEncodedFailures(bundle: WorkflowBundleOptions): Promise<WorkflowBundleOptions> {
  const code = 'code' in bundle ? bundle.code : await readFile(bundle.codePath, 'utf8');
  const encoded = code.replaceAll(PLAIN_FAILURES, ENCODED_FAILURES);
  if (encoded === code) throw new Error('this workflow bundle cannot encode failures: build it again (npm run build)');
  return { code: encoded };
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
  const buildId = versioning?.buildId ?? `${packageVersion() ?? '0'}-${hashOfCode().slice(0, 12)}`;
  return { deploymentName: deploymentOf(versioning), buildId };
}

function hashOfCode(): string {
  return createHash('sha256').update(readFileSync(workflowBundle().codePath)).digest('hex');
}

export function deploymentOptions(version: WorkerVersion): WorkerDeploymentOptions {
  return { version, useWorkerVersioning: true, defaultVersioningBehavior: 'PINNED' };
}
