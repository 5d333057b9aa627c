/**
 * A recorded history as a file: Temporal's own JSON, so that `temporal workflow` and the UI can read it too. Data about the
 * recording machine that a replay does not need (worker identities, private queues, stack traces) is removed.
 */
import type { Payload } from '@temporalio/common';
import { historyToJSON, JSONToPayload, type History } from '@temporalio/common/lib/proto-utils';
import { CompressingCodec } from '../../src/workers/payloads';

export interface HistoryJson {
  readonly events: readonly EventJson[];
}

export interface EventJson {
  readonly eventId: string;
  readonly eventType: string;
  readonly activityTaskScheduledEventAttributes?: {
    readonly activityType: { readonly name: string };
    readonly input: { readonly payloads: readonly object[] };
  };
}

export function toCleanJson(history: History): HistoryJson {
  return JSON.parse(historyToJSON(history), withoutMachine) as HistoryJson;
}

/** An event a line: small, and a difference can be read. */
export function toText({ events }: HistoryJson): string {
  return `{"events":[\n${events.map((event) => JSON.stringify(event)).join(',\n')}\n]}\n`;
}

function withoutMachine(key: string, value: unknown): unknown {
  if (key === 'identity') return 'worker';
  if (key === 'stackTrace') return '';
  if (isRecord(value) && value['kind'] === 'TASK_QUEUE_KIND_STICKY') return { ...value, name: 'sticky' };
  return value;
}

/** Everything a person could read in it: the JSON with its payloads decoded. */
export async function readableText(history: HistoryJson): Promise<string> {
  const encoded: Payload[] = [];
  JSON.stringify(history, (_key, value: unknown) => {
    if (isRecord(value) && isRecord(value['metadata']) && 'encoding' in value['metadata'])
      encoded.push(JSONToPayload(value));
    return value;
  });
  const decoded = await new CompressingCodec(false).decode(encoded);
  return [JSON.stringify(history), ...decoded.map(({ data }) => Buffer.from(data ?? []).toString())].join('\n');
}

/** Absolute paths, addresses and keys in a text: no history may contain any (design D7). */
export function privateParts(text: string): string[] {
  const found = text.match(
    /(?<![\w.:/*+-])\/(?:root|home|tmp|work|var|Users|private|opt|usr)\/[\w./-]+|[A-Z]:\\[\w\\]+|\b\d+@[\w.-]+|\b(?:postgres(?:ql)?|https?):\/\/[^\s"\\]+|\bsk-[\w-]{8,}|\b127\.0\.0\.1:\d+/g,
  );
  return [...new Set(found ?? [])];
}

/** The steps of a search in the order in which they were asked for: `callModel ground i1.t0.s1.a1.ground try 0`. */
export async function recordedSteps(history: HistoryJson): Promise<string[]> {
  const steps: string[] = [];
  for (const { activityTaskScheduledEventAttributes: scheduled } of history.events) {
    if (scheduled === undefined) continue;
    const payloads = await new CompressingCodec(false).decode(scheduled.input.payloads.map(JSONToPayload));
    steps.push(...payloads.flatMap(stepIn));
  }
  return steps;
}

/** Empty for a payload that is no input of a step. */
export function stepIn({ data }: Payload): string[] {
  const text = Buffer.from(data ?? []).toString();
  const value: unknown = text.startsWith('{') ? JSON.parse(text) : null;
  if (!isRecord(value) || !('position' in value)) return [];
  const kind = value['role'] ?? value['purpose'];
  if (typeof kind !== 'string' || typeof value['position'] !== 'string') return [];
  const tries = 'tryNumber' in value ? ` try ${Number(value['tryNumber'])}` : '';
  return [`${kind} ${value['position']}${tries}`];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
