/** What Temporal answers where it does not do what it was asked for. */

/** The codes of gRPC that the program tells apart. */
export const GRPC = {
  cancelled: 1,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  failedPrecondition: 9,
  unimplemented: 12,
  unauthenticated: 16,
} as const;

/** Undefined of an error that is no status. */
export function grpcCode(error: unknown): unknown {
  return (error as { readonly code?: unknown }).code;
}

/** Whether an error is so, or what caused it. */
export function isInChain(error: unknown, is: (one: Error) => boolean): boolean {
  for (let at = error; at instanceof Error; at = at.cause) if (is(at)) return true;
  return false;
}

/** null: what Temporal was asked about is there no longer. */
export function unlessGone<T>(answer: Promise<T>): Promise<T | null> {
  const isGone = (error: unknown): boolean =>
    grpcCode(error) === GRPC.notFound || (error instanceof Error && error.name === 'WorkflowNotFoundError');
  return unless(answer, isGone);
}

/** null: what was to be made is there already. */
export function unlessThere<T>(answer: Promise<T>): Promise<T | null> {
  return unless(answer, (error) => grpcCode(error) === GRPC.alreadyExists);
}

async function unless<T>(answer: Promise<T>, isExpected: (error: unknown) => boolean): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (isExpected(error)) return null;
    throw error;
  }
}
