/** What the pages need beyond the style of a report (`report/style.ts`), whose colours and parts they share. */
export const PAGE_STYLE = `
:root { --field: #7b8591; --accent: #0a58ca; --on-accent: #ffffff; --bar: #f6f7f9; }
@media (prefers-color-scheme: dark) { :root { --field: #76818d; --accent: #82b6ff; --on-accent: #10141a; --bar: #1a1e23; } }
.app { font-size: .9375rem; line-height: 1.55; }
.app main { max-width: 72rem; padding-top: 1.6rem; padding-bottom: 4rem; outline: none; }
.app h1 { font-size: 1.5rem; margin: 0 0 1rem; } .app h2 { font-size: 1.0625rem; margin: 2.25rem 0 .5rem; } .app h3 { font-size: .9375rem; } .scroll + h3 { margin-top: 1.3rem; }
.app main header { padding: 0; max-width: none; margin: 0; } .app main nav { padding: 0; max-width: none; margin-left: 0; } .app .doubts h2 { margin: 0 0 .15rem; font-size: .9375rem; }
.app header h1 { font-size: 1.625rem; }
header.bar { max-width: none; display: flex; align-items: center; flex-wrap: wrap; gap: 0 1.75rem; padding: 0 1.25rem; background: var(--bar); border-bottom: 1px solid var(--line); }
.bar nav, .tabs { margin: 0; padding: 0; max-width: none; } .bar nav ul, .tabs ul { border: 0; padding: 0; gap: 0 1.25rem; flex-wrap: nowrap; overflow-x: auto; }
.mark { font-weight: 700; letter-spacing: .06em; color: var(--ink); text-decoration: none; padding: .7rem 0; }
.bar nav a, .tabs a { display: block; padding: .7rem 0 .6rem; color: var(--soft); text-decoration: none; border-bottom: 2px solid transparent; white-space: nowrap; }
.bar nav a:hover, .tabs a:hover { color: var(--ink); } .bar nav a[aria-current], .tabs a[aria-current] { color: var(--ink); font-weight: 600; border-bottom-color: var(--accent); }
.tabs { border-bottom: 1px solid var(--line); margin-bottom: 1.25rem; }
.lost { max-width: none; margin: 0; padding: .5rem 1.25rem; background: var(--warn-bg); color: var(--warn); }
.said { max-width: none; margin: 0 0 1.25rem; padding: .55rem .9rem; border-radius: 6px; background: var(--good-bg); color: var(--good); white-space: pre-line; } .said.failed { background: var(--bad-bg); color: var(--bad); }
.sides { display: grid; grid-template-columns: minmax(0, 1fr) 18.5rem; gap: 0 3rem; align-items: start; } .sides > * { min-width: 0; }
.side > section { border-top: 1px solid var(--line); padding: .9rem 0; } .side > section:first-child { border-top: 0; padding-top: 0; } .side h2 { margin: 0 0 .5rem; font-size: .9375rem; }
.side { position: sticky; top: 1rem; font-size: .875rem; }
label, legend { display: block; font-weight: 600; font-size: .875rem; margin: 0 0 .25rem; padding: 0; }
input:not([type=hidden]):not([type=radio]):not([type=checkbox]), textarea, select { font: inherit; color: var(--ink); background: var(--page); border: 1px solid var(--field); border-radius: 6px; padding: .4rem .6rem; width: 100%; } textarea { display: block; resize: vertical; min-height: 2.4rem; }
input.short { width: 7rem !important; font-variant-numeric: tabular-nums; }
fieldset { border: 0; margin: 0; padding: 0; min-width: 0; }
form { margin: 0; } form[aria-busy] button { opacity: .55; cursor: progress; }
.stack > * + * { margin-top: .8rem; } .line { display: flex; flex-wrap: wrap; gap: .5rem .6rem; align-items: end; } .pair { display: flex; flex-wrap: wrap; gap: .4rem .6rem; align-items: baseline; } .cost { align-items: center; } .cost label { margin: 0; }
.line .button { padding: .4rem .9rem; } .line > .grow { flex: 1 1 12rem; min-width: 0; }
.button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); font-size: .9375rem; padding: .35rem 1.1rem; } .button.primary:hover { filter: brightness(1.08); }
.button.danger { color: var(--bad); } .ask { max-width: 48rem; } .ask textarea { font-size: 1.0625rem; line-height: 1.45; padding: .6rem .75rem; }
.choices { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: .5rem; }
.choice { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 0 .6rem; align-items: baseline; font-weight: 400; border: 1px solid var(--line); border-radius: 8px; padding: .5rem .75rem; margin: 0; cursor: pointer; } .choice:has(:checked) { border-color: var(--accent); box-shadow: inset 0 0 0 1px var(--accent); } .choice b { font-weight: 600; } .choice .soft { grid-column: 2; font-size: .8125rem; overflow-wrap: anywhere; }
.app .scroll { width: 100%; max-height: none; } .app .card .scroll, .app .rows .scroll, .app details .scroll { width: fit-content; max-height: 34rem; } .app .card table, .app details table { width: auto; } .app table { width: 100%; } .app td, .app th { padding: .38rem .7rem; max-width: none; } .app .rows table { width: auto; } .app .rows td { max-width: 26rem; }
.app td a { text-decoration: none; } .app td a:hover { text-decoration: underline; } td .soft { display: block; font-size: .8125rem; } td.tight, th.tight { white-space: nowrap; width: 1%; }
.pages { display: flex; gap: 1rem; margin: .8rem 0; align-items: baseline; }
#now { display: flex; flex-wrap: wrap; gap: 0 .7rem; align-items: baseline; min-height: 2rem; } .now { font-size: 1.0625rem; font-weight: 550; margin: 0 0 .2rem; } .now time { font-variant-numeric: tabular-nums; color: var(--soft); font-weight: 400; }
.saying { border-left: 3px solid var(--line); padding-left: .9rem; font-size: 1.125rem; margin: .4rem 0; } .saying .place { background: var(--calm-bg); border-radius: 4px; padding: 0 .35em; color: var(--soft); font-size: .875em; }
dl.figures { display: grid; grid-template-columns: 1fr auto; gap: .25rem .75rem; margin: .4rem 0; } dl.figures dt { color: var(--soft); } dl.figures dd { margin: 0; text-align: right; font-variant-numeric: tabular-nums; }
.meter { display: block; width: 100%; height: .5rem; border-radius: 3px; } .meter .track { fill: var(--calm-bg); } .meter .used { fill: var(--accent); } .meter .good { fill: var(--good); } .meter .bad { fill: var(--bad); }
ul.bars rect, .meter rect { transition: width .45s ease-out; } @media (prefers-reduced-motion: reduce) { ul.bars rect, .meter rect { transition: none; } }
ol.steps { list-style: none; margin: .4rem 0; padding: 0; } ol.steps > li { border-left: 2px solid var(--line); padding: 0 0 .9rem 1.1rem; margin-left: .3rem; position: relative; } ol.steps > li::before { content: ""; position: absolute; left: -.36rem; top: .5rem; width: .6rem; height: .6rem; border-radius: 50%; background: var(--calm); } ol.steps > li.last { border-left-color: transparent; } ol.steps > li.busy::before { background: var(--page); box-shadow: inset 0 0 0 2px var(--accent); }
ol.steps details { margin: .15rem 0; } ol.steps summary { color: var(--ink); } ol.steps summary .soft { font-variant-numeric: tabular-nums; }
.card.entry { margin: .55rem 0; padding: .65rem .95rem; } .entry h2, .entry h3 { margin: 0 0 .15rem !important; } .entry p { margin: .15rem 0; } .entry ul.bars { margin: .35rem 0; font-size: .875rem; max-width: 52rem; } .entry ul.bars > li { padding: .12rem 0; } .entry > .line { align-items: center; } .entry p { max-width: 56rem; } .entry details { margin-top: .3rem; } .entry .acts { display: flex; flex-wrap: wrap; gap: .4rem; margin-top: .5rem; }
.acts form { display: inline; }
.follow { border: 1px solid var(--line); border-radius: 8px; padding: .9rem 1rem; margin: 1.25rem 0 0; background: var(--bar); }
.empty { color: var(--soft); padding: 1rem 0; }
.app pre.schema { max-height: none; } .app pre { max-height: 30rem; overflow: auto; } .app .sections { margin-top: 1.5rem; padding: 0; max-width: none; } 
.toc { columns: 14rem; font-size: .875rem; padding: 0; list-style: none; margin: .4rem 0; }
@media (max-width: 60rem) { .sides { grid-template-columns: minmax(0, 1fr); } .side { position: static; margin-top: 1.5rem; } }
@media (max-width: 40rem) { .app main { padding: 1.1rem 1rem 3rem; } header.bar { padding: 0 1rem; gap: 0 1rem; } .bar nav { width: 100%; } .mark { padding: .5rem 0 0; } .hide { display: none; } .app td, .app th { padding: .38rem .45rem; } }
`.trim();
