/**
 * Secrets by reference: `GATE_SECRET_NAME` says where the value of the variable `NAME` is, in AWS Systems Manager
 * (`ssm:/gate/NAME`) or Secrets Manager (`secretsmanager:/gate/NAME`, of a JSON secret `…#field`). Values are kept in memory
 * only. Two small requests do not need the SDKs, which would be loaded at each cold start.
 */
import { AwsClient } from 'aws4fetch';
import * as z from 'zod';
import type { Environment } from '../../config/folders';
import { parsedJson } from '../../json';

const VARIABLE = /^GATE_SECRET_(.+)$/;
const REFERENCE = /^(ssm|secretsmanager):([^#]+)(?:#(.+))?$/;
/** Of one request to Systems Manager. */
const MOST_NAMES = 10;
const WITHIN_MS = 5_000;

interface Reference {
  /** The variable to fill. */
  readonly name: string;
  readonly store: 'ssm' | 'secretsmanager';
  readonly id: string;
  readonly field: string | null;
}

/** The environment with the secrets that it refers to. Throws one line that names the variable. */
export async function withSecrets(env: Environment): Promise<Environment> {
  const references = Object.entries(env).flatMap(([variable, value]) => referenceOf(variable, value));
  if (references.length === 0) return env;
  const client = awsClient(env);
  const ids = (store: Reference['store']) => [
    ...new Set(references.flatMap((reference) => (reference.store === store ? [reference.id] : []))),
  ];
  const found = await Promise.all([parameters(client, ids('ssm')), secrets(client, ids('secretsmanager'))]);
  const [ssm, secretsmanager] = found;
  const values = references.map((reference) => [reference.name, valueOf(reference, { ssm, secretsmanager })] as const);
  return { ...env, ...Object.fromEntries(values) };
}

function referenceOf(variable: string, value: string | undefined): Reference[] {
  const name = VARIABLE.exec(variable)?.[1];
  if (name === undefined || !value) return [];
  const [, store, id, field = null] = REFERENCE.exec(value) ?? [];
  if (store === undefined || id === undefined)
    throw new Error(`${variable} is no reference: write ssm:NAME or secretsmanager:NAME`);
  return [{ name, store: store as Reference['store'], id, field }];
}

type Found = ReadonlyMap<string, string>;

function valueOf({ name, store, id, field }: Reference, found: Readonly<Record<Reference['store'], Found>>): string {
  const value = found[store].get(id);
  if (value === undefined)
    throw new Error(`GATE_SECRET_${name}: there is no ${store}:${id} in this account and region`);
  if (field === null) return value;
  const parsed = z.record(z.string(), z.unknown()).safeParse(parsedJson(value));
  const inner = parsed.success ? parsed.data[field] : undefined;
  if (typeof inner !== 'string')
    throw new Error(`GATE_SECRET_${name}: ${store}:${id} is no JSON with a text '${field}'`);
  return inner;
}

const Parameters = z.object({ Parameters: z.array(z.object({ Name: z.string(), Value: z.string() })) });
/** Services differ in how they write it. */
const Failure = z.object({ message: z.string().optional(), Message: z.string().optional() });
const SecretValue = z.object({ SecretString: z.string() });

async function parameters(client: Client, names: readonly string[]): Promise<Found> {
  const chunks = Array.from({ length: Math.ceil(names.length / MOST_NAMES) }, (_, at) =>
    names.slice(at * MOST_NAMES, (at + 1) * MOST_NAMES),
  );
  const answers = await Promise.all(
    chunks.map((Names) => client('ssm', 'AmazonSSM.GetParameters', { Names, WithDecryption: true })),
  );
  const all = answers.flatMap((answer) => Parameters.parse(answer).Parameters);
  return new Map(all.map(({ Name, Value }) => [Name, Value]));
}

async function secrets(client: Client, ids: readonly string[]): Promise<Found> {
  return new Map(
    await Promise.all(
      ids.map(async (SecretId): Promise<[string, string]> => {
        const answer = await client('secretsmanager', 'secretsmanager.GetSecretValue', { SecretId });
        return [SecretId, SecretValue.parse(answer).SecretString];
      }),
    ),
  );
}

type Client = (service: Reference['store'], target: string, body: object) => Promise<unknown>;

const ENDPOINT_VARIABLE = { ssm: 'AWS_ENDPOINT_URL_SSM', secretsmanager: 'AWS_ENDPOINT_URL_SECRETS_MANAGER' } as const;

/** With the credentials of the function's role, which the platform puts into the environment. */
function awsClient(env: Environment): Client {
  const region = env['AWS_REGION'] ?? 'us-east-1';
  const aws = new AwsClient({
    accessKeyId: env['AWS_ACCESS_KEY_ID'] ?? '',
    secretAccessKey: env['AWS_SECRET_ACCESS_KEY'] ?? '',
    sessionToken: env['AWS_SESSION_TOKEN'],
    region,
    retries: 3,
  });
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  return async (service, target, body) => {
    const url = env[ENDPOINT_VARIABLE[service]] || env['AWS_ENDPOINT_URL'] || `https://${service}.${region}.${domain}`;
    const response = await aws.fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-amz-json-1.1', 'X-Amz-Target': target },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(WITHIN_MS),
      aws: { service },
    });
    if (response.ok) return response.json();
    const { message, Message } = Failure.catch({}).parse(parsedJson(await response.text()));
    const what = `${target} ${JSON.stringify(body)}`;
    throw new Error(`secrets cannot be read: ${what}: ${message ?? Message ?? `status ${String(response.status)}`}`);
  };
}
