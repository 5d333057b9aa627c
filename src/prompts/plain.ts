/**
 * Text of a database, a document or a page made plain, so that a model reads what a person would see.
 *
 * 1. Its section cannot be closed or opened: also not by look-alikes of the brackets, the slash and the letters.
 * 2. Nothing is hidden: characters without a shape of their own (tags, direction marks, zero-width spaces, controls) are
 *    written out, `\u{200b}`. Joiners stay inside the scripts and emoji that need them.
 * 3. Marks by which some chat templates part system, user and assistant are no marks.
 */

/** Controls but tab and line ends, soft line ends, marks of direction, invisible spaces and operators, tags, selectors. */
const HIDDEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e01ef}]/gu;
/** They join letters of some scripts, and emoji; beside ASCII they only hide something. */
const LOOSE_JOINER = /(?<=[\t\n\r -~])[\u200c\u200d]+|(?<![\u200c\u200d])[\u200c\u200d]+(?=[\t\n\r -~]|$)/g;
const SECTION = /[<\uff1c\ufe64\u2039\u3008](?=\s*[/\uff0f\u2044\u2215\u29f8]\s*data\b|data\b)/gi;
/** The same of letters that look like them: Cyrillic, Greek, full width, with or without marks. */
const DISGUISED =
  /[<\uff1c\ufe64\u2039\u3008](?=(?:\s*[/\uff0f\u2044\u2215\u29f8])?\s*[d\u0501\uff44][\u0300-\u036f]*[aà-å\u0430\u03b1\uff41][\u0300-\u036f]*[t\u0442\u03c4\uff54][\u0300-\u036f]*[aà-å\u0430\u03b1\uff41][\u0300-\u036f]*\s*>)/gi;
const TEMPLATE = /<(?=\|[\w ]{1,40}\|>|<\/?sys>>|\/?s>|(?:start|end)_of_turn>|[be]os>)|\[(?=\/?inst\])/gi;

export function plain(text: string): string {
  return text
    .replace(HIDDEN, written)
    .replace(LOOSE_JOINER, (joiners) => joiners.replace(/./g, written))
    .replace(SECTION, '&lt;')
    .replace(DISGUISED, '&lt;')
    .replace(TEMPLATE, (mark) => (mark === '<' ? '&lt;' : '&#91;'));
}

function written(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
