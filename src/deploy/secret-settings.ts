/**
 * Which secrets a configuration names. Whatever deploys it passes them by reference: variables can be filled from a store of
 * secrets, and files would have to be copied, so they are listed apart.
 */
import type { ConfigFile } from '../config';

export interface SecretSettings {
  /** Names of variables, each once. */
  readonly variables: readonly string[];
  /** Settings that name a file with a secret, such as `models.apiKeyFile`. */
  readonly files: readonly string[];
}

export function secretSettings({ databases, models, schema, store, encryption, web }: ConfigFile): SecretSettings {
  const variables = new Set<string>();
  const files: string[] = [];
  const look = (value: unknown, place: string): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      const at = `${place}.${key}`;
      if (typeof inner !== 'string') look(inner, at);
      else if (/^env$|Env$/.test(key)) variables.add(inner);
      else if (/^file$|File$/.test(key)) files.push(at);
    }
  };
  for (const [place, part] of Object.entries({ databases, models, schema, store, encryption, web })) look(part, place);
  return { variables: [...variables], files };
}
