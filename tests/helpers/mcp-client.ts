/** The official client of MCP on `gate mcp`, which runs as a process of its own. */
import { join } from 'node:path';
import { Client, type ClientOptions, type ElicitResult, type Progress } from '@modelcontextprotocol/client';
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

export async function connectMcp(home: GateHome, connecting: Connecting = {}): Promise<McpUser> {
  const { protocol = '2025-06-18', args = [], person } = connecting;
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
  const env = Object.fromEntries(Object.entries(home.env).flatMap(([name, value]) => (value ? [[name, value]] : [])));
  const command = { command: process.execPath, args: [GATE, 'mcp', ...args], cwd: home.folder, env };
  await client.connect(new StdioClientTransport({ ...command, stderr: 'ignore' }));
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
