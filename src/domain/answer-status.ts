/** How a search ended. A file of its own: the list of searches loads no other part of an answer. */
import * as z from 'zod';

export const AnswerStatus = z.enum(['answered', 'unanswerable', 'abstained', 'cancelled', 'failed']);
export type AnswerStatus = z.infer<typeof AnswerStatus>;
