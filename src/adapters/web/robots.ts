/**
 * robots.txt of each site, read once in a while: what it disallows for us is not fetched (RFC 9309).
 *
 * 1. The file is fetched under the same checks as any page, redirects included.
 * 2. A site without one (4xx) allows everything; one that cannot say (5xx) allows nothing for now.
 */
import robotsParser from 'robots-parser';
import { WebError } from '../../ports';
import { USER_AGENT, type Exchange } from './connection';

const KEPT_MS = 3_600_000;
const KEPT_SITES = 500;
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
    if (status >= 500) throw new WebError('server-error', `${address} answered ${status}`);
    const rules = status >= 200 && status < 300 ? robotsParser(address, body.toString('utf8')) : null;
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
