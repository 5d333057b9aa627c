/** What every command is to the program. */
import type { Command } from 'commander';
import type { ExitCode } from './errors';
import type { Io } from './io';

/** How an action hands its exit code back; commander itself knows only exceptions. */
export interface Outcome {
  code: ExitCode;
}

export type CommandFactory = (io: Io, outcome: Outcome) => Command;
