/**
 * Which build a worker says it is (docs/deploying.md). A search stays on the build that it began on and moves to the
 * current one when it continues as new; so a build is named by its package version and its workflow code.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkerDeploymentOptions } from '@temporalio/worker';
import type { VersioningConfig } from '../config/limits';
import { packageFolder } from './package-folder';
import { workflowCodeHash } from './workflow-bundle';

export interface WorkerVersion {
  readonly deploymentName: string;
  readonly buildId: string;
}

export function workerVersion({ deployment, buildId }: VersioningConfig): WorkerVersion {
  return { deploymentName: deployment, buildId: buildId ?? `${packageVersion()}-${workflowCodeHash().slice(0, 12)}` };
}

export function deploymentOptions(version: WorkerVersion): WorkerDeploymentOptions {
  return { version, useWorkerVersioning: true, defaultVersioningBehavior: 'PINNED' };
}

function packageVersion(): string {
  const folder = packageFolder();
  return folder === null
    ? '0'
    : (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version;
}
