/** Looks at a model endpoint without paying for anything: is it there, does it take the key, does it know the model. */
import type { ModelsConfig } from '../config';

export type EndpointCheck =
  | {
      readonly kind: 'ok';
      readonly url: string;
      /** Empty when the endpoint does not list them. */ readonly models: readonly string[];
    }
  | { readonly kind: 'unreachable' | 'refused'; readonly url: string; readonly fix: string };

const WAIT_MS = 4_000;

export async function checkEndpoint(
  { baseUrl, apiKey, apiKeySource }: Pick<ModelsConfig, 'baseUrl' | 'apiKey' | 'apiKeySource'>,
  standardUrl: string,
  get: typeof fetch = fetch,
): Promise<EndpointCheck> {
  const url = (baseUrl ?? standardUrl).replace(/\/+$/, '');
  const setting = baseUrl === null ? 'check the network' : 'start it, or correct OPENAI_BASE_URL';
  let response: Response;
  try {
    response = await get(`${url}/models`, {
      headers: apiKey === null ? {} : { authorization: `Bearer ${apiKey.reveal()}` },
      signal: AbortSignal.timeout(WAIT_MS),
    });
  } catch (error) {
    return { kind: 'unreachable', url, fix: `model endpoint ${url} does not answer (${reason(error)}): ${setting}` };
  }
  if (response.status === 401 || response.status === 403) {
    await response.body?.cancel();
    const what =
      apiKey === null ? `it wants a key: set ${apiKeySource}` : `it refuses the key: correct ${apiKeySource}`;
    return { kind: 'refused', url, fix: `model endpoint ${url}: ${what}` };
  }
  return { kind: 'ok', url, models: response.ok ? await namesIn(response) : [] };
}

async function namesIn(response: Response): Promise<string[]> {
  const body: unknown = await response.json().catch(() => null);
  const data = (body as { data?: unknown } | null)?.data;
  if (!Array.isArray(data)) return [];
  return data.map((item: { id?: unknown }) => item.id).filter((id) => typeof id === 'string');
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return 'failed';
  if (error.name === 'TimeoutError') return 'no reply in time';
  const cause = error.cause as (Error & { code?: string }) | undefined;
  return cause?.code ?? cause?.message ?? error.message;
}
