/**
 * How much a question may say. Checked where the text comes in, before anything is opened or paid: a file that was piped
 * by mistake would otherwise go to the model whole, with every call. Each check gives null, or one line that names the limit.
 */
export const QUESTION_CHARS = 8_000;
/** Of context and instructions together. */
export const CONTEXT_CHARS = 32_000;

export function questionProblem(text: string): string | null {
  return textProblem('question', text) ?? tooLong('question', text.trim().length, QUESTION_CHARS);
}

/** Of what is told beside the question. */
export function contextProblem(context: string | null, instructions: string | null): string | null {
  const chars = (context?.length ?? 0) + (instructions?.length ?? 0);
  return (
    textProblem('context', context ?? '') ??
    textProblem('instructions', instructions ?? '') ??
    tooLong('context with its instructions', chars, CONTEXT_CHARS)
  );
}

/** A byte 0, or what is no UTF-8: bytes that reading turned into U+FFFD, half of a pair that stands alone. */
export function textProblem(what: string, text: string): string | null {
  const isBinary = text.includes('\u0000') || text.includes('\ufffd') || /\p{Surrogate}/u.test(text);
  return isBinary ? `the ${what} is not plain text: it holds a byte 0, or bytes that are not UTF-8` : null;
}

function tooLong(what: string, chars: number, limit: number): string | null {
  return chars > limit
    ? `the ${what} is too long: at most ${limit.toLocaleString('en-US')} characters are allowed`
    : null;
}
