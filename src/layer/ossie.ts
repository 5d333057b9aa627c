/**
 * A layer as a semantic model of Apache Ossie (the former Open Semantic Interchange), version 0.2.0.dev0, and back. Tables are
 * datasets and columns are fields; `ai_context` says what is kept of them, for tools that read no more. Whole entries and rules are
 * `custom_extensions` of the model, one each, so that a file that is read again has lost nothing.
 */
import { parse } from 'yaml';
import * as z from 'zod';
import { EntryRival, LayerEntry, type Dialect } from '../domain';
import { canonical } from '../domain/canonical';
import { isCounted, type Held } from './state';
import { factText, tablesOfLayer } from './tables';

export const OSSIE_VERSION = '0.2.0.dev0';
export const VENDOR = 'GATE';

/** `facts`: active ones. */
export function ossieModel(database: string, dialect: Dialect, facts: readonly Held[]): object {
  return {
    version: OSSIE_VERSION,
    semantic_model: [
      {
        name: database,
        description: `What the rows of ${database} prove and people say, with the figures in custom_extensions`,
        ...aiContext(facts.filter(({ entry }) => entry.tables.length === 0)),
        datasets: tablesOfLayer(facts).map(({ name, facts: own, columns }) => ({
          ...{ name, source: name, ...aiContext(own) },
          fields: columns.map((column) => ({
            name: column.name,
            expression: { dialects: [{ dialect: DIALECT[dialect], expression: reference(column.name) }] },
            ...aiContext(column.facts),
          })),
        })),
        custom_extensions: facts.map((held) => ({
          vendor_name: VENDOR,
          data: JSON.stringify({
            kind: isCounted(held) ? 'layer-entry' : 'layer-rule',
            schemaVersion: 1,
            dialect,
            ...held,
          }),
        })),
      },
    ],
  };
}

const DIALECT: Readonly<Record<Dialect, string>> = {
  postgresql: 'ANSI_SQL',
  sqlite: 'ANSI_SQL',
  snowflake: 'SNOWFLAKE',
  duckdb: 'ANSI_SQL',
  mysql: 'ANSI_SQL',
  bigquery: 'ANSI_SQL',
};

function aiContext(facts: readonly Held[]): { readonly ai_context?: { readonly instructions: string } } {
  return facts.length === 0 ? {} : { ai_context: { instructions: facts.map(factText).join('\n') } };
}

/** A column as SQL names it: bare where that is safe in every dialect. */
function reference(column: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(column) ? column : `"${column.replaceAll('"', '""')}"`;
}

/** What a file claims; nothing of it is proved, and its figures are not read. */
const Claimed = z.object({
  entryId: z.string(),
  statement: z.string().min(1),
  rows: z.string(),
  scope: z.string().nullable(),
  /** Empty: it has none. */
  check: z
    .string()
    .nullish()
    .transform((check) => check ?? ''),
  rivals: z.array(EntryRival.pick({ reading: true, refuted: true })),
  operator: LayerEntry.shape.operator,
  restsOn: z.array(z.string()),
});
export type ClaimedEntry = z.infer<typeof Claimed>;

/** `statement`: as a person edited it. What a person said has no check, and so is no claim that rows could show here. */
const Extension = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('layer-entry'),
    schemaVersion: z.literal(1),
    statement: z.string().min(1),
    entry: Claimed,
  }),
  z.object({ kind: z.literal('layer-rule'), schemaVersion: z.literal(1) }),
]);

const Extensions = z.array(z.strictObject({ vendor_name: z.string(), data: z.string() })).default([]);
const Part = z.looseObject({ name: z.string(), custom_extensions: Extensions });
const Model = Part.extend({
  datasets: z.array(Part.extend({ source: z.string(), fields: z.array(Part).default([]) })).min(1),
});
const File = z.strictObject({ version: z.string(), semantic_model: z.array(Model) });

/** The file cannot be imported; the message says why in one line. */
export class OssieError extends Error {
  override readonly name = 'OssieError';
}

/** The entries that a file claims, each once, and how many rules it has besides: JSON or YAML. Throws `OssieError`. */
export function claimedEntries(text: string): { readonly claims: readonly ClaimedEntry[]; readonly rules: number } {
  const json = /^\s*[{[]/.test(text) ? parsed(text, 'it is no JSON') : parsedYaml(text);
  const version = typeof json === 'object' && json !== null && 'version' in json ? json.version : undefined;
  if (version !== undefined && version !== OSSIE_VERSION)
    throw new OssieError(`it has version ${JSON.stringify(version)}; only Ossie ${OSSIE_VERSION} is read`);
  const file = fitting(File, json, 'it is no Ossie file');
  const extensions = file.semantic_model.flatMap((model) => [
    ...model.custom_extensions,
    ...model.datasets.flatMap((dataset) => [
      ...dataset.custom_extensions,
      ...dataset.fields.flatMap((field) => field.custom_extensions),
    ]),
  ]);
  const own = extensions.filter(({ vendor_name }) => vendor_name === VENDOR);
  const claimed = own.flatMap(({ data }, at) => {
    const which = `custom extension ${at + 1} of vendor ${VENDOR}`;
    const extension = fitting(Extension, parsed(data, `${which} is no JSON`), `${which} is of another schema`);
    return extension.kind === 'layer-rule' ? [] : [{ ...extension.entry, statement: extension.statement }];
  });
  return { claims: once(claimed), rules: own.length - claimed.length };
}

/** The same entry twice is one; two that differ under one id are a mistake that nobody here can mend. */
function once(claimed: readonly ClaimedEntry[]): readonly ClaimedEntry[] {
  const byId = new Map<string, ClaimedEntry>();
  for (const entry of claimed) {
    const before = byId.get(entry.entryId);
    if (before !== undefined && canonical(before) !== canonical(entry))
      throw new OssieError(`it has two entries with the id ${entry.entryId} that differ`);
    byId.set(entry.entryId, entry);
  }
  return [...byId.values()];
}

function parsed(text: string, problem: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new OssieError(problem, { cause: error });
  }
}

function parsedYaml(text: string): unknown {
  try {
    // The library compares each key with each other one, which takes minutes for a hostile file.
    return parse(text, { maxAliasCount: 100, uniqueKeys: false, logLevel: 'error' }) as unknown;
  } catch (error) {
    const { message } = error as Error;
    const told = /call stack/i.test(message) ? 'nested too deeply' : message.split(/[\n;]/)[0]?.replace(/:$/, '');
    throw new OssieError(`it is no YAML that is read: ${told ?? ''}`, { cause: error });
  }
}

function fitting<T extends z.ZodType>(schema: T, value: unknown, problem: string): z.infer<T> {
  const fit = schema.safeParse(value);
  if (fit.success) return fit.data;
  const issue = fit.error.issues[0];
  const where = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.map(String).join('.')}: `;
  throw new OssieError(`${problem} (${where}${issue?.message ?? 'unexpected'})`, { cause: fit.error });
}
