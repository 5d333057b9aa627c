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
      beforeNodeMorphed: (node) => !(node.nodeType === 1 && node.matches('form') && isTyped(node)),
      // What a reader has opened or closed stays so.
      beforeAttributeUpdated: (name, node) => !(name === 'open' && node.tagName === 'DETAILS'),
    },
  });
  prepare();
}

let source = null;
let listened = null;

/** Listens where the page says, or no more. */
function listen() {
  const place = main().dataset.live ?? null;
  if (place === listened) return;
  source?.close();
  listened = place;
  source = place === null ? null : new EventSource(place);
  if (source === null) return;
  source.addEventListener('page', ({ data }) => {
    const next = pageOf(data);
    // What came of an action stays until the next one.
    const said = document.getElementById('said');
    if (said !== null) next.prepend(said.cloneNode(true));
    show(next);
  });
  source.addEventListener('open', () => (document.getElementById('lost').hidden = true));
  source.addEventListener(
    'error',
    () => (document.getElementById('lost').hidden = source.readyState === EventSource.OPEN),
  );
}

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
  const label = button.textContent;
  const text = document.getElementById(button.dataset.copy).textContent;
  button.textContent = await navigator.clipboard.writeText(text).then(
    () => 'Copied',
    () => 'Not allowed here',
  );
  setTimeout(() => (button.textContent = label), 2000);
}

/** What each form has on its way. */
const sent = new WeakMap();

async function send(form, submitter) {
  const written = () => new URLSearchParams(new FormData(form, submitter)).toString();
  const body = written();
  // The second click of a double one.
  if (sent.get(form) === body) return;
  sent.set(form, body);
  form.setAttribute('aria-busy', 'true');
  try {
    const response = await fetch(form.action, { method: 'POST', body: new URLSearchParams(body) });
    const next = pageOf(await response.text());
    // Something else was sent meanwhile: what comes of that is shown.
    if (sent.get(form) !== body) return;
    if (next === null) throw new Error(`status ${response.status}`);
    const there = new URL(response.url);
    if (response.redirected && there.pathname !== location.pathname)
      return location.assign(there.pathname + there.search);
    // What was refused stays to be mended, and what was typed meanwhile.
    if (response.ok && next.querySelector('#said.failed') === null && written() === body) form.reset();
    // The same words are read out again when they are said again.
    document.getElementById('said')?.remove();
    show(next);
    document.getElementById('said')?.scrollIntoView({ block: 'nearest' });
  } catch (error) {
    document.getElementById('lost').hidden = false;
  } finally {
    if (sent.get(form) === body) {
      sent.delete(form);
      form.removeAttribute('aria-busy');
    }
  }
}

document.addEventListener('submit', (event) => {
  const form = event.target;
  if (form.dataset.stay === undefined) return;
  event.preventDefault();
  void send(form, event.submitter);
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
