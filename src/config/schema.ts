/**
 * The configuration file as one schema. What a file leaves out gets its default here, or null where there is none; secrets
 * are only named, by a variable or a file (`index.ts` reads them).
 */
import * as z from 'zod';
import { EVENTS } from '../domain/ports/notices';
import { BudgetLimits, MemoryMode, Role } from '../domain/question';
import { parseMethodSpec, type MethodSpec } from './method-specs';

const text = z.string().min(1);
const texts = z.array(text).default([]);
const whole = z.number().int().positive();
const httpUrl = z.url({ protocol: /^https?$/ });
/** Timers cannot wait much longer, and nobody should have to. */
const DAY_MS = 24 * 60 * 60_000;
const TOO_LONG = `is too large; allowed: at most ${String(DAY_MS)}`;

/** null where the file leaves it out; a null in the file is a mistake. */
function orNull<Schema extends z.ZodType>(schema: Schema) {
  return schema.optional().transform((value) => value ?? null);
}

/** As `--method` takes it. */
export const Method = z.string().transform((spec, context): MethodSpec => {
  try {
    return parseMethodSpec(spec);
  } catch (error) {
    context.addIssue({ code: 'custom', message: (error as Error).message });
    return z.NEVER;
  }
});

const Snowflake = z.strictObject({
  /** PEM; its passphrase, if it has one, by variable or file. */
  privateKeyFile: text.optional(),
  privateKeyEnv: text.optional(),
  passphraseEnv: text.optional(),
  passphraseFile: text.optional(),
  tokenEnv: text.optional(),
  tokenFile: text.optional(),
  /** `pat`: programmatic access token. */
  tokenKind: z.enum(['pat', 'oauth']).default('pat'),
  passwordEnv: text.optional(),
  passwordFile: text.optional(),
  /** In place of https://ACCOUNT.snowflakecomputing.com, for a private link or a proxy; plain http only to this machine. */
  accessUrl: orNull(httpUrl),
  /** Go on, statement by statement behind the server's compiler, with a role that could write. */
  allowPrivilegedRole: z.boolean().default(false),
  /** Functions of the database that statements may call, as `schema.name`; built-in ones that only read always may. */
  functions: texts,
});

const BigQuery = z.strictObject({
  /** The JSON key of a service account; without one, Application Default Credentials are used. */
  keyFile: text.optional(),
  keyEnv: text.optional(),
  /** Go on, statement by statement behind the server's dry run, with a login that could write. */
  allowPrivilegedRole: z.boolean().default(false),
  /** Functions of datasets that statements may call, as `dataset.name`; built-in ones that only compute always may. */
  functions: texts,
  /** What scanning costs, in US dollars, for the figures that are shown. */
  usdPerTiB: z.number().min(0).default(6.25),
});

const ID_RULE = 'use letters, digits, ., - and _, at most 60, a letter or digit first';

export const DatabaseEntry = z.strictObject({
  /** A URL without a password; with one it belongs into `urlEnv` or `urlFile`. */
  url: text.optional(),
  urlEnv: text.optional(),
  urlFile: text.optional(),
  /** An SQLite file, relative to the configuration file. */
  path: text.optional(),
  /** Which database it is, where its address does not say so: the same one at several addresses, or one that moves. */
  id: orNull(z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$/, ID_RULE)),
  /** A role with only SELECT; PostgreSQL assumes it by SET ROLE, Snowflake logs in with it. */
  role: orNull(text),
  /** PostgreSQL: the search path, and the schemas to describe; default: the login's search path, every schema. */
  schemas: texts,
  /** Connections at most (SQLite: processes). */
  maxConnections: orNull(whole.max(1000)),
  /** PostgreSQL: statements that the planner expects to cost more are refused before they run. */
  maxPlanCost: orNull(z.number().positive()),
  /** Snowflake, BigQuery: statements that would scan more bytes, by their plan, are refused before they run. */
  maxScanBytes: orNull(z.number().positive()),
  snowflake: Snowflake.prefault({}),
  bigquery: BigQuery.prefault({}),
  /** Tables (`orders`) and columns (`orders.total`) that may, or may not, reach a model. */
  access: z.strictObject({ allow: texts, deny: texts }).prefault({}),
  /** What explains the database: files and folders, relative to the configuration file. */
  docs: texts,
});
export type DatabaseEntry = z.output<typeof DatabaseEntry>;

const Limits = z
  .strictObject({
    requestsPerMinute: orNull(whole),
    tokensPerMinute: orNull(whole),
    /** Calls at the same time. */
    concurrency: orNull(whole),
    /** Processes that share these limits: each keeps to its part of them. */
    workers: orNull(whole),
  })
  .refine(
    (entry) => entry.requestsPerMinute ?? entry.tokensPerMinute ?? entry.concurrency,
    'set at least one of requestsPerMinute, tokensPerMinute, concurrency',
  );
export type ModelLimits = z.output<typeof Limits>;

const Models = z.strictObject({
  default: orNull(text),
  roles: z.partialRecord(Role, text).default({}),
  baseUrl: orNull(httpUrl),
  apiKeyEnv: text.optional(),
  apiKeyFile: text.optional(),
  temperature: orNull(z.number().min(0).max(2)),
  topP: orNull(z.number().gt(0).max(1)),
  maxOutputTokens: orNull(whole),
  /** A reasoning model gets the larger output cap; default: by its name. */
  reasoning: orNull(z.boolean()),
  requestTimeoutMs: whole.max(DAY_MS, TOO_LONG).default(300_000),
  /** How long a call is tried again while the endpoint is down. */
  outageMs: z.number().int().nonnegative().max(DAY_MS, TOO_LONG).default(3_600_000),
  /** By model name; `*` stands for every model without an entry of its own, each for itself. */
  limits: z.record(text, Limits).default({}),
});

export const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
export const BUCKET_RULE = 'use 3 to 63 lower-case letters, digits, dots and hyphens';

const Bucket = z.strictObject({
  bucket: z.string().regex(BUCKET, BUCKET_RULE),
  prefix: z.string().optional(),
  /** Another server than Amazon's. */
  endpoint: httpUrl.optional(),
  region: text.optional(),
  /** The bucket in the path and not in the host name; default: with `endpoint`. */
  forcePathStyle: z.boolean().optional(),
  profile: text.optional(),
  accessKeyIdEnv: text.optional(),
  secretAccessKeyEnv: text.optional(),
});
export type Bucket = z.output<typeof Bucket>;

const Encryption = z.strictObject({
  /** The first key encrypts, all of them decrypt: put a new key in front to rotate. */
  keys: z
    .array(
      z.strictObject({
        /** Written beside everything that this key encrypts. */
        id: z.string().regex(/^[A-Za-z0-9_.-]{1,40}$/, 'use letters, digits, _, . and - (at most 40)'),
        /** Name of the variable that holds the key, as base64 or hexadecimal. */
        env: text.optional(),
        /** A file that holds the key, relative to the configuration file. */
        file: text.optional(),
      }),
    )
    .min(1, 'give at least one key, or leave "encryption" out'),
  /** Where `gate ops codec-server` can be reached by whoever looks at the Temporal UI. */
  codecServer: orNull(z.url({ protocol: /^https?$/, error: 'give a URL, for example http://127.0.0.1:8834' })),
});

const Web = z.strictObject({
  provider: z.enum(['searxng', 'tavily', 'brave']),
  /** SearXNG: where it is; else another address of the provider. */
  baseUrl: orNull(httpUrl),
  apiKeyEnv: text.optional(),
  apiKeyFile: text.optional(),
  /** Of one search, by the method `gate`; null: the default. */
  lookups: orNull(z.number().int().min(1).max(50)),
});

const SHA256_RULE = 'give the SHA-256 of the token in hexadecimal (gate serve --new-token makes both)';

/** Who may ask over HTTP. */
const Token = z.strictObject({
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/i, SHA256_RULE)
    .transform((hash) => hash.toLowerCase()),
  /** Configured names; left out: all. */
  databases: orNull(z.array(text)),
  scopes: z.array(z.enum(['ask', 'steer', 'layer'])).default(['ask']),
  /** What its searches may cost in a day of UTC, in US dollars; left out: no limit beyond that of each question. */
  usdPerDay: orNull(z.number().positive()),
});

const Server = z.strictObject({
  tokens: z.record(z.string().regex(/^[A-Za-z0-9_-]{1,60}$/), Token).default({}),
  /** Names by which clients reach the server, without port, where it does not listen on loopback. */
  hosts: texts.transform((hosts) => hosts.map((host) => host.toLowerCase())),
});
export type ServerConfig = z.output<typeof Server>;

const Webhook = z.strictObject({
  /** https, unless `allowPrivate`. */
  url: httpUrl,
  /** The variable or file with the secret that signs: `whsec_` and 24 to 64 bytes in base64. */
  secretEnv: text.optional(),
  secretFile: text.optional(),
  /** Which events it is told of; default: all. */
  events: z
    .array(z.enum(EVENTS))
    .min(1)
    .default([...EVENTS]),
  /** It may be on this machine or in one of its networks. */
  allowPrivate: z.boolean().default(false),
});

/** Names as Temporal takes them: `deployment.build` is one word there. */
export const DEPLOYMENT_RULE = 'use letters, digits, _ and - (at most 63)';
export const DeploymentName = z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9_-]{0,62}$/, DEPLOYMENT_RULE);
/** A build may be a version number. */
export const BUILD_RULE = 'use letters, digits, _, - and . (at most 63)';
export const BuildId = z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,62}$/, BUILD_RULE);

export const ConfigFile = z.strictObject({
  $schema: z.string().optional(),
  databases: z.record(z.string().regex(/^[A-Za-z0-9_-]{1,60}$/), DatabaseEntry).default({}),
  models: Models.prefault({}),
  /** US dollars per million tokens, by model name. */
  prices: z
    .record(
      z.string(),
      z.strictObject({
        inputPerMillion: z.number().min(0),
        outputPerMillion: z.number().min(0),
        /** Prompt tokens that the provider reads from its cache; default: as `inputPerMillion`. */
        cachedInputPerMillion: z.number().min(0).optional(),
      }),
    )
    .default({}),
  /** `values`: whether models see values of rows before they ask for any. */
  schema: z.strictObject({ values: z.boolean().default(true) }).prefault({}),
  store: z
    .strictObject({
      directory: text.optional(),
      s3: Bucket.optional(),
      /** What `gate ops gc` removes without `--older-than`. */
      retentionDays: orNull(z.number().positive()),
    })
    .prefault({}),
  /** Encrypts what Temporal and the store keep; left out: nothing is encrypted. */
  encryption: Encryption.optional(),
  /** Left out: no question can ask the web. */
  web: Web.optional(),
  /** Who is told of answers that changed, failed claims, drift of a layer and ended batches (docs/freshness.md). */
  webhooks: z.array(Webhook).max(20).default([]),
  temporal: z
    .strictObject({
      /** null: a `temporal.toml` profile, else the embedded server. */
      address: orNull(text),
      namespace: text.default('default'),
      /** Worker versioning (docs/deploying.md); left out: off. */
      versioning: z.strictObject({ deployment: DeploymentName.optional(), buildId: BuildId.optional() }).optional(),
    })
    .prefault({}),
  /** Of `gate serve` (docs/http.md). */
  server: Server.prefault({}),
  method: Method.prefault('fast'),
  /** Whether a question uses the semantic layer of its database, and adds to it; batches are off unless asked. */
  memory: MemoryMode.default('on'),
  /** Per question; `null` lifts a limit. */
  budgets: BudgetLimits.default({}),
});
export type ConfigFile = z.output<typeof ConfigFile>;
/** As it stands in the file. */
export type WrittenConfig = z.input<typeof ConfigFile>;
