/**
 * Fetches and caches the robots.txt of each site. Pages that it disallows for us are not fetched (RFC 9309).
 *
 * 1. The file is fetched under the same checks as any page, redirects included.
 * 2. A site without one (4xx) allows everything. If the server fails (5xx, 429), nothing is allowed for now.
 * 3. Only the groups that apply to us are parsed: the parser keeps each rule once for every agent of its group, so a file
 *    with many agents before many rules would fill the memory.
 */
import robotsParser from 'robots-parser';
import { WebError } from '../../ports';
import { USER_AGENT, type Exchange } from './connection';

const KEPT_MS = 3_600_000;
const KEPT_SITES = 100;
const AGENT = USER_AGENT.split('/')[0] ?? '';

type Allows = (url: string) => boolean;

export class Robots {
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
