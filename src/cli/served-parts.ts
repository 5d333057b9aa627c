/** `--serve` of `gate worker`: which task queues a process serves, as `workflow`, `sql:DATABASE` and `model:NAME`. */
import { InvalidArgumentError } from 'commander';

export interface ServedParts {
  /** The queue of workflows, and each database's queue of questions asked from the command line. */
  readonly workflow: boolean;
  /** Databases whose SQL queue is served. */
  readonly sql: readonly string[];
  /** Models with limits whose queue is served. */
  readonly models: readonly string[];
}

export function collectParts(text: string, before?: ServedParts): ServedParts {
  let parts = before ?? { workflow: false, sql: [], models: [] };
  for (const part of text.split(',').map((each) => each.trim())) {
    const [, kind, name] = /^(sql|model):(.+)$/.exec(part) ?? [];
    if (part === 'workflow') parts = { ...parts, workflow: true };
    else if (kind === 'sql' && name !== undefined) parts = { ...parts, sql: [...parts.sql, name] };
    else if (kind === 'model' && name !== undefined) parts = { ...parts, models: [...parts.models, name] };
    else throw new InvalidArgumentError(`'${part}' is nothing to serve; give workflow, sql:DATABASE or model:NAME`);
  }
  return parts;
}
