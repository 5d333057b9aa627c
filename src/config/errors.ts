/** Mistakes in the configuration as lines a person can act on: file, path in it, what is wrong, what is allowed. */
import { z } from 'zod';

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
  const shape = z.toJSONSchema(schema) as JsonSchema;
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
