/**
 * MCP on stdin and stdout. Nothing but the protocol may reach stdout: whatever else writes there, a package or a stray line of
 * ours, is sent to stderr.
 */
import { Writable } from 'node:stream';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { openApp } from '../../app/app';
import { Askers } from '../../app/asker';
import type { Told } from '../../app/surroundings';
import { LOCAL } from '../http/caller';
import { openDoor } from './door';
import { mcpServer } from './server';

export interface StdioOptions {
  /** What all questions may cost together, in US dollars; null: no limit. */
  readonly budgetUsd: number | null;
  readonly sql: boolean;
}

/** Until the client is gone, or `stop`. */
export async function serveMcpStdio({ budgetUsd, sql }: StdioOptions, io: Told, stop: AbortSignal): Promise<void> {
  const app = openApp(io, (event) => {
    if (event.kind === 'note' || event.kind === 'log') io.err(`${event.text}\n`);
  });
  const budget = budgetUsd === null ? null : ({ usd: budgetUsd, of: 'process' } as const);
  const door = openDoor({
    app,
    asker: { token: 'mcp', namespace: LOCAL.namespace, databases: null, budget },
    askers: new Askers(app, 'background-until-idle'),
    offers: (tool) => sql || tool !== 'sql',
  });
  const { stdin } = process;
  const transport = new StdioServerTransport(stdin, protocolAlone(process.stdout));
  const gone = new Promise<void>((resolve) => {
    for (const event of ['end', 'close'] as const) stdin.once(event, () => resolve());
    stop.addEventListener('abort', () => resolve(), { once: true });
  });
  const serving = serveStdio(() => mcpServer(door), {
    transport,
    onerror: ({ message }) => io.err(`${message}\n`),
  });
  await gone;
  await serving.close();
}

/** Takes stdout for itself. */
function protocolAlone(stdout: NodeJS.WriteStream): Writable {
  const write = stdout.write.bind(stdout);
  stdout.write = process.stderr.write.bind(process.stderr);
  return new Writable({ write: (chunk: Buffer, _, done) => void write(chunk, (error) => done(error)) });
}
