/**
 * The steps that the current code asks for when it replays a history. Temporal compares only types and order of activities
 * and keeps no input of local ones. So the steps are compared with the list that was written with the recording.
 */
import type { Payload, PayloadCodec } from '@temporalio/common';
import type { ReplayWorkerOptions } from '@temporalio/worker';
import { OwnThreadWorker } from '../../src/workers/own-thread-worker';
import { dataConverter } from '../../src/workers/payloads';
import { stepIn, type HistoryJson } from './history';

/** Rejects if the code does not do what the history recorded. */
export async function askedSteps(
  history: HistoryJson,
  workflowBundle: NonNullable<ReplayWorkerOptions['workflowBundle']>,
): Promise<string[]> {
  const steps: string[] = [];
  const payloadCodecs = [listener((payload) => steps.push(...stepIn(payload))), ...(dataConverter.payloadCodecs ?? [])];
  await OwnThreadWorker.runReplayHistory(
    { workflowBundle, dataConverter: { ...dataConverter, payloadCodecs } },
    history,
  );
  return steps;
}

/** A worker passes everything that a workflow sends out through its codecs, in order. */
function listener(onEncode: (payload: Payload) => void): PayloadCodec {
  return {
    encode: (payloads) => {
      payloads.forEach(onEncode);
      return Promise.resolve(payloads);
    },
    decode: (payloads) => Promise.resolve(payloads),
  };
}
