/** The one style sheet of a report. Colours follow the reader's scheme; text contrast is at least 4.5 to 1 in both. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --page: #fbfbfa; --card: #ffffff; --ink: #1c1f23; --soft: #5a636e; --line: #dfe2e6; --code: #f3f4f6;
  --link: #0a5ad0; --good: #146c3c; --good-bg: #e3f3e9; --bad: #a5232b; --bad-bg: #fbe9ea;
  --warn: #805100; --warn-bg: #fbf0da; --calm: #44505e; --calm-bg: #eceff3; --key: #7a2fb0; --text: #17603a;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171a; --card: #1b1f24; --ink: #e6e9ec; --soft: #a3adb8; --line: #333a42; --code: #111417;
    --link: #7ab2ff; --good: #7fd6a3; --good-bg: #16321f; --bad: #ff9a9f; --bad-bg: #3c191c;
    --warn: #eebf6a; --warn-bg: #38290d; --calm: #b9c3ce; --calm-bg: #272d34; --key: #cf9df5; --text: #94d8ae;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: anywhere; }
main, header, footer { max-width: 62rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 2.5rem; }
footer { padding-bottom: 3rem; color: var(--soft); font-size: .875rem; }
h1 { font-size: 1.65rem; line-height: 1.3; margin: .35rem 0 .75rem; font-weight: 650; text-wrap: balance; }
h2 { font-size: 1.15rem; margin: 2.5rem 0 .75rem; padding-bottom: .3rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 0; display: inline; }
h4 { font-size: .8125rem; margin: 1.1rem 0 .35rem; color: var(--soft); font-weight: 600; }
p { margin: .4rem 0; }
a { color: var(--link); }
a:focus-visible, summary:focus-visible, pre:focus-visible, .scroll:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.soft { color: var(--soft); }
.meta { color: var(--soft); font-size: .875rem; display: flex; flex-wrap: wrap; gap: .15rem 1.1rem; padding: 0; margin: 0; list-style: none; }
.skip { position: absolute; left: -999rem; } .skip:focus { left: 1rem; top: 1rem; background: var(--card); padding: .5rem; }
nav ul { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; list-style: none; padding: 0; margin: 1.1rem 0 0; font-size: .875rem; }
.answer { font-size: 1.2rem; background: var(--card); border: 1px solid var(--line); border-left: 4px solid var(--good); border-radius: 6px; padding: .9rem 1.1rem; white-space: pre-wrap; }
.answer.other { border-left-color: var(--warn); } .answer.failed { border-left-color: var(--bad); }
.badge { display: inline-block; font-size: .75rem; font-weight: 600; line-height: 1.5; padding: 0 .5rem; border-radius: 99px; white-space: nowrap; background: var(--calm-bg); color: var(--calm); }
.badge.good { background: var(--good-bg); color: var(--good); } .badge.bad { background: var(--bad-bg); color: var(--bad); } .badge.warn { background: var(--warn-bg); color: var(--warn); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: .9rem 1.1rem; margin: .8rem 0; }
.card:target { border-color: var(--link); box-shadow: 0 0 0 1px var(--link); }
.card > .badge { margin-left: .5rem; }
code, pre { font: .8438rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { background: var(--code); border: 1px solid var(--line); border-radius: 6px; padding: .7rem .85rem; margin: .4rem 0; overflow-x: auto; white-space: pre-wrap; }
.k { color: var(--key); } .s { color: var(--text); } .c { color: var(--soft); font-style: italic; }
.scroll { overflow-x: auto; margin: .4rem 0; }
table { border-collapse: collapse; font-size: .875rem; min-width: 12rem; }
caption { text-align: left; color: var(--soft); font-size: .8125rem; padding-bottom: .25rem; }
th, td { text-align: left; vertical-align: top; padding: .28rem .7rem; border: 1px solid var(--line); max-width: 26rem; }
th { background: var(--calm-bg); color: var(--calm); font-weight: 600; }
td.num { text-align: right; font-variant-numeric: tabular-nums; } td.null { color: var(--soft); font-style: italic; }
td pre { background: none; border: 0; padding: 0; margin: 0; }
ul.plain { list-style: none; padding: 0; margin: .3rem 0; } ul.plain > li { margin: .4rem 0; }
.reading { border-left: 3px solid var(--line); padding: .1rem 0 .1rem .8rem; }
.reading.supported { border-left-color: var(--good); } .reading.refuted { border-left-color: var(--bad); } .reading.open { border-left-color: var(--warn); }
details > summary { cursor: pointer; } details > summary > h3 { font-weight: 600; }
ul.tree { list-style: none; margin: 0; padding-left: 0; } ul.tree ul.tree { padding-left: 1.35rem; }
ul.tree > li { position: relative; padding: .2rem 0; }
ul.tree ul.tree > li::before { content: ""; position: absolute; left: -.9rem; top: 0; bottom: 0; border-left: 1px solid var(--line); }
ul.tree ul.tree > li:last-child::before { bottom: auto; height: 1.05rem; }
ul.tree ul.tree > li::after { content: ""; position: absolute; left: -.9rem; top: 1.05rem; width: .65rem; border-top: 1px solid var(--line); }
dl.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(10rem, 1fr)); gap: .9rem; margin: .5rem 0; }
dl.facts dt { color: var(--soft); font-size: .8125rem; } dl.facts dd { margin: 0; font-size: 1.1rem; font-variant-numeric: tabular-nums; }
@media print { body { background: none; } .card { break-inside: avoid; } nav { display: none; } }
`.trim();
