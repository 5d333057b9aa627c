/**
 * The configuration file as JSON, and its mistakes as lines a person can act on: file, path in it, what is wrong, what is
 * allowed. Duplicate settings are errors: `JSON.parse` would silently keep only the last one, so a
 * second `access` would replace the first.
 */
import { readFileSync } from 'node:fs';
import * as z from 'zod';

/** Throws `ConfigError`. A byte order mark, as some editors write it, is no part of the JSON. */
export function readConfigFile(path: string): { readonly json: unknown; readonly text: string } {
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
function namesGivenTwice(text: string): readonly string[] {
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

/** The message holds one line per mistake and no secret. */
export class ConfigError extends Error {
  constructor(
    readonly problems: readonly string[],
    options: { readonly cause?: unknown } = {},
  ) {
    super(problems.join('\n'), options);
    this.name = 'ConfigError';
  }
}

export function linesOf(schema: z.ZodType, error: z.ZodError, file: string): string[] {
  const whole = z.toJSONSchema(schema, { io: 'input' }) as JsonSchema;
  const schemaAt = (path: readonly PropertyKey[]): JsonSchema =>
    path.reduce<JsonSchema>(
      (inner, key) => inner.properties?.[String(key)] ?? (inner.additionalProperties || {}),
      whole,
    );
  return error.issues.flatMap((issue) => {
    const at = (...more: string[]): string =>
      `${file}: ${[...issue.path, ...more].map(String).join('.') || '(top level)'}`;
    if (issue.code === 'unrecognized_keys') {
      const { propertyNames, properties = {} } = schemaAt(issue.path);
      const allowed = propertyNames?.enum ?? Object.keys(properties).filter((name) => name !== '$schema');
      const rule = allowed.length > 0 ? `; allowed: ${allowed.join(', ')}` : '';
      return issue.keys.map((key) => `${at(key)}: unknown setting${rule}`);
    }
    if (issue.code === 'invalid_value') return [`${at()}: allowed: ${issue.values.map(String).join(', ')}`];
    if (issue.code !== 'invalid_key') return [`${at()}: ${issue.message.replace(/^Invalid input: /, '')}`];
    const names = schemaAt(issue.path.slice(0, -1)).propertyNames?.enum;
    const rule = names ? `allowed: ${names.join(', ')}` : 'use letters, digits, _ and - (at most 60)';
    return [`${at()}: the name is not allowed; ${rule}`];
  });
}

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | false;
  readonly propertyNames?: { readonly enum?: readonly string[] };
}
