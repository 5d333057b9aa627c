/** `gate pin`: keeps a reading and withdraws its rivals. */
import { withExamples } from './options';
import type { CommandFactory } from './command';
import { addSteerOptions, sendSteering, steeringCommand, words, type SteerFlags } from './steer';

export const pinCommand: CommandFactory = (io) =>
  withExamples(
    addSteerOptions(
      steeringCommand('pin', 'keep the reading of an update or an operator, and withdraw its rivals')
        .argument('<target>', 'an update (see gate status ID --memory) or an operator (see gate status ID --plan)')
        .requiredOption('--reason <text>', 'why it is right; the model sees this'),
    ).action(async (id: string, target: string, flags: SteerFlags & { readonly reason: string }) => {
      await sendSteering(id, 'pin', { target, reason: words(flags.reason, 'reason') }, flags, io);
    }),
    'gate pin last op_gap --reason "the timekeeper confirmed it"',
  );
