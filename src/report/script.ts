/**
 * The only script of a report: it shows the copy buttons and makes them work. Everything else on the page works without
 * it, and the page's policy allows this text and no other (by its hash). Rows are copied with tabs between the cells, which
 * spreadsheets and chats take as a table.
 */
import { markup, type Html } from './html';

/** Of the text of the element `target`, or of the CSV file that it links to. */
export function copyButton(target: string, label: string): Html {
  return markup`<button type="button" class="button" data-copy="${target}" hidden>${label}</button>`;
}

export const SCRIPT = `
const tabbed = (csv) => csv.replace(/^\\ufeff/, '').replace(/("(?:[^"]|"")*"|[^",\\r\\n]*)(,|\\r\\n|$)/g, (_, cell, end) => {
  const plain = cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell;
  return (/[\\t\\r\\n"]/.test(plain) ? '"' + plain.replaceAll('"', '""') + '"' : plain) + (end === ',' ? '\\t' : end && '\\n');
});
const textOf = (source) => source.href
  ? tabbed(new TextDecoder().decode(Uint8Array.from(atob(source.href.split(',')[1]), (byte) => byte.charCodeAt(0))))
  : source.textContent;
const byHand = (text) => {
  const area = document.body.appendChild(document.createElement('textarea'));
  area.value = text;
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  return done;
};
const copy = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return byHand(text);
  }
};
for (const button of document.querySelectorAll('button[data-copy]')) {
  const label = button.textContent;
  button.setAttribute('aria-live', 'polite');
  button.hidden = false;
  button.addEventListener('click', async () => {
    button.textContent = (await copy(textOf(document.getElementById(button.dataset.copy)))) ? 'Copied' : 'Not allowed here';
    setTimeout(() => (button.textContent = label), 2000);
  });
}
`.trim();
