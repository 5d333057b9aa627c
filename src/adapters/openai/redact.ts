/**
 * Removes the key from an endpoint's message. A key of one to three characters ("x", as used for local servers) may also be
 * part of ordinary words, so it is removed only where it stands as a value. Removing it everywhere would make the message
 * unreadable and reveal the key.
 */
const TINY = 3;
const SHORT = 7;

export function withoutKey(message: string, apiKey: string | null): string {
  const plain = apiKey === null || apiKey === '' ? message : withoutValue(message, apiKey);
  return plain.replace(/\b(sk|pk|key)-[\w*-]{4,}[\w*.-]*/g, '[key]');
}

function withoutValue(message: string, key: string): string {
  if (key.length > SHORT) return message.replaceAll(key, '[key]');
  const literal = key.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  const before =
    key.length > TINY ? '(?<![A-Za-z0-9])' : '(?<=(?:key|token|bearer|provided)["\'`]?\\s*[:=]?\\s*["\'`]?)';
  return message.replace(new RegExp(`${before}${literal}(?![A-Za-z0-9])`, key.length > TINY ? 'g' : 'gi'), '[key]');
}
