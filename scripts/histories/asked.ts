/**
 * What today's code asks for when it replays a history. Temporal compares types and order of activities only, and keeps no
 * input of a local one, so the steps themselves are compared with the list that was written when the history was recorded.
 */
import type { Payload, PayloadCodec } from '@temporalio/common';
import { Worker, type ReplayWorkerOptions } from '@temporalio/worker';
import { dataConverter } from '../../src/workers/payloads';
import { stepIn, type HistoryJson } from './history';

/** Rejects when the code would not have done what the history says. */
export async function askedSteps(
  history: HistoryJson,
  workflowBundle: NonNullable<ReplayWorkerOptions['workflowBundle']>,
): Promise<string[]> {
  const steps: string[] = [];
  const payloadCodecs = [listener((payload) => steps.push(...stepIn(payload))), ...(dataConverter.payloadCodecs ?? [])];
  await Worker.runReplayHistory({ workflowBundle, dataConverter: { ...dataConverter, payloadCodecs } }, history);
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
