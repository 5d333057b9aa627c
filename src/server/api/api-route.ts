/** A route of the API: what it takes and gives as schemas, from which it is checked and described (`openapi.ts`). */
import * as z from 'zod';
import { given } from '../../app/given';
import type { HttpRequest, Reply, Route } from '../http/route';

export interface Described {
  readonly summary: string;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  readonly headers?: Readonly<Record<string, string>>;
  /** By status: a schema of JSON, or another type of content. */
  readonly replies: Readonly<Record<number, z.ZodType | string>>;
}

export interface ApiRoute extends Route, Described {}

interface Handled<Query extends z.ZodObject, Body extends z.ZodType> {
  readonly request: HttpRequest;
  /** Of the path. */
  readonly id: string;
  readonly query: z.output<Query>;
  readonly body: z.output<Body>;
}

export function apiRoute<Query extends z.ZodObject = z.ZodObject, Body extends z.ZodType = z.ZodType>(
  method: Route['method'],
  path: string,
  scope: Route['scope'],
  {
    handle,
    ...described
  }: Described & {
    readonly query?: Query;
    readonly body?: Body;
    readonly handle: (handled: Handled<Query, Body>) => Reply | Promise<Reply>;
  },
): ApiRoute {
  const { query: queryOf = z.strictObject({}), body: bodyOf } = described;
  return {
    ...{ method, path, scope, ...described },
    handler: async (request) => {
      const query = given(queryOf, Object.fromEntries(request.query), 'query') as z.output<Query>;
      const body = (bodyOf === undefined ? undefined : await request.json(bodyOf)) as z.output<Body>;
      return handle({ request, id: request.params['id'] ?? '', query, body });
    },
  };
}
