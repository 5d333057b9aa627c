/**
 * `web`: one call of a web tool as an observation that can be cited, made once per position.
 *
 * 1. If a page cannot be fetched, that is an observation and the search continues. Temporary failures are retried first.
 * 2. An outage of the provider is also an observation if the caller allows it (`mayFail`); else it is thrown. A wrong key or
 *    setting always ends the search, because a person must correct it.
 * 3. A call is not repeated: a stored observation is returned, even if its step did not finish.
 * 4. Only URLs that the user or an earlier web result gave are fetched. So a model under the influence of hostile text cannot
 *    send database values out in an address.
 */
import type { Citation, Observation, WebObservation } from '../domain';
import { WebError, type SearchResult, type Web, type WebErrorCode, type WebPage } from '../domain/ports';
import { cut } from '../clip';
import { sha256 } from '../sha256';
import { now, type StepContext } from './shared/context';
import type { StepOptions } from '../domain/ports/step-parts';
import type { WebInput, WebRun } from '../domain/ports/steps';

type Seen = Omit<WebObservation, 'tool' | 'request'>;

const PASSING: ReadonlySet<WebErrorCode> = new Set(['connection', 'timeout', 'rate-limited', 'server-error']);
const FOR_A_PERSON: ReadonlySet<WebErrorCode> = new Set(['authentication', 'not-configured', 'misconfigured']);
const URL_CHARS = 2_000;
/** The longest wait that a site may ask for. */
const PATIENCE_MS = 30_000;

export async function web(context: StepContext, step: WebInput, { mayRetry = false }: StepOptions): Promise<WebRun> {
  const { web: asked } = await context.run.get('action', step.actionId);
  if (asked === undefined) throw new WebError('refused', `${step.actionId} asks nothing of the web`);
  const seen = await look(context, { ...step, ...asked }, mayRetry);
  const observation: Observation = {
    observationId: step.position,
    proposalId: step.actionId,
    tests: [],
    web: { ...asked, ...seen },
  };
  await context.run.put('observation', step.position, { ...observation, takenAt: now(context) });
  return { observationId: step.position, outcome: seen.outcome, usage: {} };
}

interface Asked extends WebInput {
  readonly request: string;
}

async function look(context: StepContext, asked: Asked, mayRetry: boolean): Promise<Seen> {
  // The reply was checked against the same list; what reaches the network is checked again.
  if (!context.input.question.tools.includes(asked.tool)) return nothing('refused', `${asked.tool} is not allowed`);
  const { web: open } = context.deps;
  if (open === undefined) throw new WebError('not-configured', 'this worker has no web search');
  return asked.tool === 'web_search'
    ? searched(context, await open(), asked, mayRetry)
    : fetched(context, await open(), asked, mayRetry);
}

async function searched(
  context: StepContext,
  port: Web,
  { request, mayFail }: Asked,
  mayRetry: boolean,
): Promise<Seen> {
  let results: SearchResult[];
  try {
    results = await port.search(request, { signal: context.signal });
  } catch (error) {
    const code = webCode(error);
    if (mayFail !== true || code === null || FOR_A_PERSON.has(code) || (PASSING.has(code) && mayRetry)) throw error;
    return nothing('failed', `No results: ${messageOf(error)}`);
  }
  if (results.length === 0) return nothing('nothing', 'No results.');
  const text = results.map(({ title, url, snippet }, at) => `${at + 1}. ${title}\n   ${url}\n   ${snippet}`).join('\n');
  return {
    outcome: 'found',
    text,
    citations: results.map(({ url, title, snippet }) => citation(context, url, title, snippet)),
    urls: results.map(({ url }) => url),
  };
}

async function fetched(context: StepContext, port: Web, asked: Asked, mayRetry: boolean): Promise<Seen> {
  const url = asked.request;
  if (!(await isKnown(context, asked))) {
    return nothing(
      'refused',
      'Refused: neither the user nor an earlier web result gave this address; search first, then copy it exactly.',
    );
  }
  try {
    return pageSeen(context, await port.fetch(url, { signal: context.signal }));
  } catch (error) {
    const code = webCode(error);
    if (code === null || (PASSING.has(code) && mayRetry && !asksForLong(error))) throw error;
    return code === 'refused' || code === 'robots'
      ? nothing('refused', `Refused: ${messageOf(error)}`)
      : nothing('failed', `No page: ${messageOf(error)}`);
  }
}

/** Whether the site asks for a longer wait than `PATIENCE_MS`. */
function asksForLong(error: unknown): boolean {
  return ((error as WebError).options.retryAfterMs ?? 0) > PATIENCE_MS;
}

function pageSeen(context: StepContext, page: WebPage): Seen {
  const title = page.title === null ? [] : [`Title: ${page.title}`];
  const end = page.truncated ? ['(cut here)'] : [];
  return {
    outcome: page.text === '' ? 'nothing' : 'found',
    text: page.text === '' ? 'The page has no text.' : [...title, page.text, ...end].join('\n'),
    citations: [citation(context, page.url, page.title, page.text)],
    urls: [...new Set([page.url, ...urlsIn(page.text)])],
  };
}

function nothing(outcome: Seen['outcome'], text: string): Seen {
  return { outcome, text, citations: [], urls: [] };
}

function citation(context: StepContext, url: string, title: string | null, text: string): Citation {
  return { url, title, fetchedAt: now(context), sha256: sha256(text) };
}

/** Compares URLs without fragment. Database rows are no source of URLs: a query can produce any address. */
async function isKnown(context: StepContext, { request, turns }: Asked): Promise<boolean> {
  const wanted = plainUrl(request);
  if (wanted === null) return true; // Not a URL: the port's error says what is wrong.
  const { text, context: told, instructions, documents } = context.input.question;
  const written = [text, told ?? '', instructions ?? '', ...documents.map((document) => document.text)];
  if (written.flatMap(urlsIn).some((url) => plainUrl(url) === wanted)) return true;
  const seen = await Promise.all(turns.map((id) => context.run.get('observation', id)));
  return seen.flatMap((each) => each.web?.urls ?? []).some((url) => plainUrl(url) === wanted);
}

function plainUrl(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  url.hash = '';
  return url.href;
}

/** The URLs in a text, without the full stop, quotation mark or bracket of the sentence around them. */
function urlsIn(text: string): string[] {
  return [...text.matchAll(/https?:\/\/[^\s<>"'`[\]{}|\\^“”„‘’‚«»‹›（）「」『』【】、。，；：]+/gi)]
    .map(([url]) => withoutEnd(url))
    .filter((url) => url.length <= URL_CHARS);
}

/** A closing bracket belongs to the address only if it was opened in it, as in `…/Week_(ISO)`. */
function withoutEnd(url: string): string {
  let end = url.length;
  let open = url.split('(').length - url.split(')').length;
  for (; end > 0; end -= 1) {
    const last = url.charAt(end - 1);
    if (last === ')' && open < 0) open += 1;
    else if (!'.,;:!?*'.includes(last)) break;
  }
  return url.slice(0, end);
}

function messageOf(error: unknown): string {
  return cut((error as Error).message.replace(/\s+/g, ' '), 300);
}

/** Checked by name, because the error may be of another realm. */
function webCode(error: unknown): WebErrorCode | null {
  const isWeb = typeof error === 'object' && error !== null && 'name' in error && error.name === 'WebError';
  return isWeb ? (error as WebError).code : null;
}
