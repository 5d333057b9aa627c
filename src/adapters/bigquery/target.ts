/**
 * Where to connect and as whom: `bigquery://project/dataset?location=…&billing=…&keyFile=…`, and the key of the
 * configuration. Nothing here is printed but projects, dataset, location and the address of the service account.
 */
import * as z from 'zod';
import { fileText, readUrl, refuseClearText, wrong } from '../kit/address';

/** The parts of a service account's key file that are used. */
const ServiceKey = z.object({
  type: z.literal('service_account'),
  client_email: z.string(),
  private_key: z.string(),
  private_key_id: z.string().optional(),
});
type ServiceKey = z.infer<typeof ServiceKey>;

export interface Target {
  readonly project: string;
  readonly dataset: string;
  /** Runs the jobs and pays for them. */
  readonly billing: string;
  readonly location: string | null;
  readonly endpoint: string;
  /** Null: Application Default Credentials, or none at all for an emulator on this machine. */
  readonly key: ServiceKey | null;
}

const EXAMPLE = 'bigquery://project/dataset?location=EU&billing=other-project&keyFile=/path/key.json';
const KNOWN = ['location', 'billing', 'keyFile', 'endpoint'];
const GOOGLE = 'https://bigquery.googleapis.com';

/** `key`: content of a service account's key file; null: the URL names one, or Application Default Credentials are used. */
export function readTarget({ url, key = null }: { readonly url: string; readonly key?: string | null }): Target {
  const { host: project, user, password, path, parameters } = readUrl(url, /^bigquery:\/\//i, EXAMPLE, KNOWN);
  if (user !== '' || password !== '')
    throw wrong('the database URL has a login: leave it out, and name the key file of a service account in keyFile');
  const [dataset, ...more] = path;
  if (project === '' || dataset === undefined || more.length > 0)
    throw wrong(`the database URL must name a project and a dataset: write ${EXAMPLE}`);
  const keyFile = parameters.get('keyFile');
  const endpoint = parameters.get('endpoint') ?? GOOGLE;
  refuseClearText('endpoint', endpoint);
  return {
    project,
    dataset,
    billing: parameters.get('billing') ?? project,
    location: parameters.get('location'),
    endpoint: endpoint.replace(/\/+$/, ''),
    key:
      key !== null
        ? readKey(key, 'the configured key')
        : keyFile === null
          ? null
          : readKey(fileText('keyFile', keyFile), keyFile),
  };
}

function readKey(text: string, from: string): ServiceKey {
  const parsed = ServiceKey.safeParse(jsonIn(text));
  if (parsed.success) return parsed.data;
  throw wrong(
    `${from} is no key of a service account: create one as JSON (IAM & Admin, Service accounts, Keys); for other logins set GOOGLE_APPLICATION_CREDENTIALS`,
  );
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // What the parser says quotes the text, and that may be a secret.
    return null;
  }
}
