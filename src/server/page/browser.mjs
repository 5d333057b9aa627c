/**
 * The only script of the pages: `npm run build` bundles it with idiomorph. Pages work without it, except that nothing moves by
 * itself. It shows what the server's events send, sends forms without leaving the page, copies, and counts seconds.
 */
import { Idiomorph } from 'idiomorph';

const main = () => document.getElementById('main');

/** Whether somebody has begun to fill it in: it stays as it is. */
const isTyped = (form) =>
  [...form.elements].some((field) =>
    /^(checkbox|radio)$/.test(field.type)
      ? field.checked !== field.defaultChecked
      : 'defaultValue' in field && field.type !== 'hidden' && field.value !== field.defaultValue,
  );

const pageOf = (html) => new DOMParser().parseFromString(html, 'text/html').getElementById('main');

/** `next`: a `<main>`. */
function show(next) {
  Idiomorph.morph(main(), next, {
    morphStyle: 'outerHTML',
    callbacks: {
      // What a check found when it ran again stays when another one has run.
      beforeNodeRemoved: (node) => !(node.nodeType === 1 && node.matches('.again')),
      beforeNodeMorphed: (node) => !(node.nodeType === 1 && node.matches('form') && isTyped(node)),
      // What a reader has opened or closed stays so, and a form is busy until its reply has come.
      beforeAttributeUpdated: (name, node) =>
        !((name === 'open' && node.tagName === 'DETAILS') || (name === 'aria-busy' && sent.has(node))),
    },
  });
  prepare();
}

let source = null;
let listened = null;
/** How many events have changed the page. */
let heard = 0;

/** Listens where the page says, or no more. A browser has six connections for all its tabs: one that nobody sees takes none. */
function listen() {
  const place = document.hidden ? null : (main().dataset.live ?? null);
  if (place === listened) return;
  source?.close();
  listened = place;
  source = place === null ? null : new EventSource(place);
  if (source === null) return;
  const own = source;
  source.addEventListener('page', ({ data }) => {
    heard += 1;
    const next = pageOf(data);
    // What came of an action stays until the next one.
    const said = document.getElementById('said');
    if (said !== null) next.prepend(said.cloneNode(true));
    show(next);
  });
  source.addEventListener('open', () => (document.getElementById('lost').hidden = true));
  source.addEventListener('error', () => {
    document.getElementById('lost').hidden = own.readyState === EventSource.OPEN;
    // A browser does not try again where a server refuses.
    if (own.readyState === EventSource.CLOSED) setTimeout(() => own === source && listenAnew(), AGAIN_MS);
  });
}
const AGAIN_MS = 1000;

/** The server tells at once how the page is now. */
function listenAnew() {
  listened = null;
  listen();
}
document.addEventListener('visibilitychange', listen);

function prepare() {
  document.title = main().dataset.title;
  for (const button of document.querySelectorAll('button[data-copy]')) {
    button.hidden = false;
    button.setAttribute('aria-live', 'polite');
  }
  tick();
  listen();
}

const length = (seconds) => {
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h ${minutes % 60} min` : `${Math.floor(minutes / 1440)} days`;
};

function tick() {
  for (const time of document.querySelectorAll('time[data-since], time[data-ago]')) {
    const seconds = Math.max(0, Math.round((Date.now() - Date.parse(time.dateTime)) / 1000));
    const text =
      'since' in time.dataset
        ? length(seconds)
        : seconds < 60
          ? 'just now'
          : `${length(seconds).replace(/ (\d+ s|0 min)$/, '')} ago`;
    time.title = time.dateTime.slice(0, 19).replace('T', ' ') + ' UTC';
    if (time.textContent !== text) time.textContent = text;
  }
}
setInterval(tick, 1000);

async function copy(button) {
  const label = (button.dataset.label ??= button.textContent);
  const text = document.getElementById(button.dataset.copy).textContent;
  button.textContent = await navigator.clipboard.writeText(text).then(
    () => 'Copied',
    () => 'Not allowed here',
  );
  setTimeout(() => (button.textContent = label), 2000);
}

/** What each form sends, the last one first: it waits for those before. */
const sent = new WeakMap();

function send(form, submitter) {
  const written = () => new URLSearchParams(new FormData(form, submitter)).toString();
  const { action } = form;
  const body = written();
  const before = sent.get(form);
  // The second click of a double one.
  if (before?.action === action && before.body === body) return;
  const mine = { action, body };
  sent.set(form, mine);
  form.setAttribute('aria-busy', 'true');
  mine.over = Promise.resolve(before?.over).then(async () => {
    const isLast = () => sent.get(form) === mine;
    const heardBefore = heard;
    try {
      const response = await fetch(action, { method: 'POST', body: new URLSearchParams(body) });
      const answered = await response.text();
      const next = pageOf(answered);
      if (next === null) throw new Refused(JSON.parse(answered).error.message);
      const there = new URL(response.url);
      if (response.redirected && there.pathname !== location.pathname) {
        // Busy until it has left; or something else was sent meanwhile, which says where to go.
        if (isLast()) location.assign(there.pathname + there.search);
        return;
      }
      // What was refused stays to be mended, and what was typed meanwhile.
      if (response.ok && next.querySelector('#said.failed') === null && written() === body) form.reset();
      // The same words are read out again when they are said again.
      document.getElementById('said')?.remove();
      show(next);
      // An event may have been newer than this reply.
      if (heard !== heardBefore) listenAnew();
      document.getElementById('said')?.scrollIntoView({ block: 'nearest' });
    } catch (error) {
      say(error instanceof Refused ? error.message : UNANSWERED);
    }
    if (isLast()) idle(form);
  });
}

/** An error of the server, which has no page. */
class Refused extends Error {}
const UNANSWERED =
  'The server did not answer. Nothing is sent again by itself: see what has become of it, or send it again.';

function say(text) {
  document.getElementById('said')?.remove();
  const said = document.createElement('p');
  Object.assign(said, { id: 'said', className: 'said failed', role: 'alert', textContent: text });
  main().prepend(said);
  said.scrollIntoView({ block: 'nearest' });
}

function idle(form) {
  sent.delete(form);
  form.removeAttribute('aria-busy');
}
// A browser may show the page again as it left it.
addEventListener('pagehide', () => [...document.forms].forEach(idle));

document.addEventListener('submit', (event) => {
  const form = event.target;
  if (form.dataset.stay === undefined) return;
  event.preventDefault();
  send(form, event.submitter);
});
document.addEventListener('click', ({ target }) => {
  const button = target.closest?.('button[data-copy]');
  if (button) void copy(button);
});
// Enter asks; with shift it begins a line.
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing || !event.target.matches('textarea[data-enter]'))
    return;
  event.preventDefault();
  event.target.form.requestSubmit();
});
prepare();
