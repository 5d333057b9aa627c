/** `gate batch run --events`: everything on stderr as lines of JSON, for programs. The schema is in docs/schemas. */
import { z } from 'zod';
import { BatchFigures } from './batch-figures';
import { ResultLine } from './batch-results';

const at = z.string().describe('when, ISO 8601');
const ended = ResultLine.pick({ id: true, searchId: true, database: true, status: true, verdict: true, error: true });

export const BatchEvent = z.discriminatedUnion('event', [
  z.object({ event: z.literal('started'), at, batchId: z.string(), name: z.string(), ...BatchFigures.shape }),
  ended.extend({
    event: z.literal('ended'),
    at,
    calls: z.number().int().nullable(),
    costUsd: z.number().nullable(),
    wallMs: z.number().nullable(),
  }),
  z.object({
    event: z.literal('progress').describe('at least every ten seconds'),
    at,
    paused: z.boolean(),
    ...BatchFigures.shape,
  }),
  z.object({ event: z.literal('note'), at, text: z.string().describe('a line for people') }),
  z.object({ event: z.literal('stopped').describe('the command follows no longer'), at, ...BatchFigures.shape }),
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
  const err = (text: string): void => {
    for (const line of text.split('\n')) if (line.trim() !== '') emit({ event: 'note', text: line });
  };
  return { ...io, live: false, err, emit };
}
