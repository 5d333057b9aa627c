/** `gate veto`: withdraws a proved reading, with everything that rests on it. */
import { withExamples } from './options';
import type { CommandFactory } from './command';
import { addSteerOptions, sendSteering, steeringCommand, words, type SteerFlags } from './steer';

export const vetoCommand: CommandFactory = (io) =>
  withExamples(
    addSteerOptions(
      steeringCommand('veto', 'withdraw a proved reading and everything that rests on it')
        .argument('<update>', 'id of the update (see gate status ID --memory)')
        .requiredOption('--reason <text>', 'why it is wrong; the model sees this'),
    ).action(async (id: string, update: string, flags: SteerFlags & { readonly reason: string }) => {
      await sendSteering(id, 'veto', { update, reason: words(flags.reason, 'reason') }, flags, io);
    }),
    'gate veto last i1.t1.s1.a1.settle0.op_gap --reason "the unit changed in 2019"',
  );
