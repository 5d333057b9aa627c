/** `gate budget`: new limits for a running search. */
import { UsageError } from './errors';
import { addLimitOptions, limitsOf, withExamples, type LimitFlags } from './options';
import type { CommandFactory } from './command';
import { addSteerOptions, sendSteering, steeringCommand, type SteerFlags } from './steer';

export const budgetCommand: CommandFactory = (io) =>
  withExamples(
    addSteerOptions(
      addLimitOptions(
        steeringCommand('budget', 'change the limits of a running search; limits you do not give are unchanged'),
      ),
    ).action(async (id: string, flags: SteerFlags & LimitFlags) => {
      const budgets = limitsOf(flags);
      if (Object.keys(budgets).length === 0) throw new UsageError('no limit given; see gate budget --help');
      await sendSteering(id, 'budget', { budgets }, flags, io);
    }),
    'gate budget last --max-calls 20 --max-cost none',
  );
