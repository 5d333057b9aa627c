/** Null of a text that is no JSON. The parser's own message would quote the text. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
