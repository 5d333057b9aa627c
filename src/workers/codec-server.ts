/**
 * Temporal's codec protocol over HTTP: `POST /decode` and `/encode` with payloads as protobuf JSON. The Temporal UI and the
 * `temporal` CLI ask here, so that a person with the keys reads what the server stores compressed or encrypted.
 *
 * 1. By default it listens on loopback, and answers only requests for one of its own host names. So another site cannot reach
 *    it through a DNS name that points to this machine.
 * 2. It answers browsers only for the configured origins. A request without an origin comes from a program of the user.
 * 3. With a token, every request must carry it.
 * 4. If a payload cannot be decrypted, a text with the reason takes its place, so that the others are still shown.
 */
import { timingSafeEqual, createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Payload, PayloadCodec } from '@temporalio/common';
import * as z from 'zod';
import { parsedJson } from '../json';
import { listenOn } from './http-server';

export interface CodecServerOptions {
  /** In the order of encoding. */
  readonly codecs: readonly PayloadCodec[];
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

export async function startCodecServer(options: CodecServerOptions): Promise<CodecServer> {
  const { host = '127.0.0.1', port, codecs, token } = options;
  const origins = new Set(options.origins);
  const server = createServer((request, response) => {
    handle(request, response, { codecs, token, origins, host }).catch((error: unknown) => {
      fail(response, 500, error instanceof Error ? error.message : 'unexpected error');
    });
  });
  return { ...(await listenOn(server, host, port)), allow: (origin) => void origins.add(origin) };
}

interface Rules extends Pick<CodecServerOptions, 'codecs' | 'token'> {
  readonly origins: ReadonlySet<string>;
  readonly host: string;
}

async function handle(request: IncomingMessage, response: ServerResponse, rules: Rules): Promise<void> {
  const { origin, host, authorization = '' } = request.headers;
  if (isLoopback(rules.host) && !isLoopback((host ?? '').replace(/:\d+$/, '').replace(/^\[|\]$/g, ''))) {
    fail(response, 421, 'this server is not asked by that name');
    return;
  }
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
    response.writeHead(204, PREFLIGHT).end();
    return;
  }
  const [, action] = /\/(encode|decode)(?:\?.*)?$/.exec(request.url ?? '') ?? [];
  if (request.method !== 'POST' || action === undefined) {
    fail(response, 404, 'POST to /decode or /encode');
    return;
  }
  if (rules.token !== null && !isSame(authorization, `Bearer ${rules.token}`)) {
    fail(response, 401, 'the bearer token is missing or wrong');
    return;
  }
  const body = CodecBody.safeParse(parsedJson(await text(request)));
  if (!body.success) {
    fail(response, 400, 'give {"payloads": […]} with metadata and data in base64');
    return;
  }
  let payloads = body.data.payloads.map(fromJson);
  if (action === 'encode') for (const codec of rules.codecs) payloads = await codec.encode(payloads);
  else for (const codec of [...rules.codecs].reverse()) payloads = await codec.decode(payloads);
  response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify({ payloads: payloads.map(toJson) }));
}

const PREFLIGHT = {
  'Access-Control-Allow-Methods': 'POST, OPTIONS',
  'Access-Control-Allow-Headers': 'authorization, authorization-extras, content-type, x-namespace',
  'Access-Control-Max-Age': '600',
  // A browser asks before it reaches from a public site into a private network.
  'Access-Control-Allow-Private-Network': 'true',
};

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

function isSame(one: string, other: string): boolean {
  const digest = (value: string): Buffer => createHash('sha256').update(value).digest();
  return timingSafeEqual(digest(one), digest(other));
}

function fail(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error: message }));
}

const JsonPayload = z.object({ metadata: z.record(z.string(), z.string()).optional(), data: z.string().nullish() });
const CodecBody = z.object({ payloads: z.array(JsonPayload) });

function fromJson({ metadata = {}, data }: z.infer<typeof JsonPayload>): Payload {
  const fields = Object.entries(metadata).map(([key, value]) => [key, Buffer.from(value, 'base64')] as const);
  return { metadata: Object.fromEntries(fields), data: Buffer.from(data ?? '', 'base64') };
}

function toJson({ metadata, data }: Payload): z.infer<typeof JsonPayload> {
  const fields = Object.entries(metadata ?? {}).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  return {
    metadata: Object.fromEntries(fields) as Record<string, string>,
    data: Buffer.from(data ?? []).toString('base64'),
  };
}
