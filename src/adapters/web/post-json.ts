/**
 * Posts JSON to an address that a person configured: guarded like pages (`connection.ts`) unless the configuration names its
 * host, and signed. No redirect is followed, the answer is not read, and no message quotes the URL, which may hold a token.
 */
import { createHmac } from 'node:crypto';
import { WebError } from '../../domain/ports';
import { afterOf, checkedUrl, exchange, isSuccess, type Reach } from './connection';

const TIMEOUT_MS = 10_000;

export interface PostTarget {
  /** What messages call the URL. */
  readonly name: string;
  readonly url: string;
  /** Signs the body: `X-Gate-Signature: sha256=<HMAC-SHA256 in hexadecimal>`; null: unsigned. */
  readonly secret: string | null;
  /** Hosts that need not be public: `host` or `host:port`. */
  readonly privateHosts: readonly string[];
  readonly reach?: Reach;
}

/** Throws `WebError` with one line that says what to change. */
export async function postJson(target: PostTarget, json: string, caller: AbortSignal): Promise<void> {
  const { name, secret, reach } = target;
  const { url, isTrusted } = targetUrl(target);
  const signature = secret === null ? null : createHmac('sha256', secret).update(json).digest('hex');
  const { status, header } = await exchange(url, {
    signal: AbortSignal.any([caller, AbortSignal.timeout(TIMEOUT_MS)]),
    maxBytes: 0,
    accept: '*/*',
    post: json,
    headers: signature === null ? {} : { 'x-gate-signature': `sha256=${signature}` },
    isTrusted,
    reach,
  }).catch((error: unknown) => {
    if (!(error instanceof WebError)) throw error;
    if (error.code === 'refused') throw refusal(name, url.hostname, error);
    throw new WebError(error.code, `${name}: ${url.hostname} cannot be reached (${error.code})`, { cause: error });
  });
  if (isSuccess({ status })) return;
  const message = `${name}: ${url.hostname} answered ${status}`;
  if (status === 429) throw new WebError('rate-limited', message, afterOf(header('retry-after')));
  if (status === 408 || status >= 500) throw new WebError('server-error', message, afterOf(header('retry-after')));
  throw new WebError('misconfigured', `${message}: check the URL in ${name}`);
}

function targetUrl({ name, url: text, privateHosts }: PostTarget): { readonly url: URL; readonly isTrusted: boolean } {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new WebError('misconfigured', `${name} holds no URL that can be posted to; write https://host/path`);
  if (privateHosts.includes(url.host) || privateHosts.includes(url.hostname)) return { url, isTrusted: true };
  try {
    return { url: checkedUrl(text), isTrusted: false };
  } catch (error) {
    if (error instanceof WebError) throw refusal(name, url.hostname, error);
    throw error;
  }
}

function refusal(name: string, host: string, cause: WebError): WebError {
  return new WebError('refused', `${name}: ${cause.message}; if ${host} is yours, name it as a private host`, {
    cause,
  });
}
