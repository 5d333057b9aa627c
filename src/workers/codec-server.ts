/**
 * Temporal's codec protocol over HTTP: `POST /decode`, `/encode` and `/download` with payloads as protobuf JSON. The
 * Temporal UI and the `temporal` CLI ask here, so that a person with the keys reads what the server stores compressed or
 * encrypted, and what it only refers to because it lies in the store (`external-storage.ts`).
 *
 * 1. By default it listens on loopback, and answers only requests for one of its own host names. So another site cannot reach
 *    it through a DNS name that points to this machine.
 * 2. It answers browsers only for the configured origins. A request without an origin comes from a program of the user.
 * 3. With a token, every request must carry it.
 */
import { timingSafeEqual, createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { z } from 'zod';
import { StoreError } from '../domain/ports';
import { parsedJson } from '../json';
import type { StoredPayloads } from './external-storage';
import { hostPort } from './host-port';

export interface CodecServerOptions extends Decoders {
  readonly host?: string;
  /** 0: a free one. */
  readonly port: number;
  /** Origins of the UI, e.g. `http://127.0.0.1:8833`. */
  readonly origins: readonly string[];
  /** null: none is asked for. */
  readonly token: string | null;
}

export interface CodecServer {
  readonly url: string;
  /** Another origin that may ask, known only later: the UI starts after this server. */
  allow(origin: string): void;
  close(): Promise<void>;
}

const LOOPBACK = '127.0.0.1';
/** Temporal's own limit of a gRPC message is 4 MB; a page of history comes in one request. */
const LARGEST_BODY_BYTES = 64 * 1024 * 1024;
export async function startCodecServer(options: CodecServerOptions): Promise<CodecServer> {
  const { host = LOOPBACK, codecs, stored, token } = options;
  const origins = new Set(options.origins.map(originOf));
  const server = createServer((request, response) => {
    handle(request, response, { codecs, stored, token, origins, host }).catch((error: unknown) => {
      fail(response, 500, error instanceof Error ? error.message : 'unexpected error');
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${hostPort(host, port)}`,
    allow: (origin) => void origins.add(originOf(origin)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Scheme, host and port of a URL; throws a TypeError for what is none. */
function originOf(text: string): string {
  const { origin } = new URL(text);
  if (origin === 'null') throw new TypeError(`${text} has no origin`);
  return origin;
}

interface Rules extends Decoders {
  readonly token: string | null;
  readonly origins: ReadonlySet<string>;
  readonly host: string;
}

async function handle(request: IncomingMessage, response: ServerResponse, rules: Rules): Promise<void> {
  if (!namesThisHost(request.headers.host, rules.host)) {
    fail(response, 421, 'this server is not asked by that name');
    return;
  }
  const { origin } = request.headers;
  if (origin !== undefined) {
    if (!rules.origins.has(origin)) {
      fail(response, 403, `the origin ${origin} is not allowed: start gate ops codec-server with --origin ${origin}`);
      return;
    }
    response.setHeader('Access-Control-Allow-Origin', origin);
    response.setHeader('Access-Control-Allow-Credentials', 'true');
    response.setHeader('Vary', 'Origin');
  }
  if (request.method === 'OPTIONS') {
    response.setHeader('Access-Control-Allow-Methods', 'POST, OPTIONS');
    response.setHeader(
      'Access-Control-Allow-Headers',
      'authorization, authorization-extras, content-type, x-namespace',
    );
    response.setHeader('Access-Control-Max-Age', '600');
    // A browser asks before it reaches from a public site into a private network.
    if (request.headers['access-control-request-private-network'] === 'true') {
      response.setHeader('Access-Control-Allow-Private-Network', 'true');
    }
    response.writeHead(204).end();
    return;
  }
  const [path = '', query = ''] = (request.url ?? '').split('?');
  const action = /\/(encode|decode|download)$/.exec(path)?.[1] as Action | undefined;
  if (request.method !== 'POST' || action === undefined) {
    fail(response, 404, 'POST to /decode, /download or /encode');
    return;
  }
  if (rules.token !== null && !sameText(request.headers.authorization ?? '', `Bearer ${rules.token}`)) {
    fail(response, 401, 'the bearer token is missing or wrong');
    return;
  }
  const body = CodecBody.safeParse(parsedJson(await bodyOf(request)));
  if (!body.success) {
    fail(response, 400, 'give {"payloads": […]} with metadata and data in base64');
    return;
  }
  const keepReferences = new URLSearchParams(query).get('preserveStorageRefs') === 'true';
  const answer = await answerTo(action, body.data.payloads, keepReferences, rules);
  if ('status' in answer) {
    fail(response, answer.status, answer.message);
    return;
  }
  response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(answer));
}

/** A server that listens on loopback is asked by a loopback name; one that listens elsewhere has names it cannot know. */
function namesThisHost(header: string | undefined, host: string): boolean {
  if (!isLoopback(host)) return true;
  return isLoopback((header ?? '').replace(/:\d+$/, '').replace(/^\[|\]$/g, ''));
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

function sameText(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > LARGEST_BODY_BYTES) throw new Error('the request is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function fail(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error: message }));
}

interface Decoders {
  /** In the order of encoding. */
  readonly codecs: readonly PayloadCodec[];
  /** Where payloads too large for a history are. */
  readonly stored: StoredPayloads;
}

export type Action = 'encode' | 'decode' | 'download';

const JsonPayload = z.object({
  metadata: z.record(z.string(), z.string()).optional(),
  data: z.string().nullish(),
  /** Sizes of what a reference stands for; they go back with the reference. */
  externalPayloads: z.array(z.unknown()).optional(),
});
type JsonPayload = z.infer<typeof JsonPayload>;

const CodecBody = z.object({ payloads: z.array(JsonPayload) });

type CodecAnswer = z.infer<typeof CodecBody> | { readonly status: number; readonly message: string };

/** The most bytes of stored objects in one answer: a page for a browser, or a file. */
const FETCHED_BYTES = { decode: 16 * 1024 * 1024, download: 64 * 1024 * 1024 } as const;

/**
 * The answers of the codec server: payloads encoded, decoded, or fetched from the store and decoded.
 *
 * 1. If a payload cannot be decrypted or fetched, a text with the reason takes its place, so that the others are still shown.
 *    Only `download`, whose answer becomes a file, fails as a whole.
 * 2. With `preserveStorageRefs`, references are not fetched: the UI downloads them when a person clicks on one.
 * 3. The size of an object is checked before it is read, and each answer has a limit, which protects the memory of this
 *    process and of the browser.
 */
async function answerTo(
  action: Action,
  asked: readonly JsonPayload[],
  keepReferences: boolean,
  { codecs, stored }: Decoders,
): Promise<CodecAnswer> {
  if (action === 'encode') {
    let payloads = asked.map(fromJson);
    for (const codec of codecs) payloads = await codec.encode(payloads);
    return { payloads: payloads.map(toJson) };
  }
  const payloads: JsonPayload[] = [];
  let left: number = FETCHED_BYTES[action];
  for (const each of asked) {
    const payload = fromJson(each);
    if (!stored.isReference(payload)) {
      if (action === 'download') return { status: 400, message: 'only references to stored payloads are downloaded' };
      payloads.push(toJson(await decoded(codecs, payload)));
    } else if (action === 'decode' && keepReferences) {
      payloads.push(each);
    } else {
      const fetched = await fetchedOrWhy(stored, payload, left);
      if (fetched instanceof Error) {
        if (action === 'download') return { status: statusOf(fetched), message: fetched.message };
        payloads.push(toJson(textPayload(`[${fetched.message}]`)));
      } else {
        left -= fetched.bytes;
        payloads.push(toJson(await decoded(codecs, fetched.payload)));
      }
    }
  }
  return { payloads };
}

/** Gone, damaged, another key, too large: what a person is told. Anything else is a defect. */
async function fetchedOrWhy(stored: StoredPayloads, reference: Payload, atMostBytes: number) {
  try {
    return await stored.fetch(reference, atMostBytes);
  } catch (error) {
    if (error instanceof StoreError || error instanceof RangeError) return error;
    throw error;
  }
}

async function decoded(codecs: readonly PayloadCodec[], payload: Payload): Promise<Payload> {
  let payloads = [payload];
  for (const codec of [...codecs].reverse()) payloads = await codec.decode(payloads);
  return payloads[0] ?? payload;
}

function statusOf(error: Error): number {
  if (!(error instanceof StoreError)) return 413;
  if (error.code === 'missing') return 404;
  return error.code === 'unavailable' ? 503 : 500;
}

function textPayload(text: string): Payload {
  return { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from(JSON.stringify(text)) };
}

function fromJson({ metadata = {}, data }: JsonPayload): Payload {
  const fields = Object.entries(metadata).map(([key, value]) => [key, Buffer.from(value, 'base64')] as const);
  return { metadata: Object.fromEntries(fields), data: Buffer.from(data ?? '', 'base64') };
}

function toJson({ metadata, data }: Payload): JsonPayload {
  const fields = Object.entries(metadata ?? {}).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  return {
    metadata: Object.fromEntries(fields) as Record<string, string>,
    data: Buffer.from(data ?? []).toString('base64'),
  };
}
