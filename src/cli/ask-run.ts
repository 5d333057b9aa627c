/** Asking, learning and forking from a terminal: what they print, and their exit code. What prints an answer loads when there is one. */
import { join } from 'node:path';
import { loadConfig } from '../config';
import { parseMethodSpec } from '../config/method-specs';
import { openApp, type App, type Asked, type Patience, type ServedBy } from '../app/app';
import { ask, learn, type AskRequest, type LearnRequest } from '../app/ask';
import { SearchFailedError } from '../app/errors';
import type { ForkRequest } from '../app/fork';
import { authorOf } from '../app/surroundings';
import { EXIT, type ExitCode } from './exit';
import { eventPrinter } from './follow';
import { watchInterrupts } from './interrupts';
import { argumentText, printJson, type Io } from './io';
import { intervalText, limitsOf, timeText, type LimitFlags } from './options';
import type { Printing } from './print-answer';

interface BeginFlags extends Printing {
  readonly detach?: boolean;
  readonly debug?: boolean;
}

export type AskFlags = Omit<AskRequest, 'text' | 'budgets'> & LimitFlags & BeginFlags;

export async function runAsk(argument: string, flags: AskFlags, io: Io): Promise<ExitCode> {
  const text = await argumentText(argument, io);
  const shown = { ...flags, sql: flags.output === 'sql' && flags.csv !== true };
  return begin(io, shown, (app, servedBy) => ask({ ...flags, text, budgets: limitsOf(flags) }, app, servedBy));
}

const INTRODUCTION = `The sample database holds 18 sprint events; nobody wrote down how its JSON column stores times.
The winner's final_time is an absolute time, everybody else's a gap, some gaps with minutes. Read naively the answer is 0.

The model's replies are REPLAYED from a recording (its first line says how they were made). Everything else is real: the
search as a Temporal workflow, the SQL, the probes, the proof. With a model of your own:
  export OPENAI_API_KEY=…  GATE_MODEL=…      (or OPENAI_BASE_URL for any compatible endpoint, or a local Ollama)
`;

/** `gate demo` asks the question of the sample database with a recording in place of the model. */
export async function runDemo(flags: Pick<BeginFlags, 'json' | 'debug'>, io: Io): Promise<ExitCode> {
  const { buildSprintDatabase, demoFiles, DEMO_QUESTION } = await import('../app/demo');
  const { sql, recording } = demoFiles();
  const db = join(loadConfig(io).folders.cache, 'demo', 'sprint.sqlite');
  buildSprintDatabase(sql, db);
  io.err(`${INTRODUCTION}  npx gate ask "${DEMO_QUESTION}" \\\n    --db ${db}\n\n`);
  const asked = { method: parseMethodSpec('fast'), output: 'answer', fresh: true, db, replay: recording } as const;
  return runAsk(DEMO_QUESTION, { ...asked, ...flags }, io);
}

export type LearnFlags = Omit<LearnRequest, 'budgets'> & LimitFlags & BeginFlags;

export async function runLearn(flags: LearnFlags, io: Io): Promise<ExitCode> {
  const request = { ...flags, budgets: limitsOf(flags) };
  return begin(io, flags, (app, servedBy) => learn(request, app, servedBy));
}

export type ScheduleFlags = AskFlags & { readonly every?: number; readonly cron?: string };

/** `gate schedule add`: the answer as `gate ask` prints it, then the schedule; with `--json` the schedule alone. */
export async function runSchedule(argument: string, flags: ScheduleFlags, io: Io): Promise<ExitCode> {
  const { every: everyMs, cron, json, ...asking } = flags;
  const when = cron === undefined ? { everyMs: everyMs ?? 0 } : { cron };
  const written = cron ?? `every ${intervalText(everyMs ?? 0)}`;
  const request = {
    ...asking,
    output: 'answer' as const,
    text: await argumentText(argument, io),
    budgets: limitsOf(flags),
  };
  const { addSchedule } = await import('../app/schedules');
  return begin(json ? { ...io, out: () => undefined } : io, asking, async (app, servedBy) => {
    const { asked, nextAt, ...made } = await addSchedule({ request, when, written }, app, io, servedBy);
    if (json) printJson(io, { id: made.searchId, database: made.database, when: written, nextAt });
    else io.out(`\nscheduled ${made.searchId} on '${made.database}': ${written}; next run ${timeText(nextAt)}\n`);
    return asked;
  });
}

export type ForkFlags = Omit<ForkRequest, 'budgets' | 'hint'> &
  LimitFlags &
  BeginFlags & { readonly hint?: string; readonly author?: string };

export async function runFork(wanted: string, flags: ForkFlags, io: Io): Promise<ExitCode> {
  const hint = flags.hint === undefined ? undefined : { author: authorOf(flags.author, io), text: flags.hint };
  const request = { ...flags, hint, budgets: limitsOf(flags) };
  const { fork } = await import('../app/fork');
  return begin(io, flags, (app, servedBy) => fork(wanted, request, app, servedBy));
}

/** The first interrupt ends the search with its best answer so far (design D6), the second leaves it where it is. */
async function begin(
  io: Io,
  flags: BeginFlags,
  work: (app: App, servedBy: ServedBy) => Promise<Asked>,
): Promise<ExitCode> {
  const { detach = false, json = false, debug } = flags;
  const printer = eventPrinter(io, { debug, attended: !detach });
  let code: ExitCode = EXIT.ok;
  const app = openApp(io, async (event) => {
    printer.onEvent(event);
    if (event.kind === 'answer') code = await (await import('./print-answer')).printAnswer(app, event, io, flags);
  });
  const interrupts = watchInterrupts(io);
  const patience: Patience = { stop: interrupts.asked, leave: interrupts.quit };
  try {
    const asked = await work(app, detach ? 'background' : patience);
    if (asked.kind === 'answer') return code;
    const { searchId, ui, servedBy } = asked;
    io.out(json ? `${JSON.stringify({ id: searchId, status: 'running', ui }, null, 2)}\n` : `${searchId}\n`);
    io.err(`gate show ${searchId} shows where it stands, with --wait its answer.\n${servedBy}\n`);
    return EXIT.ok;
  } catch (error) {
    printer.stop();
    if (json && error instanceof SearchFailedError && error.record !== null)
      io.out((await import('./show-answer')).answerJson(error.record, { report: null, ui: null }));
    throw error;
  } finally {
    printer.stop();
    interrupts.stopListening();
  }
}
