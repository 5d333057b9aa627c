/**
 * Whether a namespace knows the search attributes that workflows set, and their registration. Everything works without
 * them: then workflows start and run without any.
 */
import type { Client } from '@temporalio/client';
import { GATE_ATTRIBUTES } from '../workflows/search-attributes';
import { GRPC, grpcCode } from './grpc-status';

/** The types in use: as Temporal's tools write them, and their number in its protocol (`IndexedValueType`). */
const TYPES = {
  TEXT: { name: 'Text', value: 1 },
  KEYWORD: { name: 'Keyword', value: 2 },
  INT: { name: 'Int', value: 3 },
  DOUBLE: { name: 'Double', value: 4 },
} as const;

export const ATTRIBUTE_TYPES: readonly (readonly [name: string, type: string])[] = Object.values(GATE_ATTRIBUTES).map(
  ({ name, type }) => [name, TYPES[type].name],
);

export interface AttributeSetup {
  readonly added: readonly string[];
  readonly present: readonly string[];
  /** Names that the namespace uses for values of another type: they are left alone, and none are set. */
  readonly conflicts: readonly string[];
}

/** Adds what is missing. Throws the server's error where it does not let the caller. */
export async function registerSearchAttributes(client: Client): Promise<AttributeSetup> {
  const { namespace } = client.options;
  const { operatorService } = client.connection;
  const found = await look(client);
  if (found.missing.length > 0 && found.conflicts.length === 0) {
    const searchAttributes = Object.fromEntries(found.missing.map(({ name, type }) => [name, TYPES[type].value]));
    await operatorService.addSearchAttributes({ namespace, searchAttributes });
    known.delete(client);
  } else {
    known.set(client, Promise.resolve(found.conflicts.length === 0));
  }
  return {
    added: found.conflicts.length > 0 ? [] : found.missing.map(({ name }) => name),
    present: found.present.map(({ name }) => name),
    conflicts: found.conflicts.map(({ name }) => name),
  };
}

const known = new WeakMap<Client, Promise<boolean>>();

/** Asked once per client. A server that does not say counts as one without. */
export function hasSearchAttributes(client: Client): Promise<boolean> {
  const before = known.get(client);
  if (before !== undefined) return before;
  const asked = look(client).then(
    ({ missing, conflicts }) => missing.length + conflicts.length === 0,
    (error: unknown) => {
      if (isNotAllowed(error)) return false;
      known.delete(client);
      throw error;
    },
  );
  known.set(client, asked);
  return asked;
}

async function look(client: Client) {
  const { namespace } = client.options;
  const { customAttributes } = await client.connection.operatorService.listSearchAttributes({ namespace });
  const all = Object.values(GATE_ATTRIBUTES);
  const typeOf = (name: string): unknown => customAttributes[name];
  const fits = ({ name, type }: (typeof all)[number]): boolean => typeOf(name) === TYPES[type].value;
  const missing = all.filter(({ name }) => typeOf(name) === undefined);
  return {
    missing,
    present: all.filter(fits),
    conflicts: all.filter((one) => !fits(one) && !missing.includes(one)),
  };
}

/** The caller may not, or the service is not offered (Temporal Cloud). */
export function isNotAllowed(error: unknown): boolean {
  const code = grpcCode(error);
  return code === GRPC.permissionDenied || code === GRPC.unimplemented;
}

/** A server that has just been told of them may not know them everywhere yet. */
export function isUnknownAttribute(error: unknown): boolean {
  for (let at: unknown = error; at instanceof Error; at = at.cause)
    if (grpcCode(at) === GRPC.invalidArgument && /search attribute/i.test(at.message)) return true;
  return false;
}
