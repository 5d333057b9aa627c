/**
 * The settings with which a process works on a search: model endpoint and key, database, store, access lists and the other
 * settings that only a worker resolves. A command announces them, and the search must run with exactly these. So their
 * fingerprint is part of the task queue's name, and a process with another configuration never polls that queue.
 *
 * 1. No value contains a secret. A key is represented by 20 bits of a digest: enough to tell two accounts apart, too few to
 *    guess the key.
 * 2. The same configuration has the same fingerprint on every machine. Only an address that means "this machine" includes the
 *    machine's name, because on another machine it is another endpoint.
 * 3. Settings in the workflow's own input (model names, budgets, method) are not part of it.
 */
import { createHmac } from 'node:crypto';
import { hostname } from 'node:os';
import type { Config, Secret } from '../config';
import { limitedModels } from '../config/limits';
import { storeLocation } from '../config/store';
import type { ResolvedDatabase } from '../config/databases';
import { canonical } from '../domain/canonical';
import { sha256 } from '../sha256';

export interface Serving {
  /** 12 hexadecimal digits. */
  readonly fingerprint: string;
  /** By what they are about, such as `model endpoint`; settings that are not used are left out. */
  readonly parts: ServingParts;
}

export type ServingParts = Readonly<Record<string, string>>;

/** What a process resolved of its configuration. */
export interface ServedModel {
  /** The address that calls go to; `none` where no model can be asked. */
  readonly modelUrl: string;
  /** A file that answers in place of a model, or takes down what one answers: this process's alone. */
  readonly recording: string | null;
}

type Served = Pick<Config, 'models' | 'prices' | 'store' | 'encryption' | 'web'>;

/** For a search on one database, or a batch on several. */
export function servingOf(config: Served, model: ServedModel, databases: readonly ResolvedDatabase[]): Serving {
  const each = databases.map((database) => ({ name: database.name, ...databaseParts(database) }));
  const [only, ...others] = databases;
  const { web } = config;
  const parts = used({
    ...modelParts(config, model),
    ...(only !== undefined && others.length === 0
      ? databaseParts(only)
      : { databases: `${String(each.length)} ${digest(each.map(canonical).sort())}` }),
    // The calls of these models go to queues of their own.
    'models with limits': limitedModels(config.models).sort().join(', '),
    'web search': web === null ? '' : [web.provider, addressText(web.baseUrl ?? ''), keyDigest(web.apiKey)].join(' '),
  });
  return { parts, fingerprint: fingerprintOf(parts) };
}

/** What the worker of a model's own queue answers with: it needs no database. */
export function modelFingerprint(config: Served, model: ServedModel): string {
  return fingerprintOf(used(modelParts(config, model)));
}

/** The fingerprint in the name of what is served, from which its queue has its name (`task-queues.ts`). */
export function servedName(database: string, { fingerprint }: Pick<Serving, 'fingerprint'>): string {
  return `${database}-${fingerprint}`;
}

/** `with model endpoint A; this configuration names B`: what a person changes to get the same. */
export function differenceText(theirs: ServingParts, ours: ServingParts): string {
  const all = [...new Set([...Object.keys(theirs), ...Object.keys(ours)])];
  const differing = all.filter((part) => theirs[part] !== ours[part]);
  if (differing.length === 0) return 'as another version of gate serves it';
  const texts = differing.map((part) => ({ part, their: told(theirs[part]), our: told(ours[part]) }));
  const readable = texts.filter(({ their, our }) => their !== '' && our !== '' && their !== our);
  const other = texts.filter((text) => !readable.includes(text)).map(({ part }) => `other ${part}`);
  const runsWith = `with ${[...readable.map(({ part, their }) => `${part} ${their}`), ...other].join(', ')}`;
  if (readable.length === 0) return `${runsWith} than this configuration`;
  return `${runsWith}; this configuration names ${readable.map(({ our }) => our).join(', ')}`;
}

/** What a person first wants to know of it. */
export function endpointText(parts: ServingParts): string {
  return `model endpoint ${told(parts['model endpoint'])}`;
}

/** Without digests, which say nothing to a person. */
function told(text = 'none'): string {
  return text.replace(/\s?#[0-9a-f]+/g, '');
}

function modelParts(config: Served, { modelUrl, recording }: ServedModel): ServingParts {
  const { models, prices, store, encryption } = config;
  return {
    'model endpoint': addressText(modelUrl),
    'key of the model endpoint': keyDigest(models.apiKey),
    recording: recording ?? '',
    'request timeout': `${String(models.requestTimeoutMs)} ms`,
    // A cost ceiling holds by them.
    prices: Object.keys(prices).length === 0 ? '' : digest(prices),
    store: storeLocation(store),
    // Not which keys: they are changed one process at a time (docs/privacy.md).
    encryption: encryption === null ? '' : 'on',
  };
}

function databaseParts(database: ResolvedDatabase): ServingParts {
  const { dialect, identity, addressLabel, role, maxConnections, maxPlanCost, maxScanBytes, snowflake, bigquery } =
    database;
  const limits = { maxConnections, maxPlanCost, maxScanBytes };
  const { accessUrl, allowPrivilegedRole, functions } = snowflake;
  const [allow, deny] = [[...database.access.allow].sort(), [...database.access.deny].sort()];
  return used({
    // An `id` of the configuration stands for the address, which may then differ from machine to machine.
    database: HASHED.test(identity) ? `${addressLabel} ${digest(identity)}${here(addressLabel)}` : identity,
    role: role ?? '',
    'database limits': Object.values(limits).every((limit) => limit === null) ? '' : digest(limits),
    'access lists': allow.length + deny.length === 0 ? '' : digest({ allow, deny }),
    'Snowflake settings': dialect === 'snowflake' ? digest({ accessUrl, allowPrivilegedRole, functions }) : '',
    'BigQuery settings': dialect === 'bigquery' ? digest({ ...bigquery, key: null }) : '',
  });
}

const HASHED = /^d-[0-9a-f]{16}$/;
/** Of a URL, with a login or without: this machine, or a socket in a folder of it. */
const THIS_MACHINE = /^[a-z]+:\/\/([^@/]*@)?(localhost|127(\.\d+){3}|\[::1\]|\/)/i;

function here(address: string): string {
  return THIS_MACHINE.test(address) ? ` on ${hostname()}` : '';
}

/** Without its parameters, which may hold a key: a digest stands for them. */
function addressText(address: string): string {
  if (!URL.canParse(address)) return address;
  const { origin, pathname, search } = new URL(address);
  const plain = `${origin}${pathname.replace(/\/+$/, '')}`;
  return `${plain}${search === '' ? '' : ` ${keyDigest(search)}`}${here(plain)}`;
}

/** Twenty bits. */
function keyDigest(key: Secret | string | null): string {
  if (key === null) return '';
  const text = typeof key === 'string' ? key : key.reveal();
  return `#${createHmac('sha256', 'gate: which key').update(text).digest('hex').slice(0, 5)}`;
}

function digest(value: unknown): string {
  return `#${sha256(canonical(value)).slice(0, 8)}`;
}

function used(parts: ServingParts): ServingParts {
  return Object.fromEntries(Object.entries(parts).filter(([, text]) => text !== ''));
}

function fingerprintOf(parts: ServingParts): string {
  return sha256(canonical(parts)).slice(0, 12);
}
