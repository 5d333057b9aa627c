/** The first characters of a text, none of them half of a pair: endpoints refuse a text that holds one. */
export function clip(text: string, chars: number): string {
  const isSplit = text.length > chars && /[\ud800-\udbff]/.test(text.charAt(chars - 1));
  return text.slice(0, Math.max(0, isSplit ? chars - 1 : chars));
}
