/** Messages and stack traces of failures as payloads, so that the codec encrypts them; loaded by path (`payloads.ts`). */
import { DefaultFailureConverter } from '@temporalio/common';

export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
