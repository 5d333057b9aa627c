/** What can be checked of the models before a call is paid: there is one, and the endpoint takes the key. */
import { DEFAULT_PRICES, OPENAI_BASE_URL, priceOf } from '../adapters/openai';
import type { Config } from '../config';
import type { Composition } from '../workers/composition';
import { checkEndpoint } from './endpoint';
import { CommandFailed, UsageError } from './errors';

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
    throw new CommandFailed(`the local Ollama has no model ${missing} (it has: ${has}); run: ollama pull ${missing}`);
  }
  const check = await checkEndpoint(config.models, OPENAI_BASE_URL);
  if (check.kind !== 'ok') throw new CommandFailed(check.fix);
  const unknown = models.find((model) => !isOffered(model, check.models));
  if (unknown === undefined) return;
  const has = `${check.models.slice(0, LISTED).join(', ')}${check.models.length > LISTED ? ', …' : ''}`;
  throw new CommandFailed(
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
