/**
 * Asking through MCP. A client ends a call after a minute, so a call waits less and says where the search stands; the next call,
 * of the same question or of `result`, goes on with the same search.
 *
 * A reading that no data can decide is offered to the person behind the client, once, where the client can ask. Another reading
 * than the answer's is another search, under that instruction, of which the layer keeps nothing.
 */
import {
  acceptedContent,
  inputRequired,
  type CallToolResult,
  type InputRequiredResult,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { cut, visibleLine } from '../../clip';
import { searchOf, type App } from '../../app/app';
import type { OthersQuestion } from '../../app/asker';
import { GateError } from '../../app/errors';
import { aborted, overAfter } from '../../app/waiting';
import type { AnswerRecord } from '../../domain';
import { toldTexts } from '../../text/answer-text';
import { progressText } from '../../search/progress';
import { searchNamed, type Door } from './door';
import { recordTold, standingTold } from './texts';

export interface Call {
  readonly door: Door;
  readonly mcp: ServerContext['mcpReq'];
  /** Whether the client can ask a person. */
  readonly elicits: boolean;
}

export type Told = CallToolResult | InputRequiredResult;

/** Clients give a call 60 s. */
export const WAIT_S = 45;

/** What an agent says of it; what GATE says for a chosen reading is added by `askedAnew`. */
export type Question = Pick<OthersQuestion, 'question' | 'db' | 'context' | 'after' | 'instructions' | 'memory'>;

export async function askAndWait(question: Question, call: Call): Promise<Told> {
  const until = Date.now() + WAIT_S * 1000;
  return waitFor(await begun(question, call, until), call, until);
}

/** The id of the search. */
async function begun(question: Question, { door, mcp }: Call, until: number): Promise<string> {
  const { app, asker, askers } = door;
  if (question.after !== undefined) await searchNamed(door, question.after);
  const costUsd = asker.budget?.usd ?? Infinity;
  const budgets = costUsd < (app.config.budgets.costUsd ?? Infinity) ? { costUsd } : undefined;
  const asking = door.beginning.run(() => askers.ask(asker, { ...question, budgets }));
  // It goes on beyond the call, and nobody may wait for it then.
  asking.catch(() => undefined);
  const over = overAfter(Math.max(0, until - Date.now()), mcp.signal);
  const asked = await Promise.race([asking, aborted(over)]);
  if (asked === undefined)
    throw new GateError(
      `the search did not begin within ${WAIT_S} s; ask again: it goes on, and nothing is paid twice`,
    );
  return searchOf(asked);
}

/** Waits until then at the latest. */
export async function waitFor(id: string, call: Call, until: number): Promise<Told> {
  const { door, mcp } = call;
  const { standingWithin } = await import('../../app/read');
  const waiting = { waitMs: Math.max(0, until - Date.now()), leave: mcp.signal };
  const instead = door.offered.get(id);
  const status = await standingWithin(instead ?? id, { ...door.app, onEvent: progressTo(call) }, waiting);
  if (status.record === null) return standingTold(status);
  if (instead) return recordTold(status.record, { readAs: CHOSEN });
  return withReading(status.record, call, until);
}

const CHOSEN = 'a person chose this reading';

function progressTo({ mcp, door }: Call): App['onEvent'] {
  const progressToken = mcp._meta?.progressToken;
  let [progress, last] = [0, ''];
  return (event) => {
    if (event.kind !== 'progress') return door.app.onEvent(event);
    if (progressToken === undefined) return;
    const message = progressText(event.progress, Date.now());
    if (message === last) return;
    [progress, last] = [progress + 1, message];
    const params = { progressToken, progress, message };
    // The answer comes all the same.
    void mcp.notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
}

const READING_CHARS = 300;

async function withReading(record: AnswerRecord, call: Call, until: number): Promise<Told> {
  const { door, mcp, elicits } = call;
  const { id, question } = record;
  const open = record.openAssumptions.flatMap(({ kind, statement, alternative }) =>
    kind === 'open-by-wording' && alternative !== null
      ? [{ taken: shown(statement), other: shown(alternative.reading), gives: shown(alternative.gives), alternative }]
      : [],
  );
  if (open.length === 0) return recordTold(record);
  const isOffered = door.offered.has(id);
  if (elicits && !isOffered) {
    door.offered.set(id, null);
    return inputRequired({
      inputRequests: {
        readings: inputRequired.elicit({
          message: [
            `The data cannot tell how this is meant: ${shown(question)}`,
            `The answer so far: ${shown(toldTexts(record)[0] ?? '')}`,
            ...open.map(({ other, gives }) => `Read as "${other}" it would be: ${gives}`),
          ].join('\n'),
          requestedSchema: {
            type: 'object',
            properties: Object.fromEntries(
              open.map(({ taken, other }, at) => [`reading${at + 1}`, { type: 'string', enum: [taken, other] }]),
            ),
          },
        }),
      },
    });
  }
  const chosen = acceptedContent(mcp.inputResponses, 'readings');
  if (chosen === undefined) return recordTold(record);
  const others = open.filter(({ other }, at) => chosen[`reading${at + 1}`] === other);
  if (others.length === 0) return recordTold(record, { readAs: CHOSEN });
  return askedAnew(
    record,
    others.map(({ alternative }) => alternative.reading),
    call,
    until,
  );
}

function shown(text: string): string {
  return cut(visibleLine(text), READING_CHARS);
}

/** The same question under the readings that a person chose. */
async function askedAnew(record: AnswerRecord, readings: readonly string[], call: Call, until: number): Promise<Told> {
  const { door } = call;
  const { store, config } = door.app;
  const { inputOf } = await import('../../app/services');
  const asked = (await inputOf(store, record.id))?.question;
  const instructions = [asked?.instructions, ...readings.map((reading) => `It is meant as: ${reading}`)];
  const question: Question = {
    ...{ question: record.question, db: record.database, after: record.after },
    ...(asked?.context && { context: asked.context }),
    instructions: instructions.filter(Boolean).join('\n'),
    memory: config.memory === 'off' ? 'off' : 'read',
  };
  const id = await begun(question, call, until);
  door.offered.set(record.id, id);
  door.offered.set(id, null);
  return waitFor(record.id, call, until);
}
