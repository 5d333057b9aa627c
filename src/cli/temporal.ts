/** `gate temporal setup`: registers the search attributes by which the Temporal UI lists searches. */
import { Command } from 'commander';
import { withExamples } from './options';
import type { CommandFactory } from './command';

export const temporalCommand: CommandFactory = (io) =>
  withExamples(
    new Command('temporal').description('prepare a Temporal server of your own').addCommand(
      withExamples(
        new Command('setup')
          .description('register the search attributes by which the Temporal UI lists searches; safe to repeat')
          .option('--json', 'print JSON')
          .action(async (flags: { json?: boolean }) => {
            const { setUpTemporal } = await import('./temporal-setup');
            await setUpTemporal(flags, io);
          }),
        'TEMPORAL_ADDRESS=temporal.internal:7233 gate temporal setup',
        'gate temporal setup --json',
      ),
    ),
    'gate temporal setup',
  );
