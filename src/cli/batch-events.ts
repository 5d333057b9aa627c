/** `gate batch run --events`: everything on stderr as lines of JSON, for programs. The schema is in docs/schemas. */
import { z } from 'zod';
import { BatchFigures } from './batch-figures';
import { ResultLine } from './batch-results';

const at = z.string().describe('when, ISO 8601');
const arm = z.string().optional().describe('which method, seed and set of a run; left out: it is of no single one');
const ended = ResultLine.pick({ id: true, searchId: true, database: true, status: true, verdict: true, error: true });

export const BatchEvent = z.discriminatedUnion('event', [
  z.object({ event: z.literal('started'), at, arm, batchId: z.string(), name: z.string(), ...BatchFigures.shape }),
  ended.extend({
    event: z.literal('ended'),
    ...{ at, arm },
    calls: z.number().int().nullable(),
    costUsd: z.number().nullable(),
    wallMs: z.number().nullable(),
  }),
  z.object({
    event: z.literal('progress').describe('at least every ten seconds'),
    ...{ at, arm },
    paused: z.boolean(),
    ...BatchFigures.shape,
  }),
  z.object({ event: z.literal('note'), at, arm, text: z.string().describe('a line for people') }),
  z.object({ event: z.literal('stopped').describe('the command follows no longer'), at, arm, ...BatchFigures.shape }),
]);
export type BatchEvent = Readonly<z.infer<typeof BatchEvent>>;

/** Without its time. */
export type NewEvent = BatchEvent extends infer E ? (E extends unknown ? Omit<E, 'at'> : never) : never;

interface Stderr {
  err(text: string): void;
  now(): number;
}

/** The same streams, with events on stderr: each line that is told becomes a note. */
export function withEvents<T extends Stderr>(io: T): T & { readonly emit: (event: NewEvent) => void } {
  const emit = ({ event, ...told }: NewEvent): void =>
    io.err(`${JSON.stringify({ event, at: new Date(io.now()).toISOString(), ...told })}\n`);
  return { ...io, live: false, err: asNotes(emit), emit };
}

/** The same streams for one batch of a run. */
export function ofArm<T extends Stderr>(io: T, arm: string, emit: (event: NewEvent) => void): T {
  const told = (event: NewEvent): void => emit({ ...event, arm });
  return { ...io, err: asNotes(told), emit: told };
}

function asNotes(emit: (event: NewEvent) => void): (text: string) => void {
  return (text) => {
    for (const line of text.split('\n')) if (line.trim() !== '') emit({ event: 'note', text: line });
  };
}
