/** `gate stop`: a running search gives up the step under way and answers with what it has. */
import { withExamples } from './options';
import type { CommandFactory } from './command';
import { addSteerOptions, sendSteering, steeringCommand, type SteerFlags } from './steer';

export const stopCommand: CommandFactory = (io) =>
  withExamples(
    addSteerOptions(steeringCommand('stop', 'end a running search now, with its best answer so far')).action(
      async (id: string, flags: SteerFlags) => {
        await sendSteering(id, 'stop', {}, flags, io);
      },
    ),
    'gate stop last',
  );
