/**
 * How errors of workflows become failures in the history. A message may quote what a step came upon, so with encryption
 * on, messages and stack traces travel as payloads, which are encrypted; with it off they stay readable in the UI.
 *
 * The bundle is built once for both: the worker that loads it sets the mode (`workers/workflow-bundle.ts`). Failures of
 * either kind are understood in both.
 */
import { DefaultFailureConverter } from '@temporalio/common';

const MODE: string = 'gate-failures-plain';

export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: MODE.endsWith('encoded') });
