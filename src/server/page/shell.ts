/**
 * What all pages share: head, navigation, style and script, and the policy that allows these and nothing else. A page is its
 * `<main>`: events send it whole, and the script morphs the one that is shown, so that focus, typed words and open details stay.
 */
import { readFileSync } from 'node:fs';
import { Html, markup } from '../../report/html';
import { hashOf } from '../../report/render';
import { STYLE } from '../../report/style';
import { builtFile } from '../../workers/package-folder';
import { PAGE_STYLE } from './style';

export const PLACES = {
  ask: ['/', 'Ask'],
  answers: ['/answers', 'Answers'],
  layer: ['/layer', 'Layer'],
  databases: ['/databases', 'Databases'],
  batches: ['/batches', 'Batches'],
} as const;
export type PlaceName = keyof typeof PLACES;

export interface View {
  readonly title: string;
  readonly place: PlaceName | null;
  readonly body: Html;
  /** Where events tell that it has changed. Left out: it stays as it is. */
  readonly live?: string;
  /** What came of an action: shown first, and read out. */
  readonly said?: Said | null;
}

export interface Said {
  readonly kind: 'done' | 'failed';
  readonly text: string;
}

/** A path whose parts are encoded. */
export function path(strings: TemplateStringsArray, ...parts: readonly (string | number)[]): string {
  return String.raw({ raw: strings }, ...parts.map((part) => encodeURIComponent(part)));
}

/** Built from `browser.mjs` with idiomorph. */
let script: string | undefined;
const scriptText = (): string => (script ??= readFileSync(builtFile('program/page.js'), 'utf8').trim());
const STYLES = `${STYLE}\n${PAGE_STYLE}`;

/** For the header of every page. */
export function policy(): string {
  return [
    "default-src 'none'",
    `script-src ${hashOf(scriptText())}`,
    `style-src ${hashOf(STYLES)}`,
    "connect-src 'self'",
    "form-action 'self'",
    'img-src data:',
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

const RELOAD_S = 5;

export function pageText(view: View): string {
  const { title, place, live } = view;
  // An icon of its own, so that the browser asks for none.
  return markup`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · GATE</title>
        <link rel="icon" href="data:," />
        ${live !== undefined && new Html(`<noscript><meta http-equiv="refresh" content="${RELOAD_S}" /></noscript>`)}
        ${new Html(`<style>${STYLES}</style>`)}
      </head>
      <body class="app">
        <a class="skip" href="#main">Skip to the page</a>
        <header class="bar">
          <a class="mark" href="/">GATE</a>
          <nav aria-label="Pages">
            <ul>
              ${Object.entries(PLACES).map(
                ([name, [to, says]]) => markup`<li><a href="${to}"${name === place && CURRENT}>${says}</a></li>`,
              )}
            </ul>
          </nav>
        </header>
        <p class="lost" id="lost" role="alert" hidden>The server does not answer. What is shown may be old; it is tried again.</p>
        ${mainOf(view)} ${new Html(`<script>${scriptText()}</script>`)}
      </body>
    </html> `.text;
}

const CURRENT = markup` aria-current="page"`;

export function mainOf({ title, body, live, said }: View): Html {
  return markup`<main id="main" tabindex="-1" data-title="${title} · GATE"${live !== undefined && markup` data-live="${live}"`}>
    ${said && markup`<p id="said" class="said ${said.kind}" role="${said.kind === 'failed' ? 'alert' : 'status'}">${said.text}</p>`} ${body}
  </main>`;
}

/** A form that stays on its page: the script sends it, and shows what comes back. */
export function form(to: string, body: Html): Html {
  return markup`<form method="post" action="${to}" data-stay>${body}</form>`;
}

/** A form of one button. */
export function button(to: string, says: string, style = 'button', more: Html | null = null): Html {
  return form(to, markup`${more}<button class="${style}">${says}</button>`);
}

export function hidden(name: string, value: string | number): Html {
  return markup`<input type="hidden" name="${name}" value="${value}" />`;
}

/** `id`: unique on the page. */
export function field(id: string, name: string, label: string, more: Html = markup``): Html {
  return markup`<label for="${id}">${label}</label><input id="${id}" name="${name}" autocomplete="off" ${more} />`;
}

/** What a person writes in one line, and the button that sends it. */
export function lineOf(
  id: string,
  name: string,
  label: string,
  { says, style = 'button', isRequired = true }: LineOptions,
): Html {
  const input = field(id, name, label, markup`${isRequired && markup` required`} maxlength="2000"`);
  return markup`<div class="line"><div class="grow">${input}</div><button class="${style}">${says}</button></div>`;
}

interface LineOptions {
  /** On the button. */
  readonly says: string;
  readonly style?: string;
  readonly isRequired?: boolean;
}

export function choiceOf<T extends string>(
  names: readonly T[],
  current: T,
  label: string,
  to: (name: T) => string,
): Html | null {
  if (names.length < 2) return null;
  return markup`<nav class="tabs" aria-label="${label}">
    <ul>
      ${names.map((name) => markup`<li><a href="${to(name)}"${name === current && CURRENT}>${name}</a></li>`)}
    </ul>
  </nav>`;
}

/** A time that the script shows as how long ago it was; without it, the time itself. */
export function ago(iso: string): Html {
  return markup`<time datetime="${iso}" data-ago>${iso.slice(0, 16).replace('T', ' ')}</time>`;
}
