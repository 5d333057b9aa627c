/** The official client of MCP: on `gate mcp`, which runs as a process of its own, or over HTTP. */
import { join } from 'node:path';
import {
  Client,
  StreamableHTTPClientTransport,
  type ClientOptions,
  type ElicitResult,
  type Progress,
  type Transport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { GateHome } from './gate-process';
import { ROOT } from './shared-data';

export const GATE = join(ROOT, 'dist', 'program', 'gate.js');

/** Versions of the protocol: the last two, and one in between that many clients still speak. */
export const PROTOCOLS = ['2025-06-18', '2026-07-28'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

export interface Connecting {
  readonly protocol?: Protocol;
  readonly args?: readonly string[];
  /** How a person answers a form. Left out: the client has none. */
  readonly person?: (message: string, schema: object) => ElicitResult;
}

export interface Called {
  readonly isError: boolean;
  /** The first text, which is JSON. */
  readonly said: Readonly<Record<string, unknown>>;
  readonly texts: readonly string[];
}

export interface McpUser {
  readonly client: Client;
  call(name: string, args?: object, onprogress?: (progress: Progress) => void): Promise<Called>;
  close(): Promise<void>;
}

export function connectMcp(home: GateHome, connecting: Connecting = {}): Promise<McpUser> {
  const env = Object.fromEntries(Object.entries(home.env).flatMap(([name, value]) => (value ? [[name, value]] : [])));
  const args = [GATE, 'mcp', ...(connecting.args ?? [])];
  const command = { command: process.execPath, args, cwd: home.folder, env };
  return connected(new StdioClientTransport({ ...command, stderr: 'ignore' }), connecting);
}

export function connectHttp(url: string, token: string, connecting: Connecting = {}): Promise<McpUser> {
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  return connected(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }), connecting);
}

async function connected(transport: Transport, { protocol = '2025-06-18', person }: Connecting): Promise<McpUser> {
  const version: ClientOptions =
    protocol === '2026-07-28'
      ? { versionNegotiation: { mode: { pin: protocol } } }
      : { supportedProtocolVersions: [protocol] };
  const capabilities = person === undefined ? {} : { elicitation: { form: {} } };
  const client = new Client({ name: 'test', version: '1' }, { capabilities, ...version });
  if (person !== undefined)
    client.setRequestHandler('elicitation/create', ({ params }) =>
      person(params.message, 'requestedSchema' in params ? params.requestedSchema : {}),
    );
  await client.connect(transport);
  return {
    client,
    async call(name, given = {}, onprogress) {
      const result = await client.callTool({ name, arguments: { ...given } }, onprogress && { onprogress });
      const texts = result.content.map((part) => (part.type === 'text' ? part.text : part.type));
      return {
        isError: result.isError === true,
        said: JSON.parse(texts[0] ?? '') as Called['said'],
        texts: texts.slice(1),
      };
    },
    close: () => client.close(),
  };
}
