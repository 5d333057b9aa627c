/**
 * The S3 client, loaded when it is first used: the SDK is large and most processes keep their store in a folder.
 * Every wait is bounded, and the SDK tries a request only twice, because Temporal retries the step.
 */
import type * as ClientS3 from '@aws-sdk/client-s3';

export type Sdk = typeof ClientS3;

export interface S3Options {
  readonly bucket: string;
  /** Without leading and trailing slashes; empty: the whole bucket. */
  readonly prefix?: string;
  /** Address of an S3 server other than Amazon's. */
  readonly endpoint?: string | null;
  /** Default: found as AWS tools do; `us-east-1` with `endpoint`, since other servers have no regions. */
  readonly region?: string | null;
  /** Puts the bucket in the path and not in the host name; default: true with `endpoint`. */
  readonly forcePathStyle?: boolean;
  /** Default: found as AWS tools do (variables, profile, web identity, the machine's role). */
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
/** Also the limit for concurrent requests: the SDK would count waiting for a socket as connection time. */
export const SOCKETS = 64;

export function lazyClient(options: S3Options): () => Promise<OpenClient> {
  let opened: Promise<OpenClient> | null = null;
  return () => (opened ??= open(options));
}

async function open(options: S3Options): Promise<OpenClient> {
  // Without this the SDK prints a warning about Node.js versions into the output of commands.
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
      // For a connection that is accepted and then silent.
      socketTimeout: requestTimeout,
      httpAgent: sockets,
      httpsAgent: sockets,
    },
  });
  return { sdk, client };
}
