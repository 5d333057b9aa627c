/**
 * MCP on stdin and stdout. Nothing but the protocol may reach stdout: whatever else writes there, a package or a stray line of
 * ours, is sent to stderr.
 */
import { Writable } from 'node:stream';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { openApp, type App } from '../../app/app';
import type { Told } from '../../app/surroundings';
import { openDoor } from './door';
import { mcpServer } from './server';
import { Spending } from './spending';

export interface StdioOptions {
  /** What all questions may cost together, in US dollars; null: no limit. */
  readonly budgetUsd: number | null;
  readonly sql: boolean;
}

/** Until the client is gone, or `stop`. */
export async function serveMcpStdio({ budgetUsd, sql }: StdioOptions, io: Told, stop: AbortSignal): Promise<void> {
  const telling =
    (more?: App['onEvent']): App['onEvent'] =>
    (event) => {
      if (event.kind === 'note' || event.kind === 'log') io.err(`${event.text}\n`);
      return more?.(event);
    };
  // A configuration with mistakes is told at once.
  openApp(io);
  const spending = budgetUsd === null ? null : new Spending(budgetUsd);
  const door = openDoor({
    open: (onEvent) => openApp(io, telling(onEvent)),
    reaches: () => true,
    namespace: 'user',
    servedBy: 'background-until-idle',
    author: 'mcp',
    costUsd: budgetUsd,
    admit: async (input, app) => spending?.admit(input, app),
    sql,
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
