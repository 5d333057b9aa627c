/** `gate cancel`: a running search ends as cancelled, with the best answer so far in its record. */
import { withExamples } from './options';
import type { CommandFactory } from './command';
import { onRunning, steeringCommand } from './steer';

export const cancelCommand: CommandFactory = (io) =>
  withExamples(
    steeringCommand('cancel', 'cancel a running search; asking the question again continues it')
      .option('--json', 'print JSON')
      .action(async (wanted: string, flags: { readonly json?: boolean }) => {
        await onRunning(wanted, io, async (session, id) => {
          const cancelled = await session.cancel(id);
          if (cancelled)
            io.out(flags.json ? `${JSON.stringify({ id, kind: 'cancel' })}\n` : `${id}: is being cancelled\n`);
          return cancelled;
        });
      }),
    'gate cancel last',
  );
