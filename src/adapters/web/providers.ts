/**
 * `search` through a provider: SearXNG (self-hosted), Tavily or Brave. The user chooses the provider, and it may be on a
 * private network. The addresses it finds are only text: `fetch` checks them. Its redirects are not followed, and a
 * request is never repeated here: Temporal retries.
 */
import { convert } from 'html-to-text';
import { z } from 'zod';
import { clip } from '../../clip';
import { WebError, type SearchResult, type WebOptions } from '../../domain/ports';
import { exchange, LONGEST_URL, ownNetworks, systemResolve } from './connection';
import { afterOf } from './pages';
import { oneLine } from './readable';

export type ProviderName = 'searxng' | 'tavily' | 'brave';

export interface ProviderOptions {
  readonly provider: ProviderName;
  /** Required for SearXNG; null: the provider's own address. */
  readonly baseUrl: string | null;
  readonly apiKey: string | null;
  readonly timeoutMs?: number;
}

export type SearchWeb = (query: string, options: WebOptions) => Promise<SearchResult[]>;

const RESULTS = 8;
const MAX_BYTES = 2_000_000;
const TIMEOUT_MS = 20_000;
/** Tavily and Brave refuse a longer query. Brave also limits the number of words. */
const QUERY_CHARS = 400;
const BRAVE_WORDS = 50;

/** A field that may be missing. A result without an address (SearXNG has some) is left out, other fields stay empty. */
const optional = z.string().nullish().catch(null);
const found = z.object({ url: optional, title: optional });
const withContent = z.object({ results: z.array(found.extend({ content: optional })) });
const brave = z.object({
  web: z.object({ results: z.array(found.extend({ description: optional })) }).nullish(),
});

interface Call {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** The body of a POST; without it the request is a GET. */
  readonly body?: string;
}

interface Provider {
  readonly call: (query: string, base: string | null, key: string) => Call;
  readonly read: (json: unknown) => readonly Found[];
}

interface Found {
  readonly url?: string | null | undefined;
  readonly title?: string | null | undefined;
  readonly snippet?: string | null | undefined;
}

const PROVIDERS: Readonly<Record<ProviderName, Provider>> = {
  searxng: {
    call: (query, base, key) => {
      if (base === null) throw new WebError('not-configured', 'SearXNG needs its address');
      const url = under(base, 'search');
      url.searchParams.set('q', query);
      url.searchParams.set('format', 'json');
      const headers: Record<string, string> = key === '' ? {} : { authorization: `Bearer ${key}` };
      return { url, headers };
    },
    read: (json) => withContent.parse(json).results.map(({ content, ...rest }) => ({ ...rest, snippet: content })),
  },
  tavily: {
    call: (query, base, key) => ({
      url: under(base ?? 'https://api.tavily.com', 'search'),
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ query, max_results: RESULTS }),
    }),
    read: (json) => withContent.parse(json).results.map(({ content, ...rest }) => ({ ...rest, snippet: content })),
  },
  brave: {
    call: (query, base, key) => {
      const url = under(base ?? 'https://api.search.brave.com/res/v1', 'web/search');
      url.searchParams.set('q', query.split(/\s+/).slice(0, BRAVE_WORDS).join(' '));
      url.searchParams.set('count', String(RESULTS));
      return { url, headers: { 'x-subscription-token': key } };
    },
    read: (json) =>
      (brave.parse(json).web?.results ?? []).map(({ url, title, description }) => ({
        url,
        title: fromHtml(title),
        snippet: fromHtml(description),
      })),
  },
};

export function createSearch(options: ProviderOptions): SearchWeb {
  const provider = PROVIDERS[options.provider];
  return async (query, { signal: caller }) => {
    caller.throwIfAborted();
    if (options.apiKey === null && options.provider !== 'searxng')
      throw new WebError('not-configured', `no key for the web search of ${options.provider}`);
    const call = provider.call(clip(query, QUERY_CHARS), options.baseUrl, options.apiKey ?? '');
    const signal = AbortSignal.any([caller, AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS)]);
    const json = await ask(call, options.provider, signal);
    return resultsOf(provider, json, options.provider);
  };
}

const TRUSTED = { isTrusted: true, resolve: systemResolve, loopback: null, networks: ownNetworks };

async function ask({ url, headers, body: post }: Call, name: ProviderName, signal: AbortSignal): Promise<unknown> {
  const asked = { signal, maxBytes: MAX_BYTES, accept: 'application/json', headers, post, name, readsErrors: true };
  const { status, body, truncated, header } = await exchange(url, { ...TRUSTED, ...asked });
  if (status === 200 && truncated) throw new WebError('bad-answer', `${name} sent more than ${MAX_BYTES} bytes`);
  if (status === 200) return parsed(body.toString('utf8'), name);
  // With Brave, only the body tells a wrong key from a wrong query.
  const isKeyFine = name === 'brave' && status === 422 && isQueryRefused(body.toString('utf8'));
  throw statusError(status, name, header('retry-after'), isKeyFine);
}

/** What to do about a rate limit. SearXNG's limiter allows an address four JSON requests an hour. */
const LIMITS: Readonly<Record<ProviderName, string>> = {
  searxng: ': switch off its limiter, or put this machine into pass_ip of its limiter.toml',
  tavily: '',
  brave: '',
};

/** Whether the query is what Brave refuses: a missing token is reported as an invalid field too. */
function isQueryRefused(body: string): boolean {
  return body.includes('"VALIDATION"') && !body.includes('x-subscription-token');
}

function statusError(status: number, name: ProviderName, retryAfter: string | null, isKeyFine: boolean): WebError {
  const message = `the web search of ${name} answered ${status}`;
  if (status === 429) return new WebError('rate-limited', `${message}${LIMITS[name]}`, afterOf(retryAfter));
  if (status >= 500) return new WebError('server-error', message);
  // 432 and 433 are Tavily's: the limits of the plan and of pay-as-you-go.
  if (status === 402 || status === 432 || status === 433)
    return new WebError('misconfigured', `${message}: the limit of your plan is used up`);
  if (name === 'searxng' && status === 403)
    return new WebError('misconfigured', `${message}: add json to search.formats in its settings.yml`);
  if (status === 400 || (status === 422 && (name !== 'brave' || isKeyFine)))
    return new WebError('bad-answer', `${message}: it does not accept this query`);
  if (status === 401 || status === 403 || status === 422) return new WebError('authentication', message);
  return new WebError('misconfigured', `${message}: check web.baseUrl`);
}

function parsed(text: string, name: ProviderName): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new WebError('bad-answer', `${name} did not answer with JSON: check web.baseUrl`, { cause: error });
  }
}

function resultsOf(provider: Provider, json: unknown, name: ProviderName): SearchResult[] {
  try {
    return provider
      .read(json)
      .flatMap(({ url, title, snippet }) => {
        const address = addressOf(url);
        return address === null ? [] : [{ url: address, title: plain(title, 200), snippet: plain(snippet, 600) }];
      })
      .slice(0, RESULTS);
  } catch (error) {
    if (error instanceof z.ZodError)
      throw new WebError('bad-answer', `${name} answered in an unexpected form`, { cause: error });
    throw error;
  }
}

/** The address as parsed, without characters that the parser ignores, such as line ends. */
function addressOf(url: string | null | undefined): string | null {
  if (typeof url !== 'string' || !/^https?:\/\//i.test(url) || !URL.canParse(url)) return null;
  const { href } = new URL(url);
  return href.length <= LONGEST_URL ? href : null;
}

/** Removes markup: some providers mark the words of the query in plain text. */
function plain(text: string | null | undefined, maxChars: number): string {
  return oneLine((text ?? '').replace(/<\/?(strong|b|em|mark)>/gi, ''), maxChars);
}

/** Brave's titles and excerpts are HTML with tags and entities. */
function fromHtml(text: string | null | undefined): string {
  return convert((text ?? '').slice(0, 5_000), { wordwrap: false });
}

function under(base: string, path: string): URL {
  return new URL(`${base.replace(/\/+$/, '')}/${path}`);
}
