/** The search in this process, nothing durable but the store: what durability is measured against. */
import { loop, type OpenContestant } from './contestant';

export const open: OpenContestant = (_config, { steps }) =>
  Promise.resolve({ run: (input) => loop(input, steps), close: () => Promise.resolve() });
