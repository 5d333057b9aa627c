/** `gate ops temporal setup`: registers the search attributes by which the Temporal UI lists searches. */
import { Command } from 'commander';
import type { AttributeSetup } from '../workers/search-attributes';
import { CommandFailed } from './errors';
import type { Io } from './io';
import { withExamples, type CommandFactory } from './options';
import type { TemporalSession } from './temporal-session';

export const temporalCommand: CommandFactory = (io) =>
  withExamples(
    new Command('temporal').description('prepare a Temporal server of your own').addCommand(
      withExamples(
        new Command('setup')
          .description('register the search attributes by which the Temporal UI lists searches; safe to repeat')
          .option('--json', 'print JSON')
          .action((flags: { json?: boolean }) => setUpTemporal(flags, io)),
        'TEMPORAL_ADDRESS=temporal.internal:7233 gate ops temporal setup',
        'gate ops temporal setup --json',
      ),
    ),
    'gate ops temporal setup',
  );

/** Searches run without the attributes, too; only the UI's lists show less then. */
async function setUpTemporal({ json }: { readonly json?: boolean }, io: Io): Promise<void> {
  const { loadConfig } = await import('../config');
  const { openRunning } = await import('./temporal-session');
  const session = await openRunning(loadConfig(io), io.env, ({ what, fix }) => {
    throw new CommandFailed(`${what}: ${fix}`);
  });
  if (session === null) {
    const line = 'no Temporal is configured; the embedded one registers its search attributes by itself';
    io.out(json ? `${JSON.stringify({ address: null, added: [], present: [] })}\n` : `${line}\n`);
    return;
  }
  try {
    const { added, present, conflicts } = await register(session);
    const { address, namespace } = session;
    const place = `namespace ${namespace} at ${address}`;
    if (conflicts.length > 0)
      throw new CommandFailed(
        `${conflicts.join(', ')} in ${place}: the name is in use with another type; remove it, or go on without lists by question`,
      );
    if (json) {
      io.out(`${JSON.stringify({ address, namespace, added, present })}\n`);
      return;
    }
    if (added.length > 0) io.out(`registered in ${place}: ${added.join(', ')}\n`);
    if (present.length > 0) io.out(`registered before: ${present.join(', ')}\n`);
    io.out('Searches that start from now on show them; docs/temporal-ui.md says which columns to add.\n');
  } finally {
    await session.close();
  }
}

async function register({ gate, address, namespace }: TemporalSession): Promise<AttributeSetup> {
  const { ATTRIBUTE_TYPES, isNotAllowed, registerSearchAttributes } = await import('../workers/search-attributes');
  try {
    return await registerSearchAttributes(gate.client);
  } catch (error) {
    if (!isNotAllowed(error)) throw error;
    const names = ATTRIBUTE_TYPES.map(([name, type]) => `${name}=${type}`).join(' ');
    throw new CommandFailed(
      `${address} does not let this user register search attributes in namespace ${namespace}: ask its administrator for ${names}`,
      undefined,
      { cause: error },
    );
  }
}
