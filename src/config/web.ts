/**
 * The setting `web`: which provider searches the web. Its key comes from a variable or a file that the configuration
 * names. Without the setting nothing of the web is ever asked; with it, only by questions that allow it (`--web`).
 */
import { z } from 'zod';
import { checkKey, endpointKey, holdsLogin, Secret } from './secrets';
import type { Place } from './folders';

const name = z.string().min(1);

export const WebEntry = z.strictObject({
  provider: z.enum(['searxng', 'tavily', 'brave']),
  /** SearXNG: where it is; else another address of the provider. */
  baseUrl: z.url({ protocol: /^https?$/ }).optional(),
  apiKeyEnv: name.optional(),
  apiKeyFile: name.optional(),
  /** Of one search, by the method `gate`. */
  lookups: z.number().int().min(1).max(50).optional(),
});

export interface WebConfig {
  readonly provider: z.infer<typeof WebEntry>['provider'];
  readonly baseUrl: string | null;
  readonly apiKey: Secret | null;
  /** How many lookups a search may make; null: the default. */
  readonly lookups: number | null;
  /** What to do before the web can be searched; null: nothing. */
  readonly fix: string | null;
}

const KEY_VARIABLES = { searxng: 'SEARXNG_API_KEY', tavily: 'TAVILY_API_KEY', brave: 'BRAVE_API_KEY' } as const;

export function webOf(entry: z.infer<typeof WebEntry> | undefined, at: Place): WebConfig | null {
  if (entry === undefined) return null;
  const { provider, baseUrl } = entry;
  if (provider === 'searxng' && baseUrl === undefined)
    at.problems.push(`${at.where}: web.baseUrl: SearXNG has no address of its own; for example http://127.0.0.1:8080`);
  if (holdsLogin(entry))
    at.problems.push(`${at.where}: web.baseUrl: holds a password; name a key in web.apiKeyEnv or web.apiKeyFile`);
  const variable = entry.apiKeyEnv ?? KEY_VARIABLES[provider];
  const key = at.env[variable]?.trim() || endpointKey(entry, `${at.where}: web`, at);
  if (key) checkKey(key, at.env[variable] ? variable : `${at.where}: web.apiKeyFile`, at.problems);
  const isKeyless = !key && provider !== 'searxng';
  return {
    provider,
    baseUrl: baseUrl ?? null,
    lookups: entry.lookups ?? null,
    apiKey: key ? new Secret(key) : null,
    fix: isKeyless ? `set ${variable}, or web.apiKeyFile in the configuration` : null,
  };
}
