/**
 * How long an endpoint asks to wait, in milliseconds: `retry-after-ms`, else `retry-after` in seconds or as an HTTP date.
 * A wait of zero, in the past or unreadable is no wait. One over 60 s is capped there: the caller asks again and is told
 * the rest, so a bad header cannot park a search for a day.
 */
export const MAX_RETRY_AFTER_MS = 60_000;

export function retryAfterMs(headers: Headers | undefined, nowMs: number): number | undefined {
  if (headers === undefined) return undefined;
  const asked = [
    numeric(headers.get('retry-after-ms')),
    scaled(numeric(headers.get('retry-after')), 1000),
    untilDate(headers.get('retry-after'), nowMs),
  ].find((value) => value !== undefined && value > 0);
  return asked === undefined ? undefined : Math.min(Math.ceil(asked), MAX_RETRY_AFTER_MS);
}

function numeric(text: string | null): number | undefined {
  return text !== null && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}

function scaled(value: number | undefined, factor: number): number | undefined {
  return value === undefined ? undefined : value * factor;
}

/** HTTP dates start with the name of a day; without that check `Date.parse` reads '-5' as a month. */
function untilDate(text: string | null, nowMs: number): number | undefined {
  if (text === null || !/^\s*[A-Z][a-z]{2}/.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at - nowMs;
}
