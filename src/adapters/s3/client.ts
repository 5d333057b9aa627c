/**
 * The S3 client, loaded when it is first used: the SDK is large and most processes keep their store in a folder.
 * Every wait is bounded, and the SDK tries a request only twice, because Temporal retries the step.
 */
import type * as ClientS3 from '@aws-sdk/client-s3';

export type Sdk = typeof ClientS3;

export interface S3Options {
  readonly bucket: string;
  /** Without slashes at its ends; empty: the whole bucket. */
  readonly prefix?: string;
  /** Another server than Amazon's. */
  readonly endpoint?: string | null;
  /** Default: as AWS tools find it; `us-east-1` for an endpoint of one's own, which has no regions. */
  readonly region?: string | null;
  /** The bucket in the path and not in the host name; default: with an endpoint of one's own. */
  readonly forcePathStyle?: boolean;
  /** Default: as AWS tools find them (variables, profile, web identity, the machine's role). */
  readonly credentials?: S3Credentials | null;
  readonly profile?: string | null;
  readonly connectTimeoutMs?: number;
  readonly requestTimeoutMs?: number;
}

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface OpenClient {
  readonly sdk: Sdk;
  readonly client: ClientS3.S3Client;
}

const CONNECT_TIMEOUT_MS = 3_000;
const REQUEST_TIMEOUT_MS = 20_000;
const ATTEMPTS = 2;
/** Also how many requests there are at once: the SDK would count waiting for a socket as connecting. */
export const SOCKETS = 64;

export function lazyClient(options: S3Options): () => Promise<OpenClient> {
  let opened: Promise<OpenClient> | null = null;
  return () => (opened ??= open(options));
}

async function open(options: S3Options): Promise<OpenClient> {
  // It would print a warning about future versions of Node.js into the output of a command.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
  const sdk = await import('@aws-sdk/client-s3');
  const { endpoint = null, credentials = null, profile = null } = options;
  const region = options.region ?? (endpoint === null ? null : 'us-east-1');
  const sockets = { keepAlive: true, maxSockets: SOCKETS };
  const requestTimeout = options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
  const client = new sdk.S3Client({
    ...(endpoint === null ? {} : { endpoint }),
    ...(region === null ? {} : { region }),
    ...(credentials === null ? {} : { credentials: { ...credentials } }),
    ...(profile === null ? {} : { profile }),
    forcePathStyle: options.forcePathStyle ?? endpoint !== null,
    maxAttempts: ATTEMPTS,
    requestHandler: {
      connectionTimeout: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
      requestTimeout,
      throwOnRequestTimeout: true,
      // A connection that was accepted and then says nothing.
      socketTimeout: requestTimeout,
      httpAgent: sockets,
      httpsAgent: sockets,
    },
  });
  return { sdk, client };
}
