/** `gate pause`: a running search makes no further model call until it is resumed; budgets of time stand still. */
import { withExamples } from './options';
import type { CommandFactory } from './command';
import { addSteerOptions, sendSteering, steeringCommand, type SteerFlags } from './steer';

export const pauseCommand: CommandFactory = (io) =>
  withExamples(
    addSteerOptions(steeringCommand('pause', 'pause a running search: no model call is made until gate resume')).action(
      async (id: string, flags: SteerFlags) => {
        await sendSteering(id, 'pause', {}, flags, io);
      },
    ),
    'gate pause last',
  );
