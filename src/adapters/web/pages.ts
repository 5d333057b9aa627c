/**
 * `fetch`: one page from the public web as readable text. Every request, robots.txt and redirects included, passes the
 * checks of `connection.ts`. Bytes, characters, redirects and time are limited.
 */
import robotsParser from 'robots-parser';
import { anySignal } from '../../any-signal';
import { BoundedMap } from '../../bounded-map';
import { WebError, type WebOptions, type WebPage } from '../../domain/ports';
import {
  checkStatus,
  exchange,
  follow,
  INTERNET,
  isSuccess,
  USER_AGENT,
  type Exchange,
  type Reach,
} from './connection';
import { readable, readableType } from './readable';

/** Largest body, unpacked; largest text; the time for everything together: robots.txt, redirects, the body. */
const PAGE_LIMITS = { maxBytes: 2_000_000, maxChars: 20_000, timeoutMs: 20_000 };
const ROBOTS_BYTES = 500_000;
const ACCEPT = 'text/html, application/xhtml+xml, text/plain, application/json, text/csv;q=0.9, */*;q=0.1';

export interface PagesOptions extends Partial<Reach> {
  readonly limits?: Partial<typeof PAGE_LIMITS>;
  readonly now?: () => number;
}

export function createPages(options: PagesOptions): (url: string, options: WebOptions) => Promise<WebPage> {
  const { limits: given, now = Date.now, ...near } = options;
  const limits = { ...PAGE_LIMITS, ...given };
  const reach = { ...INTERNET, ...near };
  const get = (url: URL, signal: AbortSignal, maxBytes: number): Promise<Exchange> =>
    exchange(url, { signal, maxBytes, accept: ACCEPT, reach });
  const checkRobots = createRobots(
    async (address, signal) => (await follow(address, reach, (url) => get(url, signal, ROBOTS_BYTES))).answer,
    now,
  );
  return async (address, { signal: caller }) => {
    caller.throwIfAborted();
    const signal = anySignal([caller, AbortSignal.timeout(limits.timeoutMs)]);
    const { url, answer } = await follow(address, reach, async (hop) => {
      await checkRobots(hop, signal);
      return get(hop, signal, limits.maxBytes);
    });
    checkStatus(answer, url.host);
    const type = answer.header('content-type');
    const { title, text, cut } = readable(answer.body, type, url.href, limits.maxChars);
    return { url: url.href, title, text, contentType: readableType(type), truncated: answer.truncated || cut };
  };
}

const KEPT_MS = 3_600_000;
const KEPT_SITES = 100;
const AGENT = USER_AGENT.split('/')[0] ?? '';

/**
 * Fetches and remembers the robots.txt of each site. Pages that it disallows for us are not fetched (RFC 9309).
 *
 * 1. The file is fetched under the same checks as any page, redirects included.
 * 2. A site without one (4xx) allows everything. If the server fails (5xx, 429), nothing is allowed for now.
 * 3. Only the groups that apply to us are parsed: the parser keeps each rule once for every agent of its group, so a file
 *    with many agents before many rules would fill the memory.
 */
function createRobots(read: (url: string, signal: AbortSignal) => Promise<Exchange>, now: () => number) {
  const sites = new BoundedMap<{ readonly allows: (url: string) => boolean; readonly readAtMs: number }>(KEPT_SITES);
  return async (url: URL, signal: AbortSignal): Promise<void> => {
    let site = sites.get(url.origin);
    if (site === undefined || now() - site.readAtMs >= KEPT_MS) {
      const address = `${url.origin}/robots.txt`;
      const answer = await read(address, signal);
      if (answer.status === 429 || answer.status >= 500) checkStatus(answer, address);
      const rules = isSuccess(answer) ? robotsParser(address, groupsForUs(answer.body.toString('utf8'))) : null;
      site = { allows: (page) => rules?.isAllowed(page, AGENT) !== false, readAtMs: now() };
      sites.set(url.origin, site, 1);
    }
    if (!site.allows(url.href)) throw new WebError('robots', `robots.txt of ${url.host} asks not to fetch this page`);
  };
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
