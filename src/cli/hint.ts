/** `gate hint`: tells a running search something that the data does not say. */
import { withExamples } from './options';
import type { CommandFactory } from './command';
import { addSteerOptions, sendSteering, steeringCommand, words, type SteerFlags } from './steer';

export const hintCommand: CommandFactory = (io) =>
  withExamples(
    addSteerOptions(
      steeringCommand('hint', 'tell a running search something that the data does not show').argument(
        '<text>',
        'in plain language',
      ),
    ).action(async (id: string, text: string, flags: SteerFlags) => {
      await sendSteering(id, 'hint', { text: words(text, 'hint') }, flags, io);
    }),
    'gate hint last "gaps are in seconds, not in milliseconds"',
  );
