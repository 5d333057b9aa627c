/**
 * `gate batch run`, `gate batch retry` and `gate-bench compare`: from a command line to a run, and what came of it as text, JSON and an
 * exit code.
 */
import { existsSync } from 'node:fs';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { UsageError, withoutSecrets } from '../app/errors';
import type { Overrides, Recording } from '../app/run/arms';
import { both, dollarRange, range, requireUsable, type RunEstimate } from '../app/run/estimate';
import type { Laboratory } from '../app/run/laboratory';
import {
  detachRun,
  estimate,
  retryOf,
  runQuestions,
  type RunDoor,
  type RunResult,
  type WantedRun,
} from '../app/run/run';
import { configOf, readRunConfig } from '../app/run/run-config';
import { openServices } from '../app/services';
import type { MethodSpec } from '../config/method-specs';
import type { MemoryMode, Question } from '../domain';
import { counted } from '../report/printable';
import { mainTable, setTables } from '../report/run-tables';
import { decodedInUi } from '../app/temporal-session';
import { EXIT, type ExitCode } from './exit';
import { watchInterrupts } from './interrupts';
import type { Io } from './io';
import type { LimitFlags, ModelFlags } from './options';
import { runDisplay } from './run-display';
import { textTable } from './table';

export interface RunFlags extends LimitFlags {
  readonly db?: readonly string[];
  readonly out?: string;
  readonly methods?: readonly MethodSpec[];
  readonly seeds?: number;
  readonly seed?: number;
  readonly memory?: MemoryMode;
  readonly model?: ModelFlags;
  readonly concurrency?: number;
  readonly limit?: number;
  readonly ids?: readonly string[];
  readonly name?: string;
  readonly docs?: readonly string[] | false;
  readonly output?: Question['outputMode'];
  readonly web?: boolean;
  readonly knowledge?: boolean;
  readonly rows?: boolean;
  readonly maxTotalCost?: number;
  readonly fresh?: boolean;
  readonly dryRun?: boolean;
  readonly detach?: boolean;
  readonly json?: boolean;
  readonly debug?: boolean;
  readonly data?: string;
  readonly record?: string;
  readonly replay?: string;
}

/** Options beside a plan; everything else is said in its file. */
const BESIDE_PLAN: readonly string[] = [
  ...['out', 'db', 'data', 'model', 'concurrency', 'limit', 'seed', 'maxTotalCost', 'dryRun', 'fresh', 'json'],
  ...['detach', 'debug', 'record', 'replay'],
];
const isPlan = (what: string): boolean => /\.ya?ml$/i.test(what);

/** `what`: a plan or a file of questions. `flags`: those that were typed. */
export async function runCommand(
  what: string,
  flags: RunFlags,
  args: readonly string[],
  io: Io,
  laboratory?: Laboratory,
): Promise<ExitCode> {
  const { out, fresh, debug } = flags;
  if (flags.detach && flags.dryRun) throw new UsageError('--dry-run starts nothing: leave --detach out');
  if (out === undefined && !flags.dryRun && !flags.detach)
    throw new UsageError('where do the results go? add --out FOLDER (or --dry-run for an estimate)');
  const benchmarks = laboratory?.benchmarks ?? null;
  const program = laboratory === undefined ? 'gate' : 'gate-bench';
  const asked = isPlan(what) ? planIn(what, flags, benchmarks, io) : planOf(what, flags, benchmarks, io);
  const wanted: WantedRun = {
    ...{ ...asked, fresh, debug, laboratory, files: await recordingOf(flags, io) },
    out: out === undefined || flags.detach || flags.dryRun ? null : resolve(io.cwd, out),
    command: shownCommand(args, program),
  };
  if (flags.dryRun) return shownEstimate(wanted, flags, io);
  if (flags.detach) return detached(wanted, flags, io);
  return followed(wanted, flags, io);
}

export interface RetryFlags extends Pick<RunFlags, 'json' | 'debug'> {
  readonly undecided?: boolean;
}

export async function retryCommand(
  given: string,
  flags: RetryFlags,
  args: readonly string[],
  io: Io,
): Promise<ExitCode> {
  const { undecided = false, debug } = flags;
  const command = shownCommand(args, 'gate');
  const found = await retryOf(given, { undecided, command }, io, (line) => io.err(`${line}\n`));
  if (found.kind === 'nothing') {
    io.err(`${found.reason}\n`);
    return EXIT.ok;
  }
  const at = { ...io, cwd: found.cwd };
  const wanted = { ...found.wanted, debug };
  return found.isDetached ? detached(wanted, flags, at) : followed(wanted, flags, at);
}

type Asked = Pick<WantedRun, 'read' | 'overrides' | 'base'>;

/** The plan of a file. */
function planIn(what: string, flags: RunFlags, benchmarks: readonly string[] | null, io: Io): Asked {
  const other = Object.keys(flags).find((name) => !BESIDE_PLAN.includes(name));
  if (other !== undefined)
    throw new UsageError(`${optionOf(other)}: leave it out; the file of a run says what is asked`);
  const path = resolve(io.cwd, what);
  const { db, model, concurrency, limit, seed, maxTotalCost } = flags;
  const overrides: Overrides = { db, model, concurrency, limit, seed, maxTotalCost };
  const base = flags.data === undefined ? dirname(path) : resolve(io.cwd, flags.data);
  return { read: readRunConfig(path, what, benchmarks), overrides, base };
}

const optionOf = (name: string): string => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** The plan that options stand for. */
function planOf(what: string, flags: RunFlags, benchmarks: readonly string[] | null, io: Io): Asked {
  if (flags.data !== undefined) throw new UsageError('--data is for the .yaml of a run; leave it out');
  const name = (flags.name ?? basename(what, extname(what))).trim();
  if (name === '' || name.length > 100) throw new UsageError('--name: give a name of 1 to 100 characters');
  const { seed, methods, seeds, db: databases, model, docs, knowledge, limit, concurrency } = flags;
  const { output, web, memory, rows, max, maxCost, maxTotalCost } = flags;
  const ids = flags.ids?.flatMap((text) => text.split(',').map((id) => id.trim())).filter((id) => id !== '');
  const options = {
    ...{ name, questions: [{ name, file: what, ids }], methods: methods?.map(({ spec }) => spec) },
    ...{ seeds: seed === undefined ? seeds : [seed], databases, model, docs, knowledge, limit, concurrency },
    ...{ output, web, memory, rows, max, 'max-cost': maxCost, 'max-total-cost': maxTotalCost },
  };
  return { read: configOf(options, what, benchmarks), overrides: {}, base: io.cwd };
}

async function recordingOf({ record, replay }: RunFlags, { cwd }: Io): Promise<Recording> {
  if (replay === undefined) return record === undefined ? {} : { record: resolve(cwd, record) };
  const path = resolve(cwd, replay);
  if (!existsSync(path)) throw new UsageError(`--replay ${replay}: no such file; give a recording that --record wrote`);
  const { readRecording } = await import('../adapters/recording');
  await readRecording(path);
  return { replay: path };
}

/** As it can be typed again, without passwords. */
export function shownCommand(args: readonly string[], program: string): string {
  const quoted = args.map((argument) => {
    const text = withoutSecrets(argument);
    return /^[\w./:=@,+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
  });
  return [program, ...quoted].join(' ');
}

/** Work with a display and interrupts. */
async function withDoor<T>(io: Io, work: (door: RunDoor & { readonly done: () => void }) => Promise<T>): Promise<T> {
  const display = runDisplay(io);
  const stopping = watchInterrupts(io);
  try {
    return await work({ surroundings: io, tell: display.tell, stopping, done: display.stop });
  } finally {
    display.stop();
    stopping.stopListening();
  }
}

async function followed(wanted: WantedRun, flags: Pick<RunFlags, 'json'>, io: Io): Promise<ExitCode> {
  return withDoor(io, async (door) => {
    const result = await runQuestions(wanted, door);
    door.done();
    const say = (line: string): void => door.tell({ kind: 'note', arm: null, text: line });
    io.out(flags.json ? `${JSON.stringify(result.run, null, 2)}\n` : reportText(result, io.columns));
    if (wanted.out !== null) say(result.files.map((file) => join(wanted.out ?? '', file)).join(', '));
    return endingOf(result, wanted, say);
  });
}

function endingOf(
  { stopped, failure, open, infrastructureFailures: failed, detached }: RunResult,
  { fresh }: WantedRun,
  say: (line: string) => void,
): ExitCode {
  if (failure !== null) throw failure;
  const left = counted(open, 'question');
  const again = `run the same command${fresh ? ' without --fresh' : ''} again`;
  if (stopped === 'interrupted') {
    say(
      detached
        ? `${left} open, which others work on; ${again} to follow`
        : `paused with ${left} open; ${again} to continue; nothing is paid twice`,
    );
    return EXIT.cancelled;
  }
  if (stopped !== null) {
    const why = stopped === 'ceiling' ? 'raise --max-total-cost and' : 'the batch was cancelled;';
    say(`${left} not asked: ${why} ${again} to continue`);
    return EXIT.cancelled;
  }
  if (failed + open === 0) return EXIT.ok;
  const what = [
    ...(failed > 0 ? [counted(failed, 'infrastructure failure')] : []),
    ...(open > 0 ? [`${left} not asked`] : []),
  ].join(', ');
  say(`${what}: the same command asks them again`);
  return EXIT.failed;
}

function reportText({ run }: RunResult, width: number): string {
  const { sets } = run;
  const all = sets.length > 1 ? [mainTable(run)] : [];
  const ofSets = sets.flatMap((set) => [
    ...(sets.length > 1 || set.note !== null ? [set.note === null ? set.name : `${set.name}: ${set.note}`] : []),
    ...set.remarks,
    ...setTables(set).map((table) => (sets.length > 1 ? { ...table, title: `${set.name}: ${table.title}` } : table)),
  ]);
  return [...all, ...ofSets]
    .map((one) =>
      typeof one === 'string'
        ? `${one}\n`
        : `${one.title}\n${textTable(one.heads, one.rows, { width, whole: one.heads.length })}\n`,
    )
    .join('\n');
}

function shownEstimate(wanted: WantedRun, flags: RunFlags, io: Io): Promise<ExitCode> {
  return withDoor(io, async (door) => {
    const found = await estimate(wanted, door);
    io.out(flags.json ? `${JSON.stringify(found, null, 2)}\n` : estimateText(found, io.columns));
    requireUsable(found);
    return EXIT.ok;
  });
}

/** A row for each batch, or for each database of a batch alone, and their sum. */
function estimateText({ batches, sum }: RunEstimate, width: number): string {
  const [only] = batches;
  const cost = (given: typeof sum.costUsd): string => (given === null ? 'not known' : dollarRange(given));
  const table =
    batches.length === 1 && only !== undefined
      ? textTable(
          ['database', 'engine', 'questions', 'to ask', 'tables', 'calls', 'tokens', 'check'],
          only.databases.map((one) => [
            ...[one.database, one.engine, one.questions, one.toAsk, one.tables],
            ...[range(one.calls), range(both(one.promptTokens, one.completionTokens)), one.problem ?? 'ready'],
          ]),
          { width },
        )
      : textTable(
          ['batch', 'questions', 'to ask', 'calls', 'cost'],
          batches.map((one) => [one.label, one.questions, one.toAsk, range(one.calls), cost(one.costUsd)]),
          { width, whole: 1 },
        );
  const price =
    sum.costUsd === null
      ? `cost not known: no price for ${sum.unpricedModels.join(', ')} (set "prices")`
      : dollarRange(sum.costUsd);
  return [
    table,
    '',
    `${sum.toAsk} of ${counted(sum.questions, 'question')} to ask: ${range(sum.calls)} model calls, ${range(both(sum.promptTokens, sum.completionTokens))} tokens, ${price}`,
    ...new Set(batches.map(({ assumption }) => assumption)),
    'Nothing was asked and nothing was paid.',
    '',
  ].join('\n');
}

async function detached(wanted: WantedRun, flags: Pick<RunFlags, 'json'>, io: Io): Promise<ExitCode> {
  await withDoor(io, (door) =>
    detachRun(wanted, door, (run, session) => {
      io.out(flags.json ? `${JSON.stringify(run, null, 2)}\n` : `${run.id}\n`);
      if (session === null) return;
      if (run.ui !== null) io.err(`Temporal UI ${run.ui}\n`);
      io.err(decodedInUi(openServices(io).config, session));
    }),
  );
  return EXIT.ok;
}
