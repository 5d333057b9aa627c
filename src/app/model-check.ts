/** What can be checked of the models before a call is paid: there is one, the endpoint answers and takes the key. */
import { DEFAULT_PRICES, OPENAI_BASE_URL, priceOf } from '../adapters/openai';
import type { Config, ModelsConfig } from '../config';
import type { Composition } from '../workers/composition';
import { GateError, UsageError } from './errors';

export async function checkModel(config: Config, composition: Composition, models: readonly string[]): Promise<void> {
  const { endpoint } = composition.model;
  if (endpoint === 'none') {
    throw new UsageError(`no model to ask: set ${config.models.apiKeySource}, or OPENAI_BASE_URL, or start an Ollama`);
  }
  if (composition.ollamaModels !== null) {
    const missing = models.find(
      (model) => !composition.ollamaModels?.some((name) => name === model || name === `${model}:latest`),
    );
    if (missing === undefined) return;
    const has = composition.ollamaModels.join(', ') || 'none';
    throw new GateError(`the local Ollama has no model ${missing} (it has: ${has}); run: ollama pull ${missing}`);
  }
  const check = await checkEndpoint(config.models, OPENAI_BASE_URL);
  if (check.kind !== 'ok') throw new GateError(check.fix);
  const unknown = models.find((model) => !isOffered(model, check.models));
  if (unknown === undefined) return;
  const has = `${check.models.slice(0, LISTED).join(', ')}${check.models.length > LISTED ? ', …' : ''}`;
  throw new GateError(
    `model endpoint ${check.url} has no model ${unknown} (it lists: ${has}); correct GATE_MODEL or --model`,
  );
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

type EndpointCheck =
  | {
      readonly kind: 'ok';
      readonly url: string;
      /** Empty when the endpoint does not list them. */ readonly models: readonly string[];
    }
  | { readonly kind: 'unreachable' | 'refused'; readonly url: string; readonly fix: string };

const WAIT_MS = 10_000;

/** Looks at a model endpoint without paying for anything: is it there, does it take the key, does it know the model. */
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
