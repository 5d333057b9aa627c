/** `--serve` of `gate worker`: which task queues a process serves, as `workflow` and `model:NAME`. */
import { InvalidArgumentError } from 'commander';

export interface ServedParts {
  /** The databases' queues: workflows, SQL, store writes, and calls of models without limits. */
  readonly workflow: boolean;
  /** Models with limits whose queue is served. */
  readonly models: readonly string[];
}

export function collectParts(text: string, before?: ServedParts): ServedParts {
  let parts = before ?? { workflow: false, models: [] };
  for (const part of text.split(',').map((each) => each.trim())) {
    const [, model] = /^model:(.+)$/.exec(part) ?? [];
    if (part === 'workflow') parts = { ...parts, workflow: true };
    else if (model !== undefined) parts = { ...parts, models: [...parts.models, model] };
    else throw new InvalidArgumentError(`'${part}' cannot be served; give workflow or model:NAME`);
  }
  return parts;
}
