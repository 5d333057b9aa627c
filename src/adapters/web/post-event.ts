/**
 * Posts an event to a receiver that a person configured, signed after the Standard Webhooks specification. Guarded like pages
 * (`connection.ts`) unless the configuration allows private addresses. No redirect is followed, the answer is not read, and
 * no message quotes the URL, which may hold a token.
 */
import { createHmac } from 'node:crypto';
import { anySignal } from '../../any-signal';
import { WebError } from '../../domain/ports';
import { afterOf, checkedUrl, exchange, isSuccess, type Reach } from './connection';

const TIMEOUT_MS = 10_000;

export interface PostTarget {
  /** What messages call the receiver. */
  readonly name: string;
  readonly url: string;
  /** As the configuration has it: `whsec_` and base64. */
  readonly secret: string;
  /** Addresses of this machine and its networks, and any port. */
  readonly allowPrivate: boolean;
  readonly reach?: Reach;
}

export interface PostedEvent {
  /** The same each time that the event is posted. */
  readonly id: string;
  readonly json: string;
}

/** Throws `WebError` with one line that says what to change. */
export async function postEvent(target: PostTarget, { id, json }: PostedEvent, caller: AbortSignal): Promise<void> {
  const { name, secret, allowPrivate: isTrusted, reach } = target;
  const url = targetUrl(target);
  const timestamp = String(Math.floor(Date.now() / 1000));
  const { status, header } = await exchange(url, {
    signal: anySignal([caller, AbortSignal.timeout(TIMEOUT_MS)]),
    maxBytes: 0,
    accept: '*/*',
    post: json,
    headers: {
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signatureOf(secret, { id, timestamp, json }),
    },
    isTrusted,
    reach,
  }).catch((error: unknown) => {
    if (!(error instanceof WebError)) throw error;
    if (error.code === 'refused') throw refusal(name, error);
    // A name that is not found may be an outage of the resolver.
    const code = error.code === 'not-found' ? 'connection' : error.code;
    throw new WebError(code, `${name}: ${url.hostname} cannot be reached (${error.code})`, { cause: error });
  });
  if (isSuccess({ status })) return;
  const message = `${name}: ${url.hostname} answered ${status}`;
  if (status === 429) throw new WebError('rate-limited', message, afterOf(header('retry-after')));
  if (status === 408 || status >= 500) throw new WebError('server-error', message, afterOf(header('retry-after')));
  throw new WebError('misconfigured', `${message}: check its URL`);
}

const SECRET_PREFIX = /^whsec_/;

/** The header `webhook-signature`. `timestamp`: seconds since 1970. */
export function signatureOf(
  secret: string,
  { id, timestamp, json }: PostedEvent & { readonly timestamp: string },
): string {
  const key = Buffer.from(secret.replace(SECRET_PREFIX, ''), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${json}`).digest('base64')}`;
}

function targetUrl({ name, url: text, allowPrivate }: PostTarget): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new WebError('misconfigured', `${name} holds no URL that can be posted to; write https://host/path`);
  if (allowPrivate) return url;
  try {
    return checkedUrl(text);
  } catch (error) {
    if (error instanceof WebError) throw refusal(name, error);
    throw error;
  }
}

function refusal(name: string, cause: WebError): WebError {
  return new WebError('refused', `${name}: ${cause.message}; if the host is yours, set its allowPrivate`, { cause });
}
