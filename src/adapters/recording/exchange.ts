/**
 * The file format of recordings: JSON lines, a header and then one exchange per line. An exchange is found by its role and
 * the hash of its messages. The model's name is not compared, so a recording can be replayed with any configured model.
 * Keys never reach this format: it holds messages and replies, not requests on the wire.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { Role } from '../../domain';
import { ChatMessage, ModelReply } from '../../domain/model-call';

export const RECORDING_KIND = 'gate-recording';

export const RecordingHeader = z.object({
  schemaVersion: z.literal(1),
  kind: z.literal(RECORDING_KIND),
  /** How the replies were made: by which model, or by hand. */
  note: z.string(),
});
export type RecordingHeader = z.infer<typeof RecordingHeader>;

export const Exchange = z.object({
  /** Which run of a comparison asked, where one file holds several. */
  scope: z.string().optional(),
  /** Left out: 0. Calls with the same words that run side by side differ by it. */
  seed: z.number().optional(),
  role: Role,
  contentHash: z.string().regex(/^[0-9a-f]{64}$/),
  messages: z.array(ChatMessage),
  reply: ModelReply,
});
export type Exchange = z.infer<typeof Exchange>;

/** Hash of role and messages. */
export function contentHash(role: Role, messages: readonly ChatMessage[]): string {
  const content = JSON.stringify([role, messages.map((message) => [message.role, message.content])]);
  return createHash('sha256').update(content).digest('hex');
}

/** Where two texts first differ, with a short excerpt of both, on one line. */
export function firstDifference(recorded: readonly ChatMessage[], asked: readonly ChatMessage[]): string {
  const [before, now] = [asText(recorded), asText(asked)];
  let at = 0;
  while (at < before.length && at < now.length && before[at] === now[at]) at += 1;
  return `first difference at character ${at}: recorded ${excerpt(before, at)}, asked ${excerpt(now, at)}`;
}

function asText(messages: readonly ChatMessage[]): string {
  return messages.map((message) => `${message.role}: ${message.content}`).join('\n');
}

function excerpt(text: string, at: number): string {
  if (at >= text.length) return 'the end of the text';
  const from = Math.max(0, at - 20);
  const to = Math.min(text.length, at + 40);
  return `${from > 0 ? '…' : ''}${JSON.stringify(text.slice(from, to))}${to < text.length ? '…' : ''}`;
}
