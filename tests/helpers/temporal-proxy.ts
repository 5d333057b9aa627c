/**
 * A door in front of the test's Temporal, as Temporal Cloud has one: it speaks TLS, may want a client certificate of an
 * authority, and may want an API key for each call.
 */
import { readFileSync } from 'node:fs';
import { connect, createSecureServer, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { testTemporal } from './temporal';
import type { Certificate } from './certificates';

export interface DoorOptions {
  readonly certificate: Certificate;
  /** Whose client certificates it lets in; left out: it asks for none. */
  readonly clientAuthority?: string;
  readonly apiKey?: string;
  /** Methods that need no key. */
  readonly open?: readonly string[];
  /** A call without the key gets no answer at all. */
  readonly silent?: boolean;
}

export interface TemporalDoor {
  readonly address: string;
  /** Calls that it let through. */
  calls(): number;
  /** From now on no key is let in. */
  revoke(): void;
  close(): Promise<void>;
}

export async function openDoor(options: DoorOptions): Promise<TemporalDoor> {
  const { certificate, clientAuthority, apiKey, open = [], silent = false } = options;
  const upstream = connect(`http://${testTemporal().address}`);
  const mutual = clientAuthority && { ca: readFileSync(clientAuthority), requestCert: true, rejectUnauthorized: true };
  const pem = { cert: readFileSync(certificate.cert), key: readFileSync(certificate.key) };
  const server = createSecureServer({ ...pem, ...mutual });
  const sessions = new Set<{ destroy(): void }>();
  let calls = 0;
  let isRevoked = false;
  const letsIn = ({ authorization, ':path': path = '' }: IncomingHttpHeaders): boolean =>
    apiKey === undefined ||
    open.includes(path.slice(path.lastIndexOf('/') + 1)) ||
    (!isRevoked && authorization === `Bearer ${apiKey}`);
  server.on('session', (session) => void sessions.add(session));
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    if (!letsIn(headers)) {
      if (silent) return;
      stream.respond(
        { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '16', 'grpc-message': 'unknown key' },
        { endStream: true },
      );
      return;
    }
    calls += 1;
    forward(stream, headers);
  });
  const forward = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void => {
    const call = upstream.request(headers);
    let trailers: IncomingHttpHeaders = {};
    call.on('error', () => stream.destroy());
    call.on('response', (answer, flags) => {
      const isAll = (flags & 1) !== 0;
      if (!stream.destroyed) stream.respond(answer, isAll ? { endStream: true } : { waitForTrailers: true });
    });
    call.on('trailers', (last: IncomingHttpHeaders) => (trailers = last));
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    stream.on('close', () => call.close());
    stream.pipe(call).pipe(stream);
  };
  await new Promise<void>((listening) => server.listen(0, listening));
  return {
    address: `localhost:${String((server.address() as AddressInfo).port)}`,
    calls: () => calls,
    revoke: () => void (isRevoked = true),
    close: async () => {
      for (const session of sessions) session.destroy();
      upstream.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}
