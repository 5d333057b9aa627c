/** `gate resume`: a paused search goes on. */
import { withExamples } from './options';
import type { CommandFactory } from './command';
import { addSteerOptions, sendSteering, steeringCommand, type SteerFlags } from './steer';

export const resumeCommand: CommandFactory = (io) =>
  withExamples(
    addSteerOptions(steeringCommand('resume', 'continue a paused search')).action(
      async (id: string, flags: SteerFlags) => {
        await sendSteering(id, 'resume', {}, flags, io);
      },
    ),
    'gate resume last',
  );
