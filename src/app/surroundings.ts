/** What a use case takes from the process that it runs in. Doors fill it in; tests give their own. */
import { userInfo } from 'node:os';
import type { WrittenConfig } from '../config';
import type { Environment } from '../config/folders';
import type { WorkflowBundleOptions } from '../workers/workflow-bundle';
import { UsageError } from './errors';

export interface Surroundings {
  readonly env: Environment;
  /** Where relative paths begin. */
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  /** The configuration as an object; left out: that of a file. */
  readonly configuration?: WrittenConfig;
  /** In milliseconds since 1970. */
  now(): number;
  /** The workflow code, where it was bundled before; left out: the one of this build. */
  readonly bundle?: WorkflowBundleOptions;
}

/** Of use cases that only tell lines. */
export interface Told extends Surroundings {
  err(text: string): void;
}

/** Who says something: `author`, else the user of this process. */
export function authorOf(author: string | undefined, { env }: Pick<Surroundings, 'env'>): string {
  const name = (author ?? env['USER'] ?? env['LOGNAME'] ?? systemUser()).trim();
  if (name === '' || name.length > 100) throw new UsageError('--author: give a name of 1 to 100 characters');
  return name;
}

/** By whom, when and why something is said of a layer. */
export function saidBy(
  at: Pick<Surroundings, 'env' | 'now'>,
  { author, note }: { readonly author?: string; readonly note?: string | null },
): { readonly at: string; readonly author: string; readonly note: string | null } {
  return { at: new Date(at.now()).toISOString(), author: authorOf(author, at), note: note?.trim() || null };
}

function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under a number that no user list knows.
    return 'unknown';
  }
}
