/**
 * Posts JSON to a webhook. Its address passes the checks of pages (`connection.ts`) unless the configuration names its host. No
 * redirect is followed, the answer is not read, and no message quotes the URL, which may hold a token.
 */
import { WebError } from '../../ports';
import { OutletError } from '../../ports/drift';
import { checkedUrl, ownNetworks, exchange, systemResolve, type Resolve } from './connection';
import { afterOf } from './pages';

const TIMEOUT_MS = 10_000;

export interface WebhookOptions {
  /** `host` or `host:port`. */
  readonly privateHosts: readonly string[];
  /** For tests. */
  readonly resolve?: Resolve;
}

/** Throws `OutletError` with one line that says what to change. `name`: what the URL is called. */
export async function postJson(
  { name, url: text }: { readonly name: string; readonly url: string },
  json: string,
  caller: AbortSignal,
  options: WebhookOptions,
): Promise<void> {
  const { url, isTrusted } = webhookUrl(name, text, options.privateHosts);
  const signal = AbortSignal.any([caller, AbortSignal.timeout(TIMEOUT_MS)]);
  const { resolve = systemResolve } = options;
  const shared = { signal, maxBytes: 0, accept: '*/*', resolve, loopback: null, networks: ownNetworks };
  const { status, header } = await exchange(url, { ...shared, post: json, isTrusted }).catch((error: unknown) => {
    if (!(error instanceof WebError)) throw error;
    if (error.code === 'refused') throw refusal(name, url.hostname, error);
    throw new OutletError('unavailable', `${name}: ${url.hostname} cannot be reached (${error.code})`, {
      cause: error,
    });
  });
  if (status >= 200 && status < 300) return;
  const message = `${name}: ${url.hostname} answered ${status}`;
  if (status === 429 || status === 408 || status >= 500)
    throw new OutletError('unavailable', message, afterOf(header('retry-after')));
  throw new OutletError('refused', `${message}: check the URL in ${name}`);
}

/** Whether it may be posted to, as far as its URL tells. */
export function webhookUrl(
  name: string,
  text: string,
  privateHosts: readonly string[],
): { readonly url: URL; readonly isTrusted: boolean } {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new OutletError('refused', `${name} holds no URL that can be posted to; write https://host/path`);
  if (privateHosts.includes(url.host) || privateHosts.includes(url.hostname)) return { url, isTrusted: true };
  try {
    return { url: checkedUrl(text), isTrusted: false };
  } catch (error) {
    if (error instanceof WebError) throw refusal(name, url.hostname, error);
    throw error;
  }
}

function refusal(name: string, host: string, cause: WebError): OutletError {
  const fix = `if it is yours, add "${host}" to watch.privateHosts in the configuration of the worker`;
  return new OutletError('refused', `${name}: ${cause.message}; ${fix}`, { cause });
}
