/** Where a worker tells of drift, by its own configuration. */
import type { WatchConfig } from '../config/watch';
import { OutletError, type Tell } from '../ports/drift';

export function tellerOf({ webhooks, privateHosts }: WatchConfig): Tell {
  return async (to, json, signal) => {
    if (to.kind === 'file') {
      const { appendLine } = await import('../adapters/local/log-file');
      return appendLine(to.path, json);
    }
    const { variable } = to;
    const url = webhooks[variable]?.reveal();
    if (url === undefined)
      throw new OutletError('not-here', `${variable} is not set where this worker runs: set it to the webhook's URL`);
    const { postJson } = await import('../adapters/web/webhook');
    return postJson({ name: variable, url }, json, signal, { privateHosts });
  };
}
