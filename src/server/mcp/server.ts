/** The tools on the wire: MCP 2026-07-28, and the protocols with a handshake before it. */
import * as z from 'zod';
import {
  CLIENT_CAPABILITIES_META_KEY,
  McpServer,
  type ClientCapabilities,
  type ServerContext,
  type StandardSchemaWithJSON,
} from '@modelcontextprotocol/server';
import { given } from '../../app/given';
import { packageVersion } from '../../workers/package-folder';
import type { Door } from './door';
import { failed } from './texts';
import { TOOLS } from './tools';

export function mcpServer(door: Door): McpServer {
  const server = new McpServer({ name: 'gate', title: 'GATE', version: packageVersion() ?? '0' });
  for (const [name, { description, input, isFree, run }] of Object.entries(TOOLS)) {
    if (!door.offers(name)) continue;
    const config = {
      description,
      inputSchema: unchecked(input),
      annotations: isFree ? { readOnlyHint: true } : { destructiveHint: false, idempotentHint: name === 'ask' },
    };
    server.registerTool(name, config, async (args, { mcpReq }) => {
      try {
        return await run(given(input, args ?? {}, name), { door, mcp: mcpReq, elicits: elicits(server, mcpReq) });
      } catch (error) {
        return failed(error);
      }
    });
  }
  return server;
}

/** Only tells what it takes: `given` checks it, with the lines of every other door. */
function unchecked(input: z.ZodType): StandardSchemaWithJSON<unknown, unknown> {
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: 'input' });
  const jsonSchema = { input: () => schema, output: () => schema };
  return { '~standard': { version: 1, vendor: 'gate', validate: (value) => ({ value }), jsonSchema } };
}

interface Envelope {
  readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities;
}

/** Whether the client shows a person a form. */
function elicits({ server }: McpServer, { envelope }: ServerContext['mcpReq']): boolean {
  const asked: Envelope = envelope ?? {};
  // Before 2026-07-28 a client says once what it can, and the accessor is the only place that has it.
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  const can = asked[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities();
  const forms = can?.elicitation;
  return forms !== undefined && (forms.form !== undefined || forms.url === undefined);
}
