/** A chat model behind any provider. Adapters throw `ModelError`; a reply that is not usable JSON is still a reply. */
import type { Role } from '..';
import type { ChatMessage, ModelReply } from '../model-call';

export type { ChatMessage, ModelReply };

export interface ModelRequest {
  readonly role: Role;
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly temperature: number;
  readonly topP: number;
  readonly maxOutputTokens: number;
  readonly seed: number;
  /** JSON schema of the reply, with a name; sent as structured output where the endpoint supports it. */
  readonly schema: { readonly name: string; readonly schema: Record<string, unknown> };
}

export interface LanguageModel {
  complete(request: ModelRequest, options: { readonly signal: AbortSignal }): Promise<ModelReply>;
  /** Host (and port) that receives the prompts and so the rows in them, for the notice of the first run. */
  readonly endpoint: string;
  /** Models whose replies a recording holds; left out where the model is no recording. */
  readonly models?: readonly string[];
}

export type ModelErrorCode =
  | 'rate-limited'
  | 'server-error'
  | 'connection'
  | 'timeout'
  | 'authentication'
  | 'unknown-model'
  /** What no waiting mends, such as a web page or a 501; a few tries, because a gateway that starts may send one. */
  | 'bad-answer'
  | 'bad-request'
  | 'context-too-long'
  | 'not-configured'
  | 'recording-mismatch'
  | 'recording-ended';

export class ModelError extends Error {
  constructor(
    readonly code: ModelErrorCode,
    message: string,
    readonly options: {
      readonly retryAfterMs?: number;
      readonly cause?: unknown;
      /** No connection was made, so nobody was asked. */
      readonly unsent?: true;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'ModelError';
  }
}
