/** What a use case takes from the process that it runs in. Doors fill it in; tests give their own. */
import type { Environment } from '../config/folders';
import type { WorkflowBundleOptions } from '../workers/workflow-bundle';

export interface Surroundings {
  readonly env: Environment;
  /** Where relative paths begin. */
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  /** In milliseconds since 1970. */
  now(): number;
  /** The workflow code, where it was bundled before; left out: the one of this build. */
  readonly bundle?: WorkflowBundleOptions;
}

/** Of use cases that only tell lines. */
export interface Told extends Surroundings {
  err(text: string): void;
}
