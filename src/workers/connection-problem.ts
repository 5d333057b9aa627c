/**
 * Why no connection to a Temporal is made, and what to change. gRPC says only that a time is over, so the certificates are
 * looked at, and TLS is tried once more by itself: that names the reason.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { connect as plainConnect, isIP } from 'node:net';
import { connect as tlsConnect, type SecureContextOptions } from 'node:tls';
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
  const tls = tlsOf(options);
  return (
    refusedLogin(`Temporal at ${address}`, error, options.apiKey !== undefined) ??
    (tls === null ? await plainProblem(address) : (certificateProblem(tls) ?? (await tlsProblem(address, tls)))) ??
    noAnswer(address)
  );
}

/** Null: the server did not refuse who calls. */
export function refusedLogin(who: string, error: unknown, hasKey: boolean): TemporalProblem | null {
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

interface Tls extends Pick<SecureContextOptions, 'ca' | 'cert' | 'key'> {
  readonly servername?: string;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

function tlsOf({ tls, apiKey }: Options): Tls | null {
  if (tls === false || (tls === undefined || tls === null ? apiKey === undefined : false)) return null;
  const { serverNameOverride, serverRootCACertificate, clientCertPair } = tls === true || !tls ? {} : tls;
  return {
    ...(serverNameOverride ? { servername: serverNameOverride } : {}),
    ca: serverRootCACertificate ? Buffer.from(serverRootCACertificate) : undefined,
    ...(clientCertPair ? { cert: Buffer.from(clientCertPair.crt), key: Buffer.from(clientCertPair.key) } : {}),
  };
}

/** What is wrong with the files themselves. */
function certificateProblem({ ca, cert, key }: Tls): TemporalProblem | null {
  const authority = ca === undefined ? null : parsed(() => new X509Certificate(ca as Buffer));
  if (authority === 'unreadable')
    return { what: 'the certificate of the Temporal authority is not a PEM file', fix: `correct ${AUTHORITY}` };
  if (cert === undefined || key === undefined) return null;
  const certificate = parsed(() => new X509Certificate(cert));
  const privateKey = parsed(() => createPrivateKey(key));
  if (certificate === 'unreadable' || privateKey === 'unreadable')
    return {
      what: `the client ${certificate === 'unreadable' ? 'certificate' : 'key'} for Temporal is not a PEM file without a passphrase`,
      fix: `correct ${CERTIFICATE}`,
    };
  if (!certificate.checkPrivateKey(privateKey))
    return { what: 'the client key for Temporal belongs to another certificate', fix: `correct ${CERTIFICATE}` };
  if (Date.parse(certificate.validTo) < Date.now())
    return {
      what: `the client certificate for Temporal expired on ${certificate.validTo}`,
      fix: `renew ${CERTIFICATE}`,
    };
  if (Date.parse(certificate.validFrom) > Date.now())
    return { what: `the client certificate for Temporal is valid only from ${certificate.validFrom}`, fix: CLOCK };
  return null;
}

const CLOCK = 'correct the clock of this machine, or wait';

function parsed<T>(read: () => T): T | 'unreadable' {
  try {
    return read();
  } catch {
    return 'unreadable';
  }
}

/** Null: the TLS connection is fine, or the address does not answer. */
async function tlsProblem(address: string, tls: Tls): Promise<TemporalProblem | null> {
  const failure = await handshake(address, tls);
  if (failure === null) return null;
  const who = `Temporal at ${address}`;
  switch (failure.code) {
    case 'ECONNREFUSED':
    case 'ENOTFOUND':
    case 'ETIMEDOUT':
      return null;
    case 'CERT_HAS_EXPIRED':
      return { what: `the certificate of ${who} has expired`, fix: 'renew it on the server' };
    case 'CERT_NOT_YET_VALID':
      return { what: `the certificate of ${who} is not valid yet`, fix: CLOCK };
    case 'ERR_TLS_CERT_ALTNAME_INVALID': {
      const names = failure.cert?.subjectaltname?.replace(/DNS:|IP Address:/g, '') ?? 'another host';
      return {
        what: `the certificate of ${who} is for ${names}`,
        fix: `correct TEMPORAL_ADDRESS, or set ${SERVER_NAME}`,
      };
    }
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'CERT_SIGNATURE_FAILURE':
      return { what: `the certificate of ${who} is signed by an unknown authority`, fix: `name it in ${AUTHORITY}` };
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
      return { what: `${who} does not speak TLS`, fix: 'unset TEMPORAL_API_KEY and TLS, or correct TEMPORAL_ADDRESS' };
    default:
      // An alert of the server, or a connection that it closed: it did not accept the client.
      return tls.cert === undefined
        ? { what: `${who} wants a client certificate (${failure.code})`, fix: `set ${CERTIFICATE}` }
        : {
            what: `${who} refuses the client certificate (${failure.code})`,
            fix: `use one that it trusts: ${CERTIFICATE}`,
          };
  }
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
function handshake(address: string, tls: Tls | null): Promise<Failure | null> {
  const { hostname, port } = new URL(`http://${address}`);
  const to = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || TEMPORAL_PORT) };
  return new Promise((resolve) => {
    const named = isIP(to.host) ? {} : { servername: to.host };
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
