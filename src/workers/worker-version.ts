/**
 * Which build a worker says it is (docs/deploying.md). A search stays on the build that it began on and moves to the
 * current one when it continues as new; so a build is named by its package version and its workflow code.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkerDeploymentOptions } from '@temporalio/worker';
import type { VersioningConfig } from '../config/limits';
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

/** The package's file is two folders up from the sources and three from the compiled code. */
function packageVersion(): string {
  const places = ['../..', '../../..'].map((up) => join(__dirname, up, 'package.json'));
  const file = places.find((place) => existsSync(place));
  return file === undefined ? '0' : (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
