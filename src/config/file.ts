/**
 * The configuration file as JSON, and its mistakes as lines a person can act on: file, path in it, what is wrong, what is
 * allowed. Duplicate settings are errors: `JSON.parse` would silently keep only the last one, so a
 * second `access` would replace the first.
 */
import { readFileSync } from 'node:fs';
import { z } from 'zod';

interface ConfigText {
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
  const shape = z.toJSONSchema(schema, { io: 'input' }) as JsonSchema;
  return error.issues.flatMap((issue) => {
    const at = (path: readonly PropertyKey[]): string => `${file}: ${path.map(String).join('.') || '(top level)'}`;
    if (issue.code === 'unrecognized_keys') {
      const allowed = allowedAt(shape, issue.path);
      return issue.keys.map(
        (key) => `${at([...issue.path, key])}: unknown setting${allowed ? `; allowed: ${allowed}` : ''}`,
      );
    }
    if (issue.code === 'invalid_value') return [`${at(issue.path)}: allowed: ${issue.values.map(String).join(', ')}`];
    if (issue.code === 'invalid_key')
      return [`${at(issue.path)}: the name is not allowed; ${keyRule(shape, issue.path)}`];
    return [`${at(issue.path)}: ${issue.message.replace(/^Invalid input: /, '')}`];
  });
}

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | false;
  readonly propertyNames?: { readonly enum?: readonly string[]; readonly pattern?: string };
}

function schemaAt(schema: JsonSchema, path: readonly PropertyKey[]): JsonSchema {
  return path.reduce<JsonSchema>((inner, key) => {
    const named = inner.properties?.[String(key)];
    return named ?? (inner.additionalProperties ? inner.additionalProperties : {});
  }, schema);
}

function allowedAt(schema: JsonSchema, path: readonly PropertyKey[]): string {
  const inner = schemaAt(schema, path);
  const names = inner.propertyNames?.enum ?? Object.keys(inner.properties ?? {}).filter((name) => name !== '$schema');
  return names.join(', ');
}

function keyRule(schema: JsonSchema, path: readonly PropertyKey[]): string {
  const names = schemaAt(schema, path.slice(0, -1)).propertyNames;
  return names?.enum ? `allowed: ${names.enum.join(', ')}` : 'use letters, digits, _ and - (at most 60)';
}
