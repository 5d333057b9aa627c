/**
 * Writes down every exchange with a model (`--record FILE`).
 *
 * 1. One line per exchange, appended in one write, one after the other, whatever runs side by side in this process.
 * 2. If the recording cannot be written, the search stops before the next paid call. The current reply is still returned.
 * 3. An existing recording is continued; any other existing file is left as it is, with an error.
 */
import { appendFile, open, type FileHandle } from 'node:fs/promises';
import { ModelError, type LanguageModel, type ModelReply, type ModelRequest } from '../../domain/ports';
import { errorCode } from '../local/keys';
import { contentHash, RECORDING_KIND, RecordingHeader, type Exchange } from './exchange';

export interface RecordingOptions {
  /** How the replies are made, for the header; the endpoint by default. */
  readonly note?: string;
  /** Which run of a comparison asks. */
  readonly scope?: string;
}

export interface RecordingModel extends LanguageModel {
  /** Waits until everything is on disk. */
  flush(): Promise<void>;
}

export function recordingModel(inner: LanguageModel, file: string, options: RecordingOptions = {}): RecordingModel {
  const note = options.note ?? noteOf(inner);
  let opened: Promise<void> | null = null;
  let tail: Promise<void> = Promise.resolve();
  let failure: ModelError | null = null;

  const append = (line: string): Promise<void> => {
    tail = tail.then(async () => {
      if (failure !== null) return;
      try {
        await appendFile(file, line);
      } catch (error) {
        failure = notWritable(file, error);
      }
    });
    return tail;
  };

  return {
    endpoint: inner.endpoint,
    async complete(request, callOptions) {
      opened ??= prepareRecording(file, note);
      await opened;
      if (failure !== null) throw failure;
      const reply = await inner.complete(request, callOptions);
      const scope = options.scope === undefined ? {} : { scope: options.scope };
      await append(`${JSON.stringify({ ...scope, ...exchangeOf(request, reply) })}\n`);
      return reply;
    },
    async flush() {
      await tail;
      if (failure !== null) throw failure;
    },
  };
}

export function noteOf({ endpoint }: Pick<LanguageModel, 'endpoint'>): string {
  return `replies of the model endpoint ${endpoint}`;
}

function exchangeOf({ role, seed, messages }: ModelRequest, reply: ModelReply): Exchange {
  return {
    ...(seed === 0 ? {} : { seed }),
    role,
    contentHash: contentHash(role, messages),
    messages: messages.map(({ role, content }) => ({ role, content })),
    reply,
  };
}

/** Writes the header of a new recording, or makes sure that an existing file is one and ends with a whole line. */
export async function prepareRecording(file: string, note: string): Promise<void> {
  let handle: FileHandle;
  try {
    handle = await open(file, 'a+', 0o600);
  } catch (error) {
    throw notWritable(file, error);
  }
  try {
    const text = await handle.readFile('utf8');
    if (text === '') {
      const header: RecordingHeader = { schemaVersion: 1, kind: RECORDING_KIND, note };
      await handle.appendFile(`${JSON.stringify(header)}\n`);
      return;
    }
    if (!isRecording(text)) {
      throw new ModelError('not-configured', `${file} exists and is not a recording: give --record another file`);
    }
    if (!text.endsWith('\n')) {
      throw new ModelError(
        'not-configured',
        `${file} ends in the middle of a line: remove that line or give --record another file`,
      );
    }
  } finally {
    await handle.close();
  }
}

function isRecording(text: string): boolean {
  try {
    return RecordingHeader.safeParse(JSON.parse(text.slice(0, text.indexOf('\n')))).success;
  } catch {
    return false;
  }
}

function notWritable(file: string, cause: unknown): ModelError {
  const why = errorCode(cause) ?? String(cause);
  return new ModelError(
    'not-configured',
    `The recording ${file} cannot be written (${why}): give --record a writable file`,
    { cause },
  );
}
