/**
 * The configuration file as JSON. Duplicate settings are errors: `JSON.parse` would silently keep only the last one, so a
 * second `access` would replace the first.
 */
import { readFileSync } from 'node:fs';
import { ConfigError } from './errors';

export interface ConfigText {
  readonly json: unknown;
  /** As it stands in the file. */
  readonly text: string;
}

/** Throws `ConfigError`. A byte order mark, as some editors write it, is no part of the JSON. */
export function readConfigFile(path: string): ConfigText {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code = 'error' } = error as NodeJS.ErrnoException;
    const fix = code === 'EISDIR' ? 'it is a folder; a file is expected there' : 'check its permissions';
    throw new ConfigError([`${path}: cannot be read (${code}): ${fix}`], { cause: error });
  }
  let json: unknown;
  try {
    json = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    throw new ConfigError([`${path}: not JSON: ${(error as Error).message}`], { cause: error });
  }
  const twice = namesGivenTwice(text);
  if (twice.length > 0) throw new ConfigError(twice.map((name) => `${path}: ${name}: is given twice; leave one out`));
  return { json, text };
}

/** Paths of duplicate names within one object. The text must be valid JSON. */
export function namesGivenTwice(text: string): readonly string[] {
  const twice: string[] = [];
  /** One for each open brace or bracket; `names` null: an array. */
  const open: { readonly names: Set<string> | null; at: string }[] = [];
  let last = '';
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:]/g)) {
    const inner = open.at(-1);
    if (token === '{') open.push({ names: new Set(), at: '' });
    else if (token === '[') open.push({ names: null, at: '' });
    else if (token === '}' || token === ']') open.pop();
    else if (token !== ':') last = JSON.parse(token) as string;
    else if (inner !== undefined) {
      inner.at = last;
      const path = open.flatMap(({ at }) => (at === '' ? [] : [at])).join('.');
      if (inner.names?.has(last) === true) twice.push(path);
      inner.names?.add(last);
    }
  }
  return twice;
}
