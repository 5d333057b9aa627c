/** The one style sheet of a report. Colours follow the reader's scheme; text contrast is at least 4.5 to 1 in both. */
import { markup, type Html } from './html';

export const STYLE = `
:root {
  color-scheme: light dark;
  --page: #ffffff; --card: #ffffff; --ink: #1b1e23; --soft: #59626d; --line: #e1e4e8; --code: #f6f7f9; --head: #f1f3f6;
  --link: #0a58ca; --good: #146c3c; --good-bg: #e4f3ea; --bad: #a5232b; --bad-bg: #fbe9ea;
  --warn: #7a4d00; --warn-bg: #fcf1dc; --calm: #44505e; --calm-bg: #eceff3; --key: #7a2fb0; --text: #17603a;
  --c1: #2563b8; --c2: #b4530a; --c3: #12805c; --c4: #8a3ab9; --c5: #b3283f; --grid: #e6e9ed;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #15181c; --card: #1a1e23; --ink: #e7eaed; --soft: #a5aeb9; --line: #323941; --code: #1c2126; --head: #22272d;
    --link: #82b6ff; --good: #83d8a8; --good-bg: #17331f; --bad: #ff9ea3; --bad-bg: #3d1a1d;
    --warn: #f0c574; --warn-bg: #36290f; --calm: #bcc6d0; --calm-bg: #282e35; --key: #d0a1f6; --text: #97daaf;
    --c1: #6ea8f5; --c2: #f0a058; --c3: #57c9a0; --c4: #c793ee; --c5: #f58a9a; --grid: #2b3138;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; overflow-wrap: anywhere; }
main, header, nav, footer { max-width: 58rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 2.25rem; }
footer { padding-top: 2.5rem; padding-bottom: 3rem; color: var(--soft); font-size: .875rem; }
h1 { font-size: 1.9rem; line-height: 1.28; letter-spacing: -.012em; margin: .35rem 0 .9rem; font-weight: 650; text-wrap: pretty; max-width: 48rem; }
h2 { font-size: 1.25rem; line-height: 1.3; margin: 2.75rem 0 .6rem; font-weight: 650; }
h3 { font-size: 1.0625rem; line-height: 1.4; margin: 0 0 .35rem; font-weight: 600; }
h4 { font-size: .875rem; margin: 1.25rem 0 .3rem; color: var(--soft); font-weight: 600; }
p { margin: .4rem 0; max-width: 44rem; }
a { color: var(--link); text-underline-offset: .15em; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 3px; }
.soft { color: var(--soft); } .small { font-size: .875rem; }
.status { margin: 0 0 1.1rem; font-size: .875rem; }
.question { margin: 0 0 .6rem; font-size: 1.0625rem; max-width: 46rem; }
.more { white-space: pre-wrap; }
.proof { display: flex; flex-wrap: wrap; align-items: center; gap: .3rem .75rem; margin: 0 0 1.25rem; font-weight: 550; }
.gauge { display: inline-flex; gap: 3px; } .gauge span { width: 1.6rem; height: .55rem; border-radius: 2px; background: var(--calm); }
.gauge .proved { background: var(--good); } .gauge .assumed { background: none; border: 1.5px dashed var(--warn); } .gauge .immaterial { background: var(--line); } .gauge .exceptions { background: linear-gradient(90deg, var(--good) 80%, var(--warn) 80%); } .gauge .failed { background: var(--bad); } .gauge .open { background: none; border: 1.5px dashed var(--warn); }
.gauge span:nth-child(n+25) { display: none; }
.doubts { border-left: 3px solid var(--warn); padding: .1rem 0 .1rem 1.1rem; margin: 0 0 1.4rem; }
.doubts h2 { font-size: .9375rem; margin: 0 0 .15rem; } .doubts ul { margin: 0; padding: 0; list-style: none; } .doubts li { margin: .3rem 0; max-width: 46rem; }
.meta { color: var(--soft); font-size: .875rem; display: flex; flex-wrap: wrap; gap: .1rem 1.2rem; padding: 0; margin: 1rem 0 0; list-style: none; }
.skip { position: absolute; left: -999rem; } .skip:focus { left: 1rem; top: 1rem; background: var(--card); padding: .5rem; }
nav { margin-top: 1.1rem; } nav ul { display: flex; flex-wrap: wrap; gap: .2rem 1.25rem; list-style: none; padding: .55rem 0; margin: 0; font-size: .9375rem; border-block: 1px solid var(--line); }
.badge { display: inline-block; font-size: .75rem; font-weight: 600; line-height: 1.55; padding: 0 .5rem; border-radius: 99px; white-space: nowrap; background: var(--calm-bg); color: var(--calm); }
.badge.good { background: var(--good-bg); color: var(--good); } .badge.bad { background: var(--bad-bg); color: var(--bad); } .badge.warn { background: var(--warn-bg); color: var(--warn); }
.card { border: 1px solid var(--line); border-radius: 8px; padding: 1.1rem 1.25rem; margin: 1rem 0; background: var(--card); }
.card.proved { border-left: 3px solid var(--good); } .card.assumed { border-left: 3px solid var(--warn); } .card.immaterial { border-left: 3px solid var(--calm); } .card.failed { border-left: 3px solid var(--bad); }
.card:target { border-color: var(--link); box-shadow: 0 0 0 1px var(--link); }
.button { font: inherit; font-size: .875rem; font-weight: 550; line-height: 1.5; color: var(--ink); background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: .2rem .75rem; cursor: pointer; text-decoration: none; display: inline-block; }
.button:hover { background: var(--head); } .button[hidden] { display: none; }
.actions { display: flex; flex-wrap: wrap; align-items: baseline; gap: .4rem .75rem; margin: .6rem 0; max-width: none; font-size: .875rem; }
.actions details { flex: 1 1 12rem; min-width: 0; }
code, pre { font: .84375rem/1.55 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; }
pre { background: var(--code); border: 1px solid var(--line); border-radius: 6px; padding: .7rem .9rem; margin: .4rem 0; overflow-x: auto; white-space: pre-wrap; }
.k { color: var(--key); } .s { color: var(--text); } .c { color: var(--soft); font-style: italic; }
.scroll { overflow: auto; max-height: 34rem; margin: .5rem 0; border: 1px solid var(--line); border-radius: 6px; width: fit-content; max-width: 100%; }
table { border-collapse: separate; border-spacing: 0; font-size: .875rem; line-height: 1.5; }
.caption { color: var(--soft); font-size: .875rem; margin: .5rem 0 -.2rem; }
th, td { text-align: left; vertical-align: top; padding: .32rem .8rem; border-bottom: 1px solid var(--line); min-width: 3.5rem; max-width: 26rem; overflow-wrap: break-word; white-space: pre-wrap; }
tbody tr:last-child td { border-bottom: 0; }
thead th { position: sticky; top: 0; background: var(--head); color: var(--ink); font-weight: 600; overflow-wrap: normal; }
td { overflow-wrap: break-word; }
th.num, td.num { text-align: right; font-variant-numeric: tabular-nums; } td.null { color: var(--soft); font-style: italic; } td.id { white-space: nowrap; }
ul.bars { list-style: none; padding: 0; margin: .6rem 0; max-width: 44rem; font-size: .9375rem; } ul.bars > li { display: grid; grid-template-columns: minmax(0, 1fr) 10rem 9rem; gap: .1rem .9rem; align-items: center; padding: .3rem 0; border-top: 1px solid var(--line); }
ul.bars svg { display: block; width: 100%; height: .6rem; border-radius: 2px; } ul.bars .track { fill: var(--calm-bg); } ul.bars .own, ul.bars .rival { fill: var(--calm); } .card.proved .own { fill: var(--good); } .card.assumed .own { fill: var(--warn); } .card.failed .own { fill: var(--bad); } ul.bars .count { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
ul.plain { list-style: none; padding: 0; margin: .3rem 0; } ul.plain > li { margin: .5rem 0; }
.reading { border-left: 3px solid var(--line); padding: .05rem 0 .05rem .8rem; }
.reading.supported { border-left-color: var(--good); } .reading.refuted { border-left-color: var(--bad); } .reading.open { border-left-color: var(--warn); }
details > summary { cursor: pointer; color: var(--link); width: fit-content; }
ul.tree { list-style: none; margin: 0; padding-left: 0; } ul.tree ul.tree { padding-left: 1.35rem; } ul.tree summary { color: var(--ink); }
ul.tree > li { position: relative; padding: .2rem 0; }
ul.tree ul.tree > li::before { content: ""; position: absolute; left: -.9rem; top: 0; bottom: 0; border-left: 1px solid var(--line); }
ul.tree ul.tree > li:last-child::before { bottom: auto; height: 1.05rem; }
ul.tree ul.tree > li::after { content: ""; position: absolute; left: -.9rem; top: 1.05rem; width: .65rem; border-top: 1px solid var(--line); }
#machinery ~ details h3 { margin-top: 1.6rem; }
dl.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr)); gap: .9rem; margin: .6rem 0; }
dl.facts dt { color: var(--soft); font-size: .875rem; } dl.facts dd { margin: 0; font-size: 1.0625rem; font-variant-numeric: tabular-nums; }
figure.chart { margin: .8rem 0 1.2rem; } figcaption { font-size: .875rem; color: var(--soft); margin: 0 0 .4rem; max-width: 44rem; } figcaption b { color: var(--ink); font-weight: 600; }
.chart { overflow-x: auto; } .chart > svg { display: block; width: 100%; min-width: 40rem; max-width: 52rem; height: auto; }
.chart text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; fill: var(--soft); font-variant-numeric: tabular-nums; } .chart text.value, .chart text.label { fill: var(--ink); }
.chart text.mark { font-weight: 600; paint-order: stroke; stroke: var(--page); stroke-width: 3px; stroke-linejoin: round; }
.chart .grid { stroke: var(--grid); } .chart .axis { stroke: var(--soft); } .chart .line { fill: none; stroke-width: 2; stroke-linejoin: round; }
.s1 { stroke: var(--c1); } .s2 { stroke: var(--c2); } .s3 { stroke: var(--c3); } .s4 { stroke: var(--c4); } .s5 { stroke: var(--c5); }
path.s2 { stroke-dasharray: 9 3; } path.s3 { stroke-dasharray: 2 3; } path.s4 { stroke-dasharray: 12 3 2 3; } path.s5 { stroke-dasharray: 5 5; }
.f1 { fill: var(--c1); } .f2 { fill: var(--c2); } .f3 { fill: var(--c3); } .f4 { fill: var(--c4); } .f5 { fill: var(--c5); }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .1rem 1.2rem; padding: 0; margin: 0 0 .4rem; font-size: .875rem; } .legend svg { display: inline-block; width: 24px; height: 14px; vertical-align: -2px; margin-right: .35rem; }
@media (max-width: 40rem) {
  body { font-size: 1rem; } main, header, nav, footer { padding-left: 1rem; padding-right: 1rem; }
  header { padding-top: 1.4rem; } h1 { font-size: 1.5rem; } h2 { margin-top: 2.2rem; } .card { padding: .9rem .9rem; }
  ul.bars > li { grid-template-columns: minmax(0, 1fr) auto; } ul.bars .says { grid-column: 1 / -1; }
  th, td { padding: .3rem .6rem; max-width: 16rem; }
}
@media print {
  body { background: none; font-size: 11pt; } nav, .skip, .actions, .button { display: none; } main, header, footer { max-width: none; padding: 0; }
  .card, figure { break-inside: avoid; } h2, h3, h4 { break-after: avoid; } .scroll { max-height: none; overflow: visible; border: 0; } thead th { position: static; }
  .scroll tbody tr:nth-child(n+101) { display: none; } .chart > svg { min-width: 0; }
}
`.trim();

/**
 * The only script of a report: it shows the copy buttons and makes them work. Everything else on the page works without
 * it, and the page's policy allows this text and no other (by its hash). Rows are copied with tabs between the cells, which
 * spreadsheets and chats take as a table.
 *
 * Of the text of the element `target`, or of the CSV file that it links to.
 */
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
for (const button of document.querySelectorAll('button[data-copy]')) {
  const label = button.textContent;
  button.setAttribute('aria-live', 'polite');
  button.hidden = false;
  button.addEventListener('click', async () => {
    const text = textOf(document.getElementById(button.dataset.copy));
    button.textContent = await navigator.clipboard.writeText(text).then(() => 'Copied', () => 'Not allowed here');
    setTimeout(() => (button.textContent = label), 2000);
  });
}
`.trim();
