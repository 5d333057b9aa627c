/** What is wrong in a file of documentation, and where. */
export class DocumentationError extends Error {
  override readonly name = 'DocumentationError';
  constructor(
    readonly file: string,
    /** From 1; null where the whole file is meant. */
    readonly line: number | null,
    readonly problem: string,
    options: { readonly cause?: unknown } = {},
  ) {
    super(`${file}${line === null ? '' : `:${line}`}: ${problem}`, options);
  }
}
