/**
 * `search` through a provider: SearXNG (self-hosted), Tavily or Brave. The user chooses the provider, and it may be on a
 * private network. The addresses it finds are only text: `fetch` checks them. Its redirects are not followed, and a
 * request is never repeated here: Temporal retries.
 */
import { convert } from 'html-to-text';
import * as z from 'zod';
import { anySignal } from '../../any-signal';
import { clip } from '../../clip';
import { WebError, type SearchResult, type Web, type WebErrorCode } from '../../domain/ports';
import { parsedJson } from '../../json';
import { sorted, type ErrorTable } from '../error-table';
import { afterOf, exchange, LONGEST_URL } from './connection';
import { oneLine } from './readable';

export type ProviderName = 'searxng' | 'tavily' | 'brave';

export interface ProviderOptions {
  readonly provider: ProviderName;
  /** Required for SearXNG; null: the provider's own address. */
  readonly baseUrl: string | null;
  readonly apiKey: string | null;
  readonly timeoutMs?: number;
}

const RESULTS = 8;
const MAX_BYTES = 2_000_000;
const TIMEOUT_MS = 20_000;
/** Tavily and Brave refuse a longer query. Brave also limits the number of words. */
const QUERY_CHARS = 400;
const BRAVE_WORDS = 50;

/** A field that may be missing. A result without an address (SearXNG has some) is left out, other fields stay empty. */
const optional = z.string().nullish().catch(null);
const found = z.object({ url: optional, title: optional });
const withContent = z
  .object({ results: z.array(found.extend({ content: optional })) })
  .transform(({ results }) => results.map(({ content, ...rest }) => ({ ...rest, snippet: content })));
/** Titles and excerpts are HTML with tags and entities. */
const brave = z
  .object({ web: z.object({ results: z.array(found.extend({ description: optional })) }).nullish() })
  .transform(({ web }) =>
    (web?.results ?? []).map(({ url, title, description }) => ({
      url,
      title: fromHtml(title),
      snippet: fromHtml(description),
    })),
  );

interface Provider {
  /** `body`: of a POST; without it the request is a GET. */
  readonly call: (
    query: string,
    base: string | null,
    key: string,
  ) => { readonly url: URL; readonly headers: Readonly<Record<string, string>>; readonly body?: string };
  readonly reply: z.ZodType<readonly Readonly<Partial<Record<keyof SearchResult, string | null>>>[]>;
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
    reply: withContent,
  },
  tavily: {
    call: (query, base, key) => ({
      url: under(base ?? 'https://api.tavily.com', 'search'),
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ query, max_results: RESULTS }),
    }),
    reply: withContent,
  },
  brave: {
    call: (query, base, key) => {
      const url = under(base ?? 'https://api.search.brave.com/res/v1', 'web/search');
      url.searchParams.set('q', query.split(/\s+/).slice(0, BRAVE_WORDS).join(' '));
      url.searchParams.set('count', String(RESULTS));
      return { url, headers: { 'x-subscription-token': key } };
    },
    reply: brave,
  },
};

/** By the provider, the status, and the body of the answer after a bar. */
const ERRORS: ErrorTable<WebErrorCode> = [
  // SearXNG's limiter allows an address four JSON requests an hour.
  [/^searxng 429 /, 'rate-limited', '{said}: switch off its limiter, or put this machine into pass_ip of its limiter.toml'],
  [/^\S+ 429 /, 'rate-limited', '{said}'],
  [/^\S+ 5\d\d /, 'server-error', '{said}'],
  // 432 and 433 are Tavily's: the limits of the plan and of pay-as-you-go.
  [/^\S+ (402|432|433) /, 'misconfigured', '{said}: the limit of your plan is used up'],
  [/^searxng 403 /, 'misconfigured', '{said}: add json to search.formats in its settings.yml'],
  // With Brave, only the body tells a wrong query from a missing key, which it reports as an invalid field too.
  [/^\S+ 400 |^(searxng|tavily) 422 |^brave 422 (?!.*x-subscription-token).*"VALIDATION"/s, 'bad-answer', '{said}: it does not accept this query'],
  [/^\S+ (401|403|422) /, 'authentication', '{said}'],
  [/^/, 'misconfigured', '{said}: check web.baseUrl'],
]; // prettier-ignore

export function createSearch({
  provider: name,
  baseUrl,
  apiKey,
  timeoutMs = TIMEOUT_MS,
}: ProviderOptions): Web['search'] {
  const { call, reply } = PROVIDERS[name];
  return async (query, { signal: caller }) => {
    caller.throwIfAborted();
    if (apiKey === null && name !== 'searxng')
      throw new WebError('not-configured', `no key for the web search of ${name}`);
    const { url, headers, body: post } = call(clip(query, QUERY_CHARS), baseUrl, apiKey ?? '');
    const signal = anySignal([caller, AbortSignal.timeout(timeoutMs)]);
    const asked = { signal, maxBytes: MAX_BYTES, accept: 'application/json', headers, post, name };
    const { status, body, truncated, header } = await exchange(url, { ...asked, isTrusted: true, readsErrors: true });
    const text = body.toString('utf8');
    if (status !== 200) {
      const said = `the web search of ${name} answered ${status}`;
      const { code, line } = sorted(ERRORS, `${name} ${status} | ${text}`, { said }) ?? {
        code: 'bad-answer',
        line: said,
      };
      throw new WebError(code, line, code === 'rate-limited' ? afterOf(header('retry-after')) : {});
    }
    if (truncated) throw new WebError('bad-answer', `${name} sent more than ${MAX_BYTES} bytes`);
    return resultsOf(reply, text, name);
  };
}

function resultsOf(reply: Provider['reply'], text: string, name: ProviderName): SearchResult[] {
  const json = parsedJson(text);
  if (json === null) throw new WebError('bad-answer', `${name} did not answer with JSON: check web.baseUrl`);
  const parsed = reply.safeParse(json);
  if (!parsed.success)
    throw new WebError('bad-answer', `${name} answered in an unexpected form`, { cause: parsed.error });
  return parsed.data
    .flatMap(({ url, title, snippet }) => {
      const address = addressOf(url);
      return address === null ? [] : [{ url: address, title: plain(title, 200), snippet: plain(snippet, 600) }];
    })
    .slice(0, RESULTS);
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

function fromHtml(text: string | null | undefined): string {
  return convert((text ?? '').slice(0, 5_000), { wordwrap: false });
}

function under(base: string, path: string): URL {
  return new URL(`${base.replace(/\/+$/, '')}/${path}`);
}
