/** A model that turns texts into vectors; texts with similar meaning get near vectors. Adapters throw `ModelError`. */
export interface Embedded {
  /** One per text, in their order, all of the same length. */
  readonly vectors: readonly (readonly number[])[];
  readonly tokens: number;
  /** US dollars by the price table; 0 for an unpriced model. */
  readonly costUsd: number;
}

export interface Embedder {
  /** The name of the model; vectors of different models cannot be compared. */
  readonly model: string;
  /** Host (and port) that receives the texts. */
  readonly endpoint: string;
  /** Texts of one request at most. */
  readonly batchSize: number;
  /** How long one request may take; left out: not said. */
  readonly requestTimeoutMs?: number;
  embed(texts: readonly string[], options: { readonly signal: AbortSignal }): Promise<Embedded>;
}
