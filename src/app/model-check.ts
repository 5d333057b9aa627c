/** What can be checked of the models before a call is paid: there is one, the endpoint answers and takes the key. */
import { DEFAULT_PRICES, OPENAI_BASE_URL, priceOf } from '../adapters/openai';
import type { Config, ModelsConfig } from '../config';
import type { Composition } from '../workers/composition';
import { GateError, UsageError } from './errors';

export async function checkModel(config: Config, composition: Composition, models: readonly string[]): Promise<void> {
  const { ollamaModels, model } = composition;
  if (model.endpoint === 'none')
    throw new UsageError(`no model to ask: set ${config.models.apiKeySource}, or OPENAI_BASE_URL, or start an Ollama`);
  const url = ollamaModels === null ? (config.models.baseUrl ?? OPENAI_BASE_URL).replace(/\/+$/, '') : 'Ollama';
  const listed = ollamaModels?.flatMap((name) => [name, name.replace(/:latest$/, '')]);
  const offered = listed ?? (await modelsAt(url, config.models));
  const unknown = models.find((each) => !(listed?.includes(each) ?? isOffered(each, offered)));
  if (unknown === undefined) return;
  const has = `${offered.slice(0, LISTED).join(', ')}${offered.length > LISTED ? ', …' : ''}`;
  const fix = ollamaModels === null ? 'correct GATE_MODEL or --model' : `run: ollama pull ${unknown}`;
  throw new GateError(`model endpoint ${url} has no model ${unknown} (it lists: ${has}); ${fix}`);
}

const LISTED = 8;

/** A list with patterns cannot tell what is missing; `name:variant` is the name with options of the endpoint. */
export function isOffered(model: string, listed: readonly string[]): boolean {
  if (listed.length === 0 || listed.some((name) => name.includes('*'))) return true;
  const [name] = model.split(':');
  return listed.some((each) => each === model || each === name || each.replace(/^models\//, '') === model);
}

export function unpricedModels(config: Config, models: readonly string[]): readonly string[] {
  const prices = { ...DEFAULT_PRICES, ...config.prices };
  return models.filter((model) => priceOf(model, prices) === null);
}

const WAIT_MS = 10_000;

/** Looks at an endpoint without paying for anything: is it there, does it take the key. Empty when it does not list its models. */
export async function modelsAt(
  url: string,
  { baseUrl, apiKey, apiKeySource }: Pick<ModelsConfig, 'baseUrl' | 'apiKey' | 'apiKeySource'>,
  get: typeof fetch = fetch,
): Promise<readonly string[]> {
  const headers = apiKey === null ? undefined : { authorization: `Bearer ${apiKey.reveal()}` };
  const response = await get(`${url}/models`, { headers, signal: AbortSignal.timeout(WAIT_MS) }).catch(
    (cause: unknown) => {
      const error = cause as Error;
      const { code, message } = (error.cause ?? error) as Error & { readonly code?: string };
      const reason = error.name === 'TimeoutError' ? 'no reply in time' : (code ?? message);
      const fix = baseUrl === null ? 'check the network' : 'start it, or correct OPENAI_BASE_URL';
      throw new GateError(`model endpoint ${url} does not answer (${reason}): ${fix}`, 'failed', { cause });
    },
  );
  if (response.status === 401 || response.status === 403) {
    await response.body?.cancel();
    const fix = apiKey === null ? `it wants a key: set ${apiKeySource}` : `it refuses the key: correct ${apiKeySource}`;
    throw new GateError(`model endpoint ${url}: ${fix}`);
  }
  const body: unknown = response.ok ? await response.json().catch(() => null) : null;
  const data = (body as { data?: unknown } | null)?.data;
  if (!Array.isArray(data)) return [];
  return data.map((item: { id?: unknown }) => item.id).filter((id) => typeof id === 'string');
}
