/**
 * Answers from a recording (`--replay FILE`), matched by role, content and occurrence (design D2): the n-th request with
 * the same role and messages gets the n-th recorded reply to them, in whatever order requests arrive; replies that were
 * recorded with its seed come first. A request that was not recorded is an error that says where it first differs from
 * what was expected; nothing is invented. Where a file holds several runs of a comparison, each run is answered by its own
 * exchanges (`scope`), whatever their order.
 * Tokens and cost are those of the recording, so that budgets end a replayed search where they ended the recorded one.
 */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { z } from 'zod';
import type { Role } from '../../domain';
import { ModelError, type LanguageModel, type ModelRequest } from '../../domain/ports';
import { errorCode } from '../local/keys';
import { contentHash, Exchange, firstDifference, RecordingHeader } from './exchange';

export interface ReplayModel extends LanguageModel {
  readonly header: RecordingHeader;
  /** Models whose replies the recording holds. */
  readonly models: readonly string[];
  /** Exchanges not asked for yet. */
  remaining(): number;
}

interface Recorded {
  readonly exchange: Exchange;
  /** From 1, among all exchanges of the file. */
  readonly number: number;
  used: boolean;
}

export async function replayModel(file: string, scope?: string): Promise<ReplayModel> {
  const { header, exchanges } = await readRecording(file);
  const recorded = exchanges
    .map((exchange, index): Recorded => ({ exchange, number: index + 1, used: false }))
    .filter(({ exchange }) => scope === undefined || exchange.scope === undefined || exchange.scope === scope);
  return {
    endpoint: `recording ${basename(file)}`,
    header,
    models: [...new Set(recorded.map(({ exchange }) => exchange.reply.model))].sort(),
    remaining: () => recorded.filter((one) => !one.used).length,
    complete: async (request, { signal }) => {
      signal.throwIfAborted();
      const hash = contentHash(request.role, request.messages);
      const same = recorded.filter(
        (one) => !one.used && one.exchange.role === request.role && one.exchange.contentHash === hash,
      );
      const match = same.find(({ exchange }) => (exchange.seed ?? 0) === request.seed) ?? same[0];
      if (match === undefined) throw noReply(request, hash, recorded, file);
      match.used = true;
      return Promise.resolve(match.exchange.reply);
    },
  };
}

function noReply(request: ModelRequest, hash: string, recorded: readonly Recorded[], file: string): ModelError {
  const ofRole = recorded.filter((one) => one.exchange.role === request.role);
  const expected = ofRole.find((one) => !one.used);
  const call = ofRole.filter((one) => one.used).length + 1;
  if (expected === undefined) {
    return new ModelError(
      'recording-ended',
      `${file} holds ${count(ofRole.length, request.role)}, and call ${call} asks for another: record again with --record`,
    );
  }
  const sameContent = ofRole.filter((one) => one.exchange.contentHash === hash).length;
  const difference =
    sameContent > 0
      ? `the same request was recorded ${sameContent} times and is asked once more`
      : firstDifference(expected.exchange.messages, request.messages);
  const where = `call ${call} of role "${request.role}" (exchange ${expected.number})`;
  return new ModelError(
    'recording-mismatch',
    `the recording ${file} does not match this search at ${where}: ${difference}; record again with --record`,
  );
}

function count(exchanges: number, role: Role): string {
  return exchanges === 1 ? `1 exchange of role "${role}"` : `${exchanges} exchanges of role "${role}"`;
}

/** Reads a whole recording; a file that is none, or is damaged, is one line that says which line and why. */
export async function readRecording(file: string): Promise<{ header: RecordingHeader; exchanges: Exchange[] }> {
  const lines = (await contentOf(file)).split('\n');
  const header = parseLine(RecordingHeader, lines[0] ?? '', file, 1);
  const exchanges: Exchange[] = [];
  for (const [index, line] of lines.entries()) {
    if (index === 0 || line.trim() === '') continue;
    const exchange = parseLine(Exchange, line, file, index + 1);
    if (exchange.contentHash !== contentHash(exchange.role, exchange.messages)) {
      throw damaged(file, index + 1, 'its hash does not fit its messages (edited by hand?)');
    }
    exchanges.push(exchange);
  }
  return { header, exchanges };
}

async function contentOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const why = errorCode(error) ?? String(error);
    const fix = why === 'ENOENT' ? 'it does not exist' : why;
    throw new ModelError(
      'not-configured',
      `The recording ${file} cannot be read (${fix}): give --replay a file made by --record`,
      { cause: error },
    );
  }
}

function parseLine<T extends z.ZodType>(schema: T, line: string, file: string, number: number): z.output<T> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw damaged(file, number, number === 1 ? 'it is not the header of a recording' : 'it is not JSON');
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const what =
    number === 1
      ? 'it is not the header of a recording'
      : `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'invalid'}`;
  throw damaged(file, number, what);
}

function damaged(file: string, line: number, why: string): ModelError {
  return new ModelError(
    'recording-mismatch',
    `${file} cannot be replayed, line ${line}: ${why}; give --replay a file made by --record`,
  );
}
