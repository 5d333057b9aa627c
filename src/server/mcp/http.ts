/** MCP over streamable HTTP: a route of the server, whose checks, tokens and limits it stands behind. One door for each caller. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import * as z from 'zod';
import type { App } from '../../app/app';
import type { Askers } from '../../app/asker';
import type { Caller, Scope } from '../http/caller';
import type { Route } from '../http/route';
import { openDoor } from './door';
import { mcpServer } from './server';

type Handler = (request: IncomingMessage, response: ServerResponse, body?: unknown) => Promise<void>;

/** What a token must be allowed beyond asking. Nobody sends SQL of their own over HTTP. */
const NEEDS: Readonly<Record<string, Scope | null>> = { steer: 'steer', sql: null };

export function mcpRoutes({ app, askers }: { readonly app: App; readonly askers: Askers }): readonly Route[] {
  const handlers = new Map<Caller, Handler>();
  const handlerFor = (caller: Caller): Handler => {
    const { token, scopes } = caller;
    const door = openDoor({
      ...{ app, askers },
      asker: { ...caller, token: token ?? 'mcp' },
      offers: (tool) => {
        const needed = NEEDS[tool];
        return needed === undefined || (needed !== null && scopes.has(needed));
      },
    });
    const onerror = ({ message }: Error): void => void app.onEvent({ kind: 'log', text: message });
    const made = toNodeHandler(
      createMcpHandler(() => mcpServer(door), { onerror }),
      { onerror },
    );
    handlers.set(caller, made);
    return made;
  };
  return [
    {
      ...{ method: 'POST', path: '/mcp', scope: 'ask' },
      handler: async (request) => {
        // Read here, so that the limit of the server holds; an object, because each call of a list would be none of its requests.
        const body = await request.json(z.looseObject({}));
        const handler = handlers.get(request.caller) ?? handlerFor(request.caller);
        return { handledBy: (incoming, response) => handler(incoming, response, body) };
      },
    },
  ];
}
