/**
 * `fetch`: one page from the public web as readable text. Every request, robots.txt and redirects included, passes the
 * checks of `connection.ts`. Bytes, characters, redirects and time are limited.
 */
import robotsParser from 'robots-parser';
import { WebError, type WebOptions, type WebPage } from '../../domain/ports';
import {
  checkedUrl,
  ownNetworks,
  type Loopback,
  type Networks,
  exchange,
  systemResolve,
  type Exchange,
  type Resolve,
  USER_AGENT,
} from './connection';
import { readable, readableType } from './readable';

interface PageLimits {
  /** Largest body, unpacked. */
  readonly maxBytes: number;
  /** Largest text. */
  readonly maxChars: number;
  /** For everything together: robots.txt, redirects, the body. */
  readonly timeoutMs: number;
}

const PAGE_LIMITS: PageLimits = { maxBytes: 2_000_000, maxChars: 20_000, timeoutMs: 20_000 };
const REDIRECTS = 5;
const ROBOTS_BYTES = 500_000;
const ACCEPT = 'text/html, application/xhtml+xml, text/plain, application/json, text/csv;q=0.9, */*;q=0.1';

export interface PagesOptions {
  readonly limits?: Partial<PageLimits>;
  readonly resolve?: Resolve;
  readonly now?: () => number;
  /** For tests only. */
  readonly loopback?: Loopback;
  /** The networks of this machine. */
  readonly networks?: Networks;
}

type FetchPage = (url: string, options: WebOptions) => Promise<WebPage>;

export function createPages(options: PagesOptions = {}): FetchPage {
  const limits = { ...PAGE_LIMITS, ...options.limits };
  const { resolve = systemResolve, now = Date.now, loopback = null, networks = ownNetworks } = options;
  const get = (url: URL, signal: AbortSignal, maxBytes: number): Promise<Exchange> =>
    exchange(url, { signal, maxBytes, accept: ACCEPT, resolve, loopback, networks });
  const robots = new Robots(async (address, signal) => {
    const nothing = (): Promise<void> => Promise.resolve();
    return (await follow(address, nothing, (url) => get(url, signal, ROBOTS_BYTES))).answer;
  }, now);

  async function follow(
    start: string,
    mayGo: (url: URL) => Promise<void>,
    visit: (url: URL) => Promise<Exchange>,
  ): Promise<{ readonly url: URL; readonly answer: Exchange }> {
    let url = checkedUrl(start, loopback);
    for (let hops = 0; hops <= REDIRECTS; hops += 1) {
      await mayGo(url);
      const answer = await visit(url);
      const target = redirectOf(answer);
      if (target === null) return { url, answer };
      if (!URL.canParse(target, url.href)) throw new WebError('refused', `${url.host} redirects to what is no URL`);
      // An absolute target is passed as written, so that its spelling is checked too.
      url = checkedUrl(URL.canParse(target) ? target : new URL(target, url).href, loopback);
    }
    throw new WebError('refused', `more than ${REDIRECTS} redirects`);
  }

  return async (address, { signal: caller }) => {
    caller.throwIfAborted();
    const signal = AbortSignal.any([caller, AbortSignal.timeout(limits.timeoutMs)]);
    const { url, answer } = await follow(
      address,
      (hop) => robots.check(hop, signal),
      (hop) => get(hop, signal, limits.maxBytes),
    );
    checkStatus(answer, url);
    const type = answer.header('content-type');
    const { title, text, cut } = readable(answer.body, type, url.href, limits.maxChars);
    return { url: url.href, title, text, contentType: readableType(type), truncated: answer.truncated || cut };
  };
}

export function redirectOf({ status, header }: Exchange): string | null {
  return [301, 302, 303, 307, 308].includes(status) ? header('location') : null;
}

function checkStatus({ status, header }: Exchange, url: URL): void {
  if (status >= 200 && status < 300) return;
  const message = `${url.host} answered ${status}`;
  if (status === 429) throw new WebError('rate-limited', message, afterOf(header('retry-after')));
  throw new WebError(status >= 500 ? 'server-error' : 'not-found', message);
}

/** Reads Retry-After in seconds only; a date is ignored. */
export function afterOf(retryAfter: string | null): { readonly retryAfterMs?: number } {
  return retryAfter !== null && /^\d{1,6}$/.test(retryAfter) ? { retryAfterMs: Number(retryAfter) * 1_000 } : {};
}

const KEPT_MS = 3_600_000;
const KEPT_SITES = 100;
const AGENT = USER_AGENT.split('/')[0] ?? '';

type Allows = (url: string) => boolean;

/**
 * Fetches and caches the robots.txt of each site. Pages that it disallows for us are not fetched (RFC 9309).
 *
 * 1. The file is fetched under the same checks as any page, redirects included.
 * 2. A site without one (4xx) allows everything. If the server fails (5xx, 429), nothing is allowed for now.
 * 3. Only the groups that apply to us are parsed: the parser keeps each rule once for every agent of its group, so a file
 *    with many agents before many rules would fill the memory.
 */
class Robots {
  readonly #sites = new Map<string, { readonly allows: Allows; readonly readAtMs: number }>();

  constructor(
    private readonly read: (url: string, signal: AbortSignal) => Promise<Exchange>,
    private readonly now: () => number,
  ) {}

  async check(url: URL, signal: AbortSignal): Promise<void> {
    const allows = await this.rules(url.origin, signal);
    if (!allows(url.href)) throw new WebError('robots', `robots.txt of ${url.host} asks not to fetch this page`);
  }

  private async rules(origin: string, signal: AbortSignal): Promise<Allows> {
    const known = this.#sites.get(origin);
    if (known !== undefined && this.now() - known.readAtMs < KEPT_MS) return known.allows;
    const address = `${origin}/robots.txt`;
    const { status, body } = await this.read(address, signal);
    if (status === 429) throw new WebError('rate-limited', `${address} answered ${status}`);
    if (status >= 500) throw new WebError('server-error', `${address} answered ${status}`);
    const rules = status >= 200 && status < 300 ? robotsParser(address, groupsForUs(body.toString('utf8'))) : null;
    const allows: Allows = (url) => rules?.isAllowed(url, AGENT) !== false;
    this.#sites.delete(origin);
    this.#sites.set(origin, { allows, readAtMs: this.now() });
    for (const oldest of this.#sites.keys()) {
      if (this.#sites.size <= KEPT_SITES) break;
      this.#sites.delete(oldest);
    }
    return allows;
  }
}

/** The groups for us or for everybody, each agent named once. */
function groupsForUs(text: string): string {
  const kept: string[] = [];
  let agents = new Set<string>();
  let isNaming = false;
  for (const line of text.split(/\r\n?|\n/)) {
    const [, field = '', value = ''] = /^\s*([^:#]{1,50}?)\s*:([^#]*)/.exec(line) ?? [];
    if (field === '') continue;
    const isAgent = field.toLowerCase() === 'user-agent';
    if (isAgent && !isNaming) agents = new Set();
    isNaming = isAgent;
    const agent = value.split('/')[0]?.trim().toLowerCase() ?? '';
    const isNew = isAgent && (agent === '*' || agent === AGENT) && !agents.has(agent);
    if (isNew) agents.add(agent);
    if (isNew || (!isAgent && agents.size > 0)) kept.push(line);
  }
  return kept.join('\n');
}
