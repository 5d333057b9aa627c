/** The description of the API in OpenAPI 3.1, made from the schemas by which its routes check what they take. */
import * as z from 'zod';
import { packageVersion } from '../../workers/package-folder';
import { HTTP_ERROR_CODES } from '../http/errors';
import type { ApiRoute } from './api-route';

const REFUSED = {
  description: 'refused',
  content: jsonContent(
    z.strictObject({
      error: z.strictObject({ code: z.enum(HTTP_ERROR_CODES), message: z.string().describe('one line') }),
    }),
    'output',
  ),
};

export function openApi(routes: readonly ApiRoute[]): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    (paths[path] ??= {})[route.method.toLowerCase()] = operation(route, path);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'GATE',
      version: packageVersion() ?? '0',
      description: 'Questions on databases, and the proof of answers.',
    },
    paths,
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    security: [{ token: [] }],
  };
}

function operation({ summary, scope, query, body, headers = {}, replies }: ApiRoute, path: string): object {
  const text = { type: 'string' };
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: text,
  }));
  const inQuery = Object.entries((query?.shape ?? {}) as Record<string, z.ZodType>).map(([name, schema]) => {
    return { name, in: 'query', required: false, schema: jsonSchema(schema, 'input') };
  });
  const inHeaders = Object.entries(headers).map(([name, description]) => {
    return { name, in: 'header', required: false, description, schema: text };
  });
  const answers = Object.entries(replies).map(([status, schema]): [string, object] => {
    const content = typeof schema === 'string' ? { [schema]: { schema: text } } : jsonContent(schema, 'output');
    return [status, { description: 'done', content }];
  });
  return {
    summary,
    ...(scope === 'open' ? { security: [] } : { description: `Scope: ${scope === 'login' ? 'any' : scope}.` }),
    parameters: [...inPath, ...inQuery, ...inHeaders],
    ...(body && { requestBody: { required: true, content: jsonContent(body, 'input') } }),
    responses: { ...Object.fromEntries(answers), default: REFUSED },
  };
}

function jsonContent(schema: z.ZodType, io: 'input' | 'output'): object {
  return { 'application/json': { schema: jsonSchema(schema, io) } };
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): object {
  const made = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  delete made.$schema;
  return made;
}
