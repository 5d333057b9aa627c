/** An Ollama on its usual local port, for a first run without any configuration. */
import { z } from 'zod';

export interface LocalOllama {
  /** Its OpenAI-compatible address. */
  readonly baseUrl: string;
  readonly models: readonly string[];
}

const Tags = z.object({ models: z.array(z.object({ name: z.string() })).nullish() });

/** null when nothing answers there in time, or something that is not an Ollama; that is no error. */
export async function detectOllama(
  options: { readonly url?: string; readonly timeoutMs?: number } = {},
): Promise<LocalOllama | null> {
  const url = options.url ?? 'http://127.0.0.1:11434';
  const found = await getJson(`${url}/api/tags`, options.timeoutMs ?? 400);
  const tags = Tags.safeParse(found);
  if (!tags.success) return null;
  return { baseUrl: `${url}/v1`, models: (tags.data.models ?? []).map((model) => model.name).sort() };
}

async function getJson(url: string, timeoutMs: number): Promise<unknown> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs), redirect: 'error' });
    if (!response.ok) {
      await response.body?.cancel();
      return null;
    }
    return await response.json();
  } catch {
    return null; // Refused, too slow or not JSON: each of them means that there is no Ollama to use.
  }
}
