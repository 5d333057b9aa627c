/** The web: a search provider and the pages behind its results. JSON-safe in and out; adapters throw `WebError`. */
export interface SearchResult {
  readonly title: string;
  readonly url: string;
  /** Plain text, as the provider gives it. */
  readonly snippet: string;
}

export interface WebPage {
  /** Where the text came from, after redirects. */
  readonly url: string;
  readonly title: string | null;
  /** Readable text; of a page the main part, with a few links. */
  readonly text: string;
  readonly contentType: string;
  /** There was more than the limits let through. */
  readonly truncated: boolean;
}

export interface WebOptions {
  readonly signal: AbortSignal;
}

export interface Web {
  search(query: string, options: WebOptions): Promise<SearchResult[]>;
  fetch(url: string, options: WebOptions): Promise<WebPage>;
}

export type WebErrorCode =
  /** May pass: worth another try. */
  | 'connection'
  | 'timeout'
  | 'rate-limited'
  | 'server-error'
  /** The provider: its key, its configuration, its reply. */
  | 'authentication'
  | 'not-configured'
  /** Its message says what a person has to change. */
  | 'misconfigured'
  | 'bad-answer'
  /** The page: forbidden by our rules, by its own, not there, or not to be read as text. */
  | 'refused'
  | 'robots'
  | 'not-found'
  | 'unsupported';

export class WebError extends Error {
  constructor(
    readonly code: WebErrorCode,
    message: string,
    readonly options: { readonly retryAfterMs?: number; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'WebError';
  }
}
