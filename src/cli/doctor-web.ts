/**
 * The part of `gate doctor` about the web: whether the configured provider answers. One's own SearXNG is searched; a search
 * that is billed is made with `--call` only. Nothing where no provider is configured.
 */
import type { Config } from '../config';
import type { WebErrorCode } from '../ports';
import { counted } from '../report/printable';
import { missing, note, ok, type Finding } from './doctor-finding';
import { errorText } from './errors';

const WHAT = 'web search';
const TIMEOUT_MS = 10_000;

const FIXES: Partial<Record<WebErrorCode, string>> = {
  connection: 'start it, or check web.baseUrl and the network',
  timeout: 'start it, or check web.baseUrl and the network',
  'not-found': 'correct the host in web.baseUrl',
  authentication: 'check the key that web.apiKeyEnv or web.apiKeyFile names',
};

export async function checkWebSearch({ web }: Pick<Config, 'web'>, call: boolean): Promise<Finding[]> {
  if (web === null) return [];
  const { provider, baseUrl, apiKey, fix } = web;
  if (fix !== null) return [missing(WHAT, `${provider} has no key`, fix)];
  const { createSearch, reachProvider } = await import('../adapters/web/providers');
  const options = { provider, baseUrl, apiKey: apiKey?.reveal() ?? null, timeoutMs: TIMEOUT_MS };
  const { signal } = new AbortController();
  try {
    if (!call && provider !== 'searxng')
      return [ok(WHAT, `${provider} answers at ${await reachProvider(options, { signal })}; --call tries the key`)];
    const results = await createSearch(options)('test', { signal });
    if (results.length > 0) return [ok(WHAT, `${provider} answers with ${counted(results.length, 'result')}`)];
    const engines = provider === 'searxng' ? 'switch on engines in its settings.yml' : null;
    return [note(WHAT, `${provider} answers, without any result`, engines)];
  } catch (error) {
    const code = (error as { readonly code?: WebErrorCode }).code;
    const detail = errorText(error, false);
    // A provider's own message may say already what to do.
    return [missing(WHAT, detail, (code === undefined ? undefined : FIXES[code]) ?? 'see there')];
  }
}
