/** The setting `databases`: an address, which may come from a variable or a file, and what may be read there. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import type { Place } from './folders';
import { holdsPassword, Secret, secretFile } from './secrets';
import { SnowflakeEntry, snowflakeAccess, type SnowflakeAccess } from './snowflake';

const names = z.array(z.string().min(1));

export const DatabaseEntry = z.strictObject({
  /** A URL without a password; with one it belongs into `urlEnv` or `urlFile`. */
  url: z.string().min(1).optional(),
  urlEnv: z.string().min(1).optional(),
  urlFile: z.string().min(1).optional(),
  /** An SQLite file, relative to the configuration file. */
  path: z.string().min(1).optional(),
  /** Which database it is, where its address does not say so: the same one at several addresses, or in a new file every night. */
  id: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$/, 'use letters, digits, ., - and _, at most 60, a letter or digit first')
    .optional(),
  /** A role with only SELECT; PostgreSQL assumes it by SET ROLE, Snowflake logs in with it. */
  role: z.string().min(1).optional(),
  /** PostgreSQL: the search path, and the schemas to describe; default: the login's search path, every schema. */
  schemas: names.optional(),
  /** Connections at most (SQLite: processes). */
  maxConnections: z.number().int().positive().max(1000).optional(),
  /** PostgreSQL: statements that the planner expects to cost more are refused before they run. */
  maxPlanCost: z.number().positive().optional(),
  /** Snowflake: statements that would scan more bytes, by their plan, are refused before they run. */
  maxScanBytes: z.number().positive().optional(),
  snowflake: SnowflakeEntry.optional(),
  /** Tables (`orders`) and columns (`orders.total`) that may, or may not, reach a model. */
  access: z.strictObject({ allow: names.optional(), deny: names.optional() }).optional(),
  /** What explains the database: files and folders, relative to the configuration file. */
  docs: names.optional(),
});

export interface DatabaseConfig {
  readonly address:
    | { readonly kind: 'path'; readonly path: string }
    | { readonly kind: 'url'; readonly url: Secret }
    | { readonly kind: 'unset'; readonly fix: string };
  /** null: the address says which database it is. */
  readonly id: string | null;
  readonly role: string | null;
  readonly schemas: readonly string[];
  /** null: the engine's default, and no ceilings. */
  readonly limits: {
    readonly maxConnections: number | null;
    readonly maxPlanCost: number | null;
    readonly maxScanBytes: number | null;
  };
  /** Read by Snowflake databases only. */
  readonly snowflake: SnowflakeAccess;
  readonly access: { readonly allow: readonly string[]; readonly deny: readonly string[] };
  /** Absolute paths of its documentation. */
  readonly docs: readonly string[];
}

export function databaseOf(entry: z.infer<typeof DatabaseEntry>, at: Place): DatabaseConfig {
  const given = (['url', 'urlEnv', 'urlFile', 'path'] as const).filter((key) => entry[key] !== undefined);
  if (given.length !== 1) {
    at.problems.push(`${at.where}: set exactly one of url, urlEnv, urlFile, path (set: ${given.join(', ') || 'none'})`);
  }
  const address = addressOf(entry, at);
  checkCeilings(entry, address, at);
  return {
    address,
    id: entry.id ?? null,
    role: entry.role ?? null,
    schemas: entry.schemas ?? [],
    limits: {
      maxConnections: entry.maxConnections ?? null,
      maxPlanCost: entry.maxPlanCost ?? null,
      maxScanBytes: entry.maxScanBytes ?? null,
    },
    snowflake: snowflakeAccess(entry.snowflake, { ...at, where: `${at.where}.snowflake` }),
    access: { allow: entry.access?.allow ?? [], deny: entry.access?.deny ?? [] },
    docs: (entry.docs ?? []).map((path) => resolve(at.base, path)),
  };
}

/** Refuses ceilings that the engine of the database does not support, because they would protect nothing. */
function checkCeilings(
  { maxPlanCost, maxScanBytes }: z.infer<typeof DatabaseEntry>,
  address: DatabaseConfig['address'],
  { where, problems }: Place,
): void {
  if (address.kind === 'unset') return;
  const isSnowflake = address.kind === 'url' && /^snowflake:/i.test(address.url.reveal());
  const isPostgres = address.kind === 'url' && /^postgres(ql)?:/i.test(address.url.reveal());
  if (maxPlanCost !== undefined && !isPostgres)
    problems.push(`${where}.maxPlanCost: only PostgreSQL has it; ${isSnowflake ? 'set maxScanBytes' : 'leave it out'}`);
  if (maxScanBytes !== undefined && !isSnowflake)
    problems.push(`${where}.maxScanBytes: only Snowflake has it; ${isPostgres ? 'set maxPlanCost' : 'leave it out'}`);
}

function addressOf(entry: z.infer<typeof DatabaseEntry>, at: Place): DatabaseConfig['address'] {
  if (entry.path !== undefined) return { kind: 'path', path: resolve(at.base, entry.path) };
  if (entry.url !== undefined) {
    if (holdsPassword(entry.url)) {
      at.problems.push(
        `${at.where}.url: holds a password; put the URL into an environment variable and name it in urlEnv`,
      );
    }
    return { kind: 'url', url: new Secret(entry.url) };
  }
  if (entry.urlEnv !== undefined) {
    const value = at.env[entry.urlEnv];
    return value ? { kind: 'url', url: new Secret(value) } : { kind: 'unset', fix: `set the variable ${entry.urlEnv}` };
  }
  if (entry.urlFile !== undefined) {
    const path = resolve(at.base, entry.urlFile);
    if (!existsSync(path)) return { kind: 'unset', fix: `write the URL into ${path}` };
    const value = secretFile(path, `${at.where}.urlFile`, at.problems);
    return value ? { kind: 'url', url: new Secret(value) } : { kind: 'unset', fix: `write the URL into ${path}` };
  }
  return { kind: 'unset', fix: 'set url, urlEnv, urlFile or path' };
}
