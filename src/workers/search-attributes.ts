/**
 * Whether a namespace knows the search attributes that workflows set, and their registration. Everything works without
 * them: then workflows start and run without any.
 */
import type { Client } from '@temporalio/client';
import { GATE_ATTRIBUTES } from '../workflows/search-attributes';
import { GRPC, grpcCode, isInChain } from './grpc-status';

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

/** Adds what is missing. Throws the server's error where it does not let the caller. */
export async function registerSearchAttributes(client: Client) {
  const { namespace } = client.options;
  const { missing, present, conflicts } = await look(client);
  const added = conflicts.length > 0 ? [] : missing;
  if (added.length > 0) {
    const searchAttributes = Object.fromEntries(added.map(({ name, type }) => [name, TYPES[type].value]));
    await client.connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
    known.delete(client);
  } else {
    known.set(client, Promise.resolve(conflicts.length === 0));
  }
  const names = (attributes: typeof missing) => attributes.map(({ name }) => name);
  return { added: names(added), present: names(present), conflicts: names(conflicts) };
}

const known = new WeakMap<Client, Promise<boolean>>();

/** Asked once per client. A server that does not say counts as one without. */
export function hasSearchAttributes(client: Client): Promise<boolean> {
  const asked =
    known.get(client) ??
    look(client).then(
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

/** `conflicts`: names that the namespace uses for values of another type: they are left alone, and none are set. */
async function look(client: Client) {
  const { namespace } = client.options;
  const { customAttributes } = await client.connection.operatorService.listSearchAttributes({ namespace });
  const all = Object.values(GATE_ATTRIBUTES);
  const [missing, there] = [
    all.filter(({ name }) => !customAttributes[name]),
    all.filter(({ name }) => customAttributes[name]),
  ];
  const fits = ({ name, type }: (typeof all)[number]): boolean => Number(customAttributes[name]) === TYPES[type].value;
  return { missing, present: there.filter(fits), conflicts: there.filter((one) => !fits(one)) };
}

/** The caller may not, or the service is not offered (Temporal Cloud). */
export function isNotAllowed(error: unknown): boolean {
  const code = grpcCode(error);
  return code === GRPC.permissionDenied || code === GRPC.unimplemented;
}

/** A server that has just been told of them may not know them everywhere yet. */
export function isUnknownAttribute(error: unknown): boolean {
  return isInChain(error, (one) => grpcCode(one) === GRPC.invalidArgument && /search attribute/i.test(one.message));
}
