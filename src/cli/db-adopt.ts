/**
 * `gate db adopt`: a database that only moved is the one that was asked before. What was asked, proved and kept under its old
 * identity is found again, because the new identity stands for the old one from then on (`database-aliases.ts`).
 */
import { loadConfig } from '../config';
import { storeLocation } from '../config/store';
import { resolveDatabase } from '../config/databases';
import { StoreError } from '../ports';
import { visible } from '../report/printable';
import { addAlias, identityChain, knownIdentity } from '../workers/database-aliases';
import { openStore } from '../workers/open-store';
import { lookAt } from './check-database';
import { CommandFailed } from './errors';
import type { Io } from './io';
import { noteSeen, seenUnder, whatChanged, type SeenDatabase } from './seen-databases';

export interface AdoptFlags {
  readonly force?: boolean;
  readonly json?: boolean;
}

export async function adoptDatabase(spec: string, { force = false, json = false }: AdoptFlags, io: Io): Promise<void> {
  const config = loadConfig(io);
  const store = openStore(config);
  const database = resolveDatabase(config, spec, io.cwd);
  const { name, identity, addressLabel } = database;
  const chain = await identityChain(store, identity);
  const known = chain.at(-1) ?? identity;
  const seen = await seenUnder(store, name);
  const former = await lastOther(seen, (other) => knownIdentity(store, other), known);
  if (former === null) {
    const why =
      seen.length === 0
        ? `'${name}' was never asked in ${storeLocation(config.store)}`
        : chain.length > 1
          ? `'${name}' (${visible(addressLabel)}) was adopted already`
          : `'${name}' (${visible(addressLabel)}) is the database that was asked before`;
    throw new CommandFailed(`nothing to adopt: ${why}`);
  }
  if (chain.length > 1)
    throw new CommandFailed(
      `'${name}' (${visible(addressLabel)}) is adopted already as another database (${known}); it can stand for one only`,
    );
  const { fingerprint } = await lookAt(config, database);
  if (fingerprint !== former.fingerprint && !force)
    throw new CommandFailed(
      `'${name}' ${whatChanged(former, database)}, and its tables are not those of ${former.seenAt.slice(0, 10)}: nothing was adopted; if it is the same database, give --force`,
    );
  const at = new Date(io.now()).toISOString();
  await addAlias(store, { identity, standsFor: former.identity, name, adoptedAt: at }).catch((error: unknown) => {
    if (!(error instanceof StoreError) || error.code !== 'conflict') throw error;
    throw new CommandFailed(`'${name}' was adopted by somebody else just now: check with gate db list`);
  });
  await noteSeen(store, database, fingerprint, io.now());
  if (json) {
    const standsFor = { identity: former.identity, address: former.addressLabel, seenAt: former.seenAt };
    const adopted = {
      database: name,
      identity,
      address: addressLabel,
      standsFor,
      sameTables: fingerprint === former.fingerprint,
    };
    io.out(`${JSON.stringify(adopted, null, 2)}\n`);
    return;
  }
  io.out(`adopted: '${name}' ${whatChanged(former, database)}; its earlier questions and answers are found again\n`);
}

/** The youngest that is not known as the same database. */
async function lastOther(
  seen: readonly SeenDatabase[],
  knownOf: (identity: string) => Promise<string>,
  known: string,
): Promise<SeenDatabase | null> {
  for (const one of [...seen].reverse()) if ((await knownOf(one.identity)) !== known) return one;
  return null;
}
