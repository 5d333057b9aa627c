/**
 * `search` through a provider: SearXNG (one's own), Tavily or Brave. The provider is the user's choice and may be on a
 * private network; what it finds is only text until `fetch` checks it. It is not followed elsewhere, and never gets a
 * second request: retries are Temporal's.
 */
import { Agent, request } from 'undici';
import { z } from 'zod';
import { WebError, type SearchResult, type WebOptions } from '../../ports';
import { connectionError, USER_AGENT } from './connection';
import { afterOf } from './pages';

export type ProviderName = 'searxng' | 'tavily' | 'brave';

export interface ProviderOptions {
  readonly provider: ProviderName;
  /** Required by SearXNG; else the provider's own. */
  readonly baseUrl: string | null;
  readonly apiKey: string | null;
  readonly timeoutMs?: number;
}

export type SearchWeb = (query: string, options: WebOptions) => Promise<SearchResult[]>;

const RESULTS = 8;
const MAX_BYTES = 2_000_000;
const TIMEOUT_MS = 20_000;
const QUERY_CHARS = 400;

const found = z.object({ url: z.string(), title: z.string().nullish() });
const withContent = z.object({ results: z.array(found.extend({ content: z.string().nullish() })) });
const brave = z.object({
  web: z.object({ results: z.array(found.extend({ description: z.string().nullish() })) }).nullish(),
});

interface Call {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Of a POST. */
  readonly body?: string;
}

interface Provider {
  readonly call: (query: string, base: string | null, key: string) => Call;
  readonly read: (json: unknown) => readonly { url: string; title?: string | null; snippet?: string | null }[];
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
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query, max_results: RESULTS }),
    }),
    read: (json) => withContent.parse(json).results.map(({ content, ...rest }) => ({ ...rest, snippet: content })),
  },
  brave: {
    call: (query, base, key) => {
      const url = under(base ?? 'https://api.search.brave.com/res/v1', 'web/search');
      url.searchParams.set('q', query);
      url.searchParams.set('count', String(RESULTS));
      return { url, headers: { 'x-subscription-token': key } };
    },
    read: (json) =>
      (brave.parse(json).web?.results ?? []).map(({ description, ...rest }) => ({ ...rest, snippet: description })),
  },
};

export function createSearch(options: ProviderOptions): SearchWeb {
  const provider = PROVIDERS[options.provider];
  return async (query, { signal: caller }) => {
    caller.throwIfAborted();
    if (options.apiKey === null && options.provider !== 'searxng')
      throw new WebError('not-configured', `no key for the web search of ${options.provider}`);
    const call = provider.call(query.slice(0, QUERY_CHARS), options.baseUrl, options.apiKey ?? '');
    const signal = AbortSignal.any([caller, AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS)]);
    const json = await ask(call, options.provider, signal);
    return resultsOf(provider, json, options.provider);
  };
}

/** Anything that answers at the provider's address, without a search: which costs nothing, and says nothing of the key. */
export async function reachProvider(options: ProviderOptions, { signal: caller }: WebOptions): Promise<string> {
  const { url } = PROVIDERS[options.provider].call('', options.baseUrl, '');
  const signal = AbortSignal.any([caller, AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS)]);
  const agent = new Agent({ connections: 1, pipelining: 0 });
  try {
    const headers = { 'user-agent': USER_AGENT };
    const response = await request(url.origin, { dispatcher: agent, maxRedirections: 0, signal, headers });
    await response.body.dump();
    return url.origin;
  } catch (error) {
    throw connectionError(error, url.host, signal);
  } finally {
    await agent.destroy();
  }
}

async function ask(call: Call, name: ProviderName, signal: AbortSignal): Promise<unknown> {
  const agent = new Agent({ connections: 1, pipelining: 0 });
  try {
    const response = await request(call.url, {
      dispatcher: agent,
      method: call.body === undefined ? 'GET' : 'POST',
      maxRedirections: 0,
      signal,
      headers: { 'user-agent': USER_AGENT, accept: 'application/json', ...call.headers },
      ...(call.body === undefined ? {} : { body: call.body }),
    });
    const after = response.headers['retry-after'];
    checkStatus(response.statusCode, name, typeof after === 'string' ? after : null);
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of response.body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_BYTES) throw new WebError('bad-answer', `${name} sent more than ${MAX_BYTES} bytes`);
    }
    return parsed(Buffer.concat(chunks).toString('utf8'), name);
  } catch (error) {
    throw connectionError(error, name, signal);
  } finally {
    await agent.destroy();
  }
}

function checkStatus(status: number, name: ProviderName, retryAfter: string | null): void {
  if (status === 200) return;
  const message = `the web search of ${name} answered ${status}`;
  if (status === 429) throw new WebError('rate-limited', message, afterOf(retryAfter));
  if (status >= 500) throw new WebError('server-error', message);
  if (name === 'searxng' && status === 403)
    throw new WebError('bad-answer', `${message}: add json to search.formats in its settings.yml`);
  // Brave says 422 to a token that it does not know.
  if (status === 401 || status === 403 || (name === 'brave' && status === 422))
    throw new WebError('authentication', message);
  throw new WebError('bad-answer', `${message}: check web.baseUrl`);
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
      .filter(({ url }) => url.length <= 2_000 && /^https?:\/\//i.test(url) && URL.canParse(url))
      .slice(0, RESULTS)
      .map(({ url, title, snippet }) => ({ url, title: plain(title, 200), snippet: plain(snippet, 600) }));
  } catch (error) {
    if (error instanceof z.ZodError)
      throw new WebError('bad-answer', `${name} answered in a form that is not its own`, { cause: error });
    throw error;
  }
}

/** Providers mark the words of the query in HTML. */
function plain(text: string | null | undefined, maxChars: number): string {
  return (text ?? '')
    .replace(/<\/?(strong|b|em|mark)>/gi, '')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, maxChars);
}

function under(base: string, path: string): URL {
  return new URL(`${base.replace(/\/+$/, '')}/${path}`);
}
