import type { MemoryRef, ModelOutcome } from '../ports/search-steps';
import type { Findings } from './findings';

export interface Tried<T> {
  readonly value: T;
  /** The execution error that remained after the last try, if any. */
  readonly error: string | null;
}

/** The part of a model step's input that differs from try to try. */
interface Try {
  readonly tryNumber: number;
  readonly executionError?: string;
  readonly memory: MemoryRef;
}

/**
 * A model step with its retries. After an unusable reply, or one that fails in `accept` when executed, the model is asked
 * again with the exact error (paper, App. B.4). Every try is charged. Null if no try gave a usable reply. If the search is
 * stopped between two tries, the last usable reply is kept, since it is paid for.
 */
export async function tryModel<T>(
  findings: Findings,
  ask: (thisTry: Try) => Promise<ModelOutcome<T>>,
  accept: (value: T, tryNumber: number) => Promise<string | null> = () => Promise.resolve(null),
): Promise<Tried<T> | null> {
  let last: Tried<T> | null = null;
  let error: string | null = null;
  // A later try repeats the conversation of the first.
  let memory: MemoryRef | null = null;
  for (let tryNumber = 0; tryNumber <= findings.context.settings.parseRetries; tryNumber++) {
    if (last !== null && findings.stopped('model') !== null) return last;
    await findings.mayAsk();
    const failed = error === null ? {} : { executionError: error };
    memory ??= findings.memory();
    const outcome = await ask({ tryNumber, ...failed, memory });
    findings.heard(outcome, tryNumber + 1, memory);
    error = null;
    if (outcome.kind === 'invalid') continue;
    error = await accept(outcome.value, tryNumber);
    last = { value: outcome.value, error };
    if (error === null) return last;
  }
  return last;
}

/** One without execution. Null, and recorded as given up, if no reply could be used. */
export async function askModel<T>(
  findings: Findings,
  { position, what }: { readonly position: string; readonly what: string },
  ask: (thisTry: Try) => Promise<ModelOutcome<T>>,
): Promise<T | null> {
  const tried = await tryModel<T>(findings, ask);
  if (tried === null) findings.giveUp(position, what);
  return tried?.value ?? null;
}
