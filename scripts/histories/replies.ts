/**
 * The models behind the recorded histories, one per name: the hand-written replies of the sprint example, bent so that
 * the searches take different paths. A reply depends on the request alone, so that a recording can be repeated.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { scriptedModel } from '../../tests/helpers/scripted';
import { ModelError, type LanguageModel, type ModelRequest } from '../../src/domain/ports';
import * as talk from './look-replies';
import { firstPlan, judgement, secondPlan } from './search-replies';

type Reply = (request: ModelRequest) => object | string | Promise<object | string>;

/** Asked by one batch, so that one of its questions fails and the others do not. */
export const REFUSED_QUESTION = 'Which question does the model refuse?';

/** Two derivations that agree: plan, proof of the gap, second plan. */
const agreeing: Reply = (request) => {
  if (request.role === 'plan') return isSecondPlan(request) ? secondPlan : firstPlan;
  if (request.role === 'ground') return judgement(lastObservation(request));
  throw new Error(`no reply for the role ${request.role}`);
};

/** What its probe proved is read, and kept for other questions. */
const keeping: Reply = (request) => {
  const read = { claim: 1, keep: true, statement: null, scope: null, restsOn: [], replaces: [], contradicts: [] };
  return request.role === 'keep' ? { claims: [read] } : agreeing(request);
};

/** The first try of every plan is not JSON, and the second plan counts something else: the judge has to choose. */
const disagreeing: Reply = (request) => {
  if (request.role === 'plan' && triesBefore(request) === 0) return 'Let me think about the sprint events first.';
  if (request.role === 'plan' && isSecondPlan(request))
    return JSON.stringify(secondPlan).replace('gap_ms > 5000', 'gap_ms > 9000');
  if (request.role === 'evaluate') return evaluation(request);
  if (request.role === 'propose') return { tests: [], done: true, note: 'nothing left to test' };
  if (request.role === 'select') return { reason: 'the first is proved', choice: 1 };
  return agreeing(request);
};

/** The first plan runs and is doubtful, so that it stays open while the root is asked for a second derivation. */
const doubtful: Reply = (request) => {
  if (request.role === 'plan' && textOf(request).includes('op_duration_gap')) return firstPlan;
  if (request.role === 'plan')
    return JSON.parse(JSON.stringify(secondPlan).replace('"risk":0.1', '"risk":0.6')) as object;
  if (request.role === 'propose') return { tests: [], done: true, note: 'nothing to test it against' };
  return request.role === 'evaluate' ? evaluation(request) : agreeing(request);
};

/** A judge that never decides: the search goes on until something else ends it. */
const undecided: Reply = (request) => {
  switch (request.role) {
    case 'plan':
      return { ...firstPlan, tests: [] };
    case 'propose':
      return { tests: firstPlan.tests, done: observationsIn(request).length > 1, note: 'look again' };
    case 'ground': {
      const [judged] = judgement(lastObservation(request)).judgements;
      const verdicts = (judged?.verdicts ?? []).map((one) => ({ ...one, verdict: 'open' }));
      return { ...judgement(''), judgements: [{ ...judged, winner: null, sql: null, verdicts }], facts: [] };
    }
    case 'evaluate':
      return evaluation(request);
    case 'select':
      return { reason: 'nothing is proved', choice: 0 };
    default:
      throw new Error('this model plans');
  }
};

/** Looks a word up before it plans; the page behind the result does not answer. */
const curious: Reply = (request) => {
  if (request.role !== 'plan' || textOf(request).includes('by a clear margin')) return agreeing(request);
  const lookups = [
    { tool: 'web_search', request: 'dominant victory sprint' },
    { tool: 'fetch_url', request: 'https://example.org/gone' },
  ];
  return { ...firstPlan, kind: 'lookup', operators: [], tests: [], lookups };
};

/** Two looks, a final query that does not run, one that does. */
const acting: Reply = (request) => {
  const done = request.messages.filter(({ role }) => role === 'assistant').length;
  const act = {
    action: 'tool_call',
    tool: 'execute_sql',
    sql: null,
    answer: null,
    finalSql: null,
    unanswerable: false,
  };
  const look = 'SELECT performance FROM sprint_results ORDER BY result_id LIMIT 3';
  const count = 'SELECT count(*) AS events FROM events';
  if (done < 2) return { ...act, note: 'look', sql: done === 0 ? look : count };
  const finalSql = done === 2 ? 'SELECT count(*) FROM dominant_victories' : count;
  return { ...act, note: 'enough', action: 'end', tool: null, answer: '18', finalSql };
};

/** Runs that act alike, and a choice between them. */
const repeating: Reply = (request) =>
  request.role === 'select' ? { reason: 'all runs say so', choice: 1 } : acting(request);

/** The root looks itself for so many turns, then has things counted by helpers, all at once. */
const delegating =
  (turns: number, ...subtasks: readonly string[]): Reply =>
  (request) => {
    const done = triesBefore(request);
    const sql = 'SELECT count(*) AS events FROM events';
    const isHelper = textOf(request).includes('Subtask: ');
    if (done < (isHelper ? 1 : turns)) return { note: 'look', action: 'tool_call', tool: 'execute_sql', sql };
    if (isHelper)
      return { note: 'counted', action: 'end', findings: [{ about: 'table', fact: '20 events' }], report: '20 events' };
    if (done === turns) return { note: 'split it', action: 'delegate', subtasks };
    return { note: 'enough', action: 'end', answer: null, finalSql: sql, coverage: null, unanswerable: false };
  };

/** Looks first; no two votes come to the same result. */
const voting: Reply = (request) => {
  const count = 'SELECT count(*) AS events FROM events';
  switch (request.role) {
    case 'reforce-format':
      return { header: 'events:number' };
    case 'reforce-explore':
      return { note: 'look', queries: [1, 2, 3].map((at) => ({ why: `look ${at}`, sql: `${count} LIMIT ${at}` })) };
    case 'reforce-generate':
      return { note: 'one query', sql: `SELECT count(*) + ${request.seed % 1_000} AS events FROM events` };
    case 'reforce-choose':
      return { note: 'the question asks for events', choice: 1 };
    case 'reforce-answer':
      return { answer: null };
    default:
      throw new Error(`no reply for the role ${request.role}`);
  }
};

/** A turn of the conversation, by how many replies went before; the last one goes on. */
const talking =
  (...turns: readonly (object | string)[]): Reply =>
  (request) => {
    if (request.role !== 'look') throw new Error(`no reply for the role ${request.role}`);
    return turns[Math.min(triesBefore(request), turns.length - 1)] ?? '';
  };

/** Its claim stays open however often it goes back, and the search proves it. */
const unsure: Reply = (request) => {
  switch (request.role) {
    case 'look':
      return talk.openCommit;
    case 'propose':
      return { tests: [talk.behindTest], done: true, note: 'over all finishers' };
    case 'ground':
      return talk.behindJudgement(lastObservation(request));
    default:
      return disagreeing(request);
  }
};

/** Keeps no format in the conversation, and does in single actions. */
const rambling: Reply = (request) =>
  request.role === 'look' ? 'Let me think about the sprint events first.' : acting(request);

const refusing: Reply = (request) => {
  if (textOf(request).includes(REFUSED_QUESTION)) throw new ModelError('bad-request', 'the model refused the request');
  return agreeing(request);
};

const revoked: Reply = (request) => {
  if (request.role === 'ground') throw new ModelError('authentication', 'the endpoint refused the key');
  return agreeing(request);
};

/** The judge, or the second turn of a conversation, is asked and never replies. */
export interface HangingModel extends LanguageModel {
  readonly asked: Promise<void>;
}

export function hangingModel(): HangingModel {
  let isAsked: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => (isAsked = resolve));
  const script = model((request) => (request.role === 'look' ? talk.openCommit : agreeing(request)));
  return {
    endpoint: script.endpoint,
    asked,
    complete: async (request, options) => {
      const hangs = request.role === 'look' ? triesBefore(request) > 0 : request.role === 'ground';
      if (!hangs) return script.complete(request, options);
      isAsked();
      return sleep(600_000, undefined, { signal: options.signal, ref: false }) as Promise<never>;
    },
  };
}

export const MODELS = {
  agreeing: model(agreeing),
  keeping: model(keeping),
  disagreeing: model(disagreeing),
  doubtful: model(doubtful),
  undecided: model(undecided),
  acting: model(acting),
  repeating: model(repeating),
  delegating: model(delegating(0, 'Count the events.', 'Count the results.')),
  'delegating-late': model(delegating(13, 'Count the events.')),
  voting: model(voting),
  certain: model(talking(talk.commit)),
  looking: model(talking(talk.look, talk.failingCommit, talk.commit)),
  mending: model(talking(talk.wrongCommit, talk.commit)),
  declining: model(talking(talk.decline)),
  unsure: model(unsure),
  rambling: model(rambling),
  curious: model(curious),
  refusing: model(refusing, 50),
  revoked: model(revoked),
} as const;

function model(reply: Reply, latencyMs = 0): LanguageModel {
  return scriptedModel({
    latencyMs,
    replies: async (request) => {
      const made = await reply(request);
      return typeof made === 'string' ? made : JSON.stringify(made);
    },
  });
}

function evaluation(request: ModelRequest): object {
  const asked = /one score for each of: ([^\n]*), no others/.exec(textOf(request))?.[1] ?? '';
  const ids = asked.split(', ');
  const scores = ids.map((trajectory, at) => ({
    ...{ trajectory, progress: 0.5, bottleneck: null, note: '' },
    potential: trajectory === 't0' ? 9 : 3 + at,
  }));
  return { scores };
}

/** A later plan of the root is shown the earlier ones. */
function isSecondPlan(request: ModelRequest): boolean {
  return textOf(request).includes('op_gap');
}

function triesBefore(request: ModelRequest): number {
  return request.messages.filter(({ role }) => role === 'assistant').length;
}

function lastObservation(request: ModelRequest): string {
  const last = observationsIn(request).at(-1);
  if (last === undefined) throw new Error('no observation to judge in the prompt');
  return last;
}

function observationsIn(request: ModelRequest): string[] {
  return [...new Set(textOf(request).match(/\bi\d+\.t[\d-]+\.s\d+\.a\d+\.r\d+\.probe\b/g) ?? [])];
}

function textOf(request: ModelRequest): string {
  return request.messages.map(({ content }) => content).join('\n');
}
