/**
 * Why no connection to a Temporal is made, and what to change. gRPC says only that a time is over, so TLS is tried
 * once more by itself: that names the reason.
 */
import { X509Certificate } from 'node:crypto';
import { connect as plainConnect, isIP } from 'node:net';
import {
  connect as tlsConnect,
  createSecureContext,
  type ConnectionOptions as TlsOptions,
  type SecureContext,
} from 'node:tls';
import type { ConnectionOptions } from '@temporalio/client';
import { GRPC } from './grpc-status';

export interface TemporalProblem {
  readonly what: string;
  readonly fix: string;
}

/** No connection: nothing answers at the address, or one side does not accept the other. */
export class TemporalUnreachableError extends Error {
  override readonly name = 'TemporalUnreachableError';
  constructor(
    readonly problem: TemporalProblem,
    options: { readonly cause?: unknown } = {},
  ) {
    super(`${problem.what}: ${problem.fix}`, options);
  }
}

export function noAnswer(address: string): TemporalProblem {
  const fix = 'start it, or correct TEMPORAL_ADDRESS (unset it to use the embedded one)';
  return { what: `no Temporal answers at ${address}`, fix };
}

type Options = Pick<ConnectionOptions, 'apiKey' | 'tls'>;

export async function connectionProblem(address: string, options: Options, error: unknown): Promise<TemporalProblem> {
  return (
    refusedLogin(`Temporal at ${address}`, error, options.apiKey !== undefined) ??
    (await (options.tls || (options.tls !== false && options.apiKey !== undefined)
      ? tlsProblem(address, options)
      : plainProblem(address))) ??
    noAnswer(address)
  );
}

/** Null: the server did not refuse who calls. */
function refusedLogin(who: string, error: unknown, hasKey: boolean): TemporalProblem | null {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code, details } = at as { readonly code?: unknown; readonly details?: unknown };
    if (code !== GRPC.permissionDenied && code !== GRPC.unauthenticated) continue;
    const said = typeof details === 'string' && details !== '' ? ` (${details})` : '';
    return hasKey
      ? { what: `${who} refuses the API key${said}`, fix: `correct or renew it: ${KEY}` }
      : { what: `${who} wants a login${said}`, fix: `set an API key, ${KEY}, or a client certificate, ${CERTIFICATE}` };
  }
  return null;
}

const KEY = 'TEMPORAL_API_KEY, or api_key in temporal.toml';
const CERTIFICATE =
  'client_cert_path and client_key_path in temporal.toml, or TEMPORAL_TLS_CLIENT_CERT_PATH and …_KEY_PATH';
const AUTHORITY = 'server_ca_cert_path in temporal.toml, or TEMPORAL_TLS_SERVER_CA_CERT_PATH';
const SERVER_NAME = 'server_name in temporal.toml, or TEMPORAL_TLS_SERVER_NAME';

/** Null: the TLS connection is fine, or the address does not answer. */
async function tlsProblem(address: string, { tls }: Options): Promise<TemporalProblem | null> {
  const {
    serverNameOverride,
    serverRootCACertificate: ca,
    clientCertPair: pair,
  } = typeof tls === 'object' && tls ? tls : {};
  const buffer = (bytes: Uint8Array | null | undefined): Buffer | undefined => (bytes ? Buffer.from(bytes) : undefined);
  let secureContext: SecureContext;
  try {
    secureContext = createSecureContext({ ca: buffer(ca), cert: buffer(pair?.crt), key: buffer(pair?.key) });
  } catch (error) {
    const what = `the client certificate or its key for Temporal cannot be used (${(error as Error).message})`;
    return { what, fix: `correct ${CERTIFICATE}` };
  }
  const validTo = pair && new X509Certificate(pair.crt).validTo;
  if (validTo && Date.parse(validTo) < Date.now())
    return { what: `the client certificate for Temporal expired on ${validTo}`, fix: `renew ${CERTIFICATE}` };
  const failure = await handshake(address, {
    secureContext,
    ...(serverNameOverride && { servername: serverNameOverride }),
  });
  if (failure === null || /^(ECONNREFUSED|ENOTFOUND|ETIMEDOUT)$/.test(failure.code)) return null;
  const who = `Temporal at ${address}`;
  const { code } = failure;
  if (code === 'CERT_HAS_EXPIRED')
    return { what: `the certificate of ${who} has expired`, fix: 'renew it on the server' };
  if (code === 'CERT_NOT_YET_VALID')
    return { what: `the certificate of ${who} is not valid yet`, fix: 'correct the clock of this machine, or wait' };
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const names = failure.cert?.subjectaltname?.replace(/DNS:|IP Address:/g, '') ?? 'another host';
    return {
      what: `the certificate of ${who} is for ${names}`,
      fix: `correct TEMPORAL_ADDRESS, or set ${SERVER_NAME}`,
    };
  }
  if (/^(UNABLE_|SELF_|DEPTH_|CERT_SIG)/.test(code))
    return { what: `the certificate of ${who} is signed by an unknown authority`, fix: `name it in ${AUTHORITY}` };
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG/.test(code))
    return { what: `${who} does not speak TLS`, fix: 'unset TEMPORAL_API_KEY and TLS, or correct TEMPORAL_ADDRESS' };
  // An alert of the server, or a connection that it closed: it did not accept the client.
  return pair
    ? { what: `${who} refuses the client certificate (${code})`, fix: `use one that it trusts: ${CERTIFICATE}` }
    : { what: `${who} wants a client certificate (${code})`, fix: `set ${CERTIFICATE}` };
}

/** Without TLS: whether the server wants it. */
async function plainProblem(address: string): Promise<TemporalProblem | null> {
  const [plain, failure] = await Promise.all([handshake(address, null), handshake(address, {})]);
  if (plain === null) return null;
  const speaksTls = failure === null || /^(ERR_TLS|ERR_SSL_.*ALERT|CERT_|SELF_|DEPTH_|UNABLE_)/.test(failure.code);
  if (!speaksTls) return null;
  return {
    what: `Temporal at ${address} wants TLS`,
    fix: `set TEMPORAL_TLS=true, an API key (${KEY}) or ${CERTIFICATE}`,
  };
}

interface Failure extends Error {
  readonly code: string;
  readonly cert?: { readonly subjectaltname?: string };
}

const ANSWER_WITHIN_MS = 2_000;
/** Where an address names none. */
const TEMPORAL_PORT = 7233;
/** How HTTP/2 begins, with empty settings: whoever speaks it answers. */
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1');

/** Null: an HTTP/2 server answered. `tls` null: without TLS. */
function handshake(
  address: string,
  tls: Pick<TlsOptions, 'secureContext' | 'servername'> | null,
): Promise<Failure | null> {
  const { hostname, port } = new URL(`http://${address}`);
  const host = hostname.replace(/^\[|\]$/g, '');
  const to = { host, port: Number(port || TEMPORAL_PORT) };
  return new Promise((resolve) => {
    const named = isIP(host) ? {} : { servername: host };
    const socket = tls === null ? plainConnect(to) : tlsConnect({ ...named, ...to, ...tls, ALPNProtocols: ['h2'] });
    const end = (failure: Failure | null): void => {
      socket.destroy();
      resolve(failure);
    };
    const failed = (code: string) => (): void => end(Object.assign(new Error(code), { code }));
    socket.setTimeout(ANSWER_WITHIN_MS, failed('ETIMEDOUT'));
    socket.once(tls === null ? 'connect' : 'secureConnect', () => socket.write(PREFACE));
    socket.once('data', () => end(null));
    socket.on('error', (error: Failure) => end(error));
    socket.once('close', failed('ECONNRESET'));
  });
}
