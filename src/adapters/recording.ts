/**
 * Recordings of what models were asked and said: written with `--record FILE`, answered from with `--replay FILE`.
 *
 * A recording is JSON lines: a header and then one exchange per line. An exchange is found by its role and the hash of its
 * messages. The model's name is not compared, so a recording can be replayed with any configured model. Keys never reach this
 * format: it holds messages and replies, not requests on the wire.
 */
import { appendFile, open, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import pLimit from 'p-limit';
import * as z from 'zod';
import { counted } from '../counted';
import { Role } from '../domain';
import { ChatMessage, ModelReply } from '../domain/model-call';
import { ModelError, type LanguageModel, type ModelRequest } from '../domain/ports';
import { parsedJson } from '../json';
import { sha256 } from '../sha256';
import { errorCode } from './local/keys';

export const RECORDING_KIND = 'gate-recording';

/** `note`: how the replies were made. */
const Header = z.object({ schemaVersion: z.literal(1), kind: z.literal(RECORDING_KIND), note: z.string() });

const Exchange = z.object({
  /** Which run of a comparison asked, where one file holds several. */
  scope: z.string().optional(),
  /** Left out: 0. Calls with the same words that run side by side differ by it. */
  seed: z.number().optional(),
  role: Role,
  contentHash: z.string(),
  messages: z.array(ChatMessage),
  reply: ModelReply,
});
export type Exchange = z.infer<typeof Exchange>;

/** Hash of role and messages. */
export function contentHash(role: Role, messages: readonly ChatMessage[]): string {
  return sha256(JSON.stringify([role, messages.map((message) => [message.role, message.content])]));
}

/**
 * Writes down every exchange: one line each, appended in one write, one after the other, whatever runs side by side. If the
 * recording cannot be written, the search stops before the next paid call; the current reply is still returned.
 *
 * `scope`: which run of a comparison asks. `note`: how the replies are made.
 */
export function recordingModel(
  inner: LanguageModel,
  file: string,
  { scope, note = noteOf(inner) }: { readonly scope?: string; readonly note?: string } = {},
): LanguageModel {
  const oneByOne = pLimit(1);
  let prepared: Promise<void> | null = null;
  let failure: ModelError | null = null;
  const append = async (exchange: Exchange): Promise<void> => {
    if (failure === null) await appendFile(file, `${JSON.stringify(exchange)}\n`);
  };
  return {
    endpoint: inner.endpoint,
    async complete(request, options) {
      await (prepared ??= prepareRecording(file, note));
      if (failure !== null) throw failure;
      const reply = await inner.complete(request, options);
      const { role, seed } = request;
      const messages = request.messages.map(({ role: from, content }) => ({ role: from, content }));
      const contentHashed = { role, contentHash: contentHash(role, messages), messages, reply };
      const exchange = { ...(scope !== undefined && { scope }), ...(seed !== 0 && { seed }), ...contentHashed };
      await oneByOne(append, exchange).catch((error: unknown) => {
        failure = notWritable(file, error);
      });
      return reply;
    },
  };
}

export function noteOf({ endpoint }: Pick<LanguageModel, 'endpoint'>): string {
  return `replies of the model endpoint ${endpoint}`;
}

/**
 * Writes the header of a new recording. An existing one is continued if it ends with a whole line; any other existing file is
 * left as it is, with an error.
 */
export async function prepareRecording(file: string, note: string): Promise<void> {
  const handle = await open(file, 'a+', 0o600).catch((error: unknown) => {
    throw notWritable(file, error);
  });
  try {
    const text = await handle.readFile('utf8');
    if (text === '') {
      const header = { schemaVersion: 1, kind: RECORDING_KIND, note };
      await handle.appendFile(`${JSON.stringify(header)}\n`);
    } else if (!Header.safeParse(parsedJson(text.split('\n', 1)[0] ?? '')).success) {
      throw new ModelError('not-configured', `${file} exists and is not a recording: give --record another file`);
    } else if (!text.endsWith('\n')) {
      const fix = 'remove that line or give --record another file';
      throw new ModelError('not-configured', `${file} ends in the middle of a line: ${fix}`);
    }
  } finally {
    await handle.close();
  }
}

function notWritable(file: string, cause: unknown): ModelError {
  const why = errorCode(cause) ?? String(cause);
  const message = `The recording ${file} cannot be written (${why}): give --record a writable file`;
  return new ModelError('not-configured', message, { cause });
}

interface Recorded extends Exchange {
  /** From 1, among all exchanges of the file. */
  readonly number: number;
  used: boolean;
}

/**
 * Answers from a recording, matched by role, content and occurrence (design D2): the n-th request with the same role and
 * messages gets the n-th recorded reply to them, in whatever order requests arrive; replies that were recorded with its seed
 * come first. A request that was not recorded is an error that says where it first differs from what was expected; nothing is
 * invented. Where a file holds several runs of a comparison, each run is answered by its own exchanges (`scope`). Tokens and
 * cost are those of the recording, so that budgets end a replayed search where they ended the recorded one.
 */
export async function replayModel(file: string, scope?: string): Promise<LanguageModel> {
  const recorded = (await readRecording(file)).exchanges
    .map((exchange, index): Recorded => ({ ...exchange, number: index + 1, used: false }))
    .filter((one) => scope === undefined || one.scope === undefined || one.scope === scope);
  return {
    endpoint: `recording ${basename(file)}`,
    models: [...new Set(recorded.map(({ reply }) => reply.model))].sort(),
    // eslint-disable-next-line @typescript-eslint/require-await -- a throw has to become a rejection
    complete: async (request, { signal }) => {
      signal.throwIfAborted();
      const hash = contentHash(request.role, request.messages);
      const same = recorded.filter((one) => !one.used && one.contentHash === hash);
      const match = same.find(({ seed = 0 }) => seed === request.seed) ?? same[0];
      if (match === undefined) throw noReply(request, hash, recorded, file);
      match.used = true;
      return match.reply;
    },
  };
}

function noReply(request: ModelRequest, hash: string, recorded: readonly Recorded[], file: string): ModelError {
  const { role } = request;
  const ofRole = recorded.filter((one) => one.role === role);
  const expected = ofRole.find((one) => !one.used);
  const call = ofRole.filter((one) => one.used).length + 1;
  if (expected === undefined) {
    const held = `${file} holds ${counted(ofRole.length, 'exchange')} of role "${role}"`;
    return new ModelError('recording-ended', `${held}, and call ${call} asks for another: record again with --record`);
  }
  const times = ofRole.filter((one) => one.contentHash === hash).length;
  const difference =
    times > 0
      ? `the same request was recorded ${times} times and is asked once more`
      : firstDifference(expected.messages, request.messages);
  const where = `call ${call} of role "${role}" (exchange ${expected.number})`;
  const message = `the recording ${file} does not match this search at ${where}: ${difference}; record again with --record`;
  return new ModelError('recording-mismatch', message);
}

/** Where two texts first differ, with a short excerpt of both, on one line. */
function firstDifference(recorded: readonly ChatMessage[], asked: readonly ChatMessage[]): string {
  const asText = (messages: readonly ChatMessage[]): string =>
    messages.map((message) => `${message.role}: ${message.content}`).join('\n');
  const [before, now] = [asText(recorded), asText(asked)];
  let at = 0;
  while (at < before.length && before[at] === now[at]) at += 1;
  const excerpt = (text: string): string => JSON.stringify(text.slice(Math.max(0, at - 20), at + 40));
  return `first difference at character ${at}: recorded …${excerpt(before)}…, asked …${excerpt(now)}…`;
}

/** Reads a whole recording; a file that is none, or is damaged, is one line that says which line and why. */
export async function readRecording(
  file: string,
): Promise<{ readonly note: string; readonly exchanges: readonly Exchange[] }> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    const why = errorCode(error) === 'ENOENT' ? 'it does not exist' : (errorCode(error) ?? String(error));
    const message = `The recording ${file} cannot be read (${why}): give --replay a file made by --record`;
    throw new ModelError('not-configured', message, { cause: error });
  });
  const damaged = (line: number, why: string): ModelError =>
    new ModelError(
      'recording-mismatch',
      `${file} cannot be replayed, line ${line}: ${why}; give --replay a file made by --record`,
    );
  const [header, ...lines] = text.split('\n');
  const head = Header.safeParse(parsedJson(header ?? '')).data;
  if (head === undefined) throw damaged(1, 'it is not the header of a recording');
  const exchanges = lines.flatMap((line, index) => {
    if (line.trim() === '') return [];
    const json = parsedJson(line);
    if (json === null) throw damaged(index + 2, 'it is not JSON');
    const { data, error } = Exchange.safeParse(json);
    const [issue] = error?.issues ?? [];
    if (data === undefined) throw damaged(index + 2, `${issue?.path.join('.')}: ${issue?.message}`);
    if (data.contentHash !== contentHash(data.role, data.messages))
      throw damaged(index + 2, 'its hash does not fit its messages (edited by hand?)');
    return [data];
  });
  return { note: head.note, exchanges };
}
