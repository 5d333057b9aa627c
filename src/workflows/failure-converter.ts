/**
 * How errors of workflows become failures in the history. A message may quote data. So with encryption, messages and stack
 * traces are stored as payloads, which are encrypted; without it they stay readable in the UI.
 *
 * There is one bundle for both modes; the worker that loads it sets the mode (`workers/workflow-bundle.ts`). Both modes can
 * read failures of either kind.
 */
import { DefaultFailureConverter } from '@temporalio/common';

const MODE: string = 'gate-failures-plain';

export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: MODE.endsWith('encoded') });
