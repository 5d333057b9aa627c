/**
 * From a model's text to a checked reply, or to the exact error and a hint for the next try (paper, App. B.4).
 *
 * 1. The schema sent to the model is the schema the reply is parsed with; the sketch in the prompt is made from it too.
 * 2. What has one meaning is not worth a paid retry: a left-out nullable field is null, a left-out list, text or flag is
 *    empty or false, a number in quotes is a number, an unlisted member of a list with "other" is other. Nothing is guessed.
 * 3. Every problem says which field, what was found and what is allowed.
 */
import * as z from 'zod';
import type { ChatMessage, ModelRequest } from '../../domain/ports';
import { extractJson } from './json';
import { data } from './prompt-parts';

export type Parsed<T> =
  | { readonly kind: 'ok'; readonly reply: T }
  | { readonly kind: 'invalid'; readonly error: string; readonly hint: string };

/** A role as a model is asked in it: the shape of its reply, what it is told, and how its reply is read. */
export interface Prompt<Input, Reply> {
  readonly schema: (input: Input) => ModelRequest['schema'];
  readonly render: (input: Input) => ChatMessage[];
  readonly parse: (text: string, input: Input) => Parsed<Reply>;
}

export interface Problem {
  readonly where: string;
  readonly found: string;
  readonly allowed: string;
}

/** A problem unless it `holds`. */
export function unless(holds: boolean, where: string, found: string, allowed: string): Problem[] {
  return holds ? [] : [{ where, found, allowed }];
}

/** A problem unless it is one of the `listed`. */
export function oneOf(where: string, name: string, listed: readonly string[]): Problem[] {
  return unless(listed.includes(name), where, `found "${name}"`, `use one of ${listed.join(', ') || '(none)'}`);
}

/** The part of JSON schema that zod makes for our replies: flat objects, lists, enums and nullable fields. */
interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
}

export function replySchema(name: string, schema: z.ZodType): ModelRequest['schema'] {
  return { name, schema: { ...jsonSchema(schema) } };
}

/** The reply's shape in a line or two, for endpoints that take no schema and for readers. */
export function sketch(schema: z.ZodType): string {
  return sketchOf(jsonSchema(schema));
}

export function parseReply<T>(text: string, schema: z.ZodType<T>, check: (reply: T) => readonly Problem[]): Parsed<T> {
  const json = extractJson(text);
  if (json.kind === 'broken') return { kind: 'invalid', error: json.error, hint: json.hint };
  const value = complete(json.value, jsonSchema(schema));
  const parsed = schema.safeParse(value);
  if (!parsed.success) return invalid(parsed.error.issues.map((issue) => problemOf(issue, value)));
  const problems = check(parsed.data);
  return problems.length > 0 ? invalid(problems) : { kind: 'ok', reply: parsed.data };
}

/**
 * Appended to the conversation for a repeated try. `error` and `hint` may quote names and values of the
 * database, so they are delimited like any of them; `details` are sections of their own. `tryNumber` counts retries from 1.
 */
export function retryMessages(
  previousReplyText: string,
  error: string,
  hint: string | null,
  tryNumber: number,
  maxTries: number,
  details: string | null = null,
): ChatMessage[] {
  const lines = [
    `Your last reply could not be used (retry ${tryNumber} of ${maxTries}).`,
    data('error', error),
    ...(hint === null ? [] : [data('hint', hint)]),
    ...(details === null ? [] : [details]),
    'Correct this and keep what was right. Send the whole JSON object again, with nothing after it.',
  ];
  return [
    // Some endpoints refuse an empty assistant message.
    { role: 'assistant', content: previousReplyText.trim() === '' ? '(empty reply)' : previousReplyText },
    { role: 'user', content: lines.join('\n') },
  ];
}

function invalid(problems: readonly Problem[]): { kind: 'invalid'; error: string; hint: string } {
  const shown = problems.slice(0, 4);
  const more = problems.length > shown.length ? ` (and ${problems.length - shown.length} more)` : '';
  return {
    kind: 'invalid',
    error: shown.map(({ where, found }) => `${where}: ${found}`).join('; ') + more,
    hint: shown.map(({ where, allowed }) => `${where}: ${allowed}.`).join(' '),
  };
}

function problemOf(issue: z.core.$ZodIssue, root: unknown): Problem {
  const where = pathText(issue.path);
  const found = foundText(valueAt(root, issue.path));
  switch (issue.code) {
    case 'invalid_value':
      return { where, found, allowed: `use one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}` };
    case 'invalid_type':
      return { where, found, allowed: `use ${EXPECTED[issue.expected] ?? issue.expected}` };
    default:
      return { where, found, allowed: issue.message };
  }
}

const EXPECTED: Partial<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list [...]',
  object: 'an object {...}',
};

function foundText(value: unknown): string {
  if (value === undefined) return 'is missing';
  const text = JSON.stringify(value);
  return `found ${text.length > 80 ? `${text.slice(0, 80)}…` : text}`;
}

function pathText(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'the reply';
  return path
    .map((part, at) => (typeof part === 'number' ? `[${part}]` : `${at > 0 ? '.' : ''}${String(part)}`))
    .join('');
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, part) => (isRecord(value) ? value[String(part)] : undefined), root);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function jsonSchema(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...made } = z.toJSONSchema(schema, {
    override: ({ jsonSchema: node }) => {
      // zod bounds every integer by the safe range; providers need not see that.
      if (node.type === 'integer') {
        delete node.minimum;
        delete node.maximum;
      }
      // How zod writes `catch`.
      delete node.default;
    },
  });
  return made as JsonSchema;
}

function alternatives(schema: JsonSchema): readonly JsonSchema[] {
  if (schema.anyOf !== undefined) return schema.anyOf;
  return typeof schema.type === 'object' ? schema.type.map((type) => ({ ...schema, type })) : [schema];
}

function complete(value: unknown, schema: JsonSchema): unknown {
  const options = alternatives(schema);
  const nullable = options.some((option) => option.type === 'null');
  if (nullable && (value === undefined || (typeof value === 'string' && /^\s*(?:null)?\s*$/i.test(value)))) return null;
  const main = options.find((option) => option.type !== 'null');
  if (main === undefined || (nullable && value === null)) return value;
  if (main.items !== undefined) return completeList(value, main.items);
  if (main.properties !== undefined && isRecord(value) && !Array.isArray(value))
    return Object.fromEntries(
      Object.entries(main.properties).map(([key, inner]) => [key, complete(value[key], inner)]),
    );
  return completeScalar(value, main);
}

function completeList(value: unknown, items: JsonSchema): unknown {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string' && items.type === 'string') return value.trim() === '' ? [] : [value];
  return Array.isArray(value) ? value.map((item) => complete(item, items)) : value;
}

function completeScalar(value: unknown, schema: JsonSchema): unknown {
  if (schema.enum !== undefined) return listedValue(value, schema.enum);
  switch (schema.type) {
    case 'string':
      return value ?? '';
    case 'boolean':
      if (value === undefined || value === null) return false;
      return typeof value === 'string' && /^(?:true|false)$/i.test(value.trim())
        ? value.trim().toLowerCase() === 'true'
        : value;
    case 'number':
    case 'integer':
      return typeof value === 'string' && /^\s*[+-]?\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) : value;
    default:
      return value;
  }
}

/** The listed value whatever its case; a list with "other" has a place for anything else. */
function listedValue(value: unknown, listed: readonly unknown[]): unknown {
  if (typeof value !== 'string' || listed.includes(value)) return value;
  const plain = value.trim().toLowerCase();
  return listed.find((each) => each === plain) ?? (listed.includes('other') ? 'other' : value);
}

function sketchOf(schema: JsonSchema): string {
  return alternatives(schema).map(sketchOne).join('|');
}

function sketchOne(schema: JsonSchema): string {
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join('|');
  if (schema.items !== undefined) return `[${sketchOf(schema.items)}]`;
  if (schema.properties === undefined) return String(schema.type);
  const members = Object.entries(schema.properties).map(([key, inner]) => `${key}: ${sketchOf(inner)}`);
  return `{${members.join(', ')}}`;
}
