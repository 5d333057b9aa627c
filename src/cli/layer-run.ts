/** What `gate layer` prints of the layer of a database; what it does is in `app/layer.ts`. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { GateError, UsageError } from '../app/errors';
import * as app from '../app/layer';
import { words } from '../app/question-input';
import { stopWatching, watchesOf, watchLayer, type Watch } from '../app/layer-watch';
import { fallText } from '../layer/drift';
import { allHeld, figuresOf, isCounted, type Held, type HeldEntry, type HeldRule } from '../layer/state';
import { counted } from '../report/printable';
import { sourceText } from '../text/claim-text';
import { visibleLine } from '../clip';
import type { WatchFound } from '../domain/ports/steps';
import { EXIT, type ExitCode } from './exit';
import { untilInterrupted } from './interrupts';
import type { Io } from './io';
import { intervalText } from './options';
import { openQuestionsText } from './show-answer';
import { authorOf } from './steer';
import { textTable } from './table';

export interface LayerFlags {
  readonly db?: string;
  readonly json?: boolean;
  readonly all?: boolean;
  readonly note?: string;
  readonly author?: string;
  readonly timeout?: number;
  readonly since?: string;
  readonly with?: string;
}

const json = (io: Io, value: unknown): void => io.out(`${JSON.stringify(value, null, 2)}\n`);
const short = ({ entryId }: { readonly entryId: string }): string => entryId.slice(0, 9);
const timeoutMs = ({ timeout = 25 }: LayerFlags): number => Math.round(timeout * 1000);

function by(flags: LayerFlags, io: Io): app.Said {
  return { at: new Date(io.now()).toISOString(), author: authorOf(flags, io), note: flags.note ?? null };
}

export async function listEntries(flags: LayerFlags, io: Io): Promise<void> {
  const { layer, database } = await app.openLayer(io, flags.db);
  const isShown = ({ status }: Held): boolean => flags.all === true || status === 'active';
  if (flags.json) {
    const shown = { entries: layer.entries.filter(isShown), rules: layer.rules.filter(isShown) };
    json(io, { database: database.name, ...layer, ...shown });
    return;
  }
  const all = allHeld(layer);
  const shown = all.filter(isShown);
  if (all.length === 0)
    io.err(`nothing is kept of ${database.name} yet; questions with claims add to it (gate ask --memory on)\n`);
  if (shown.length > 0) {
    // A table has no room for more than who says a rule.
    const figures = (held: Held): string => (isCounted(held) ? figuresOf(held) : `said by ${held.entry.author}`);
    const rows = shown.map((held) => [short(held.entry), held.status, figures(held), held.statement]);
    io.out(`${textTable(['entry', 'status', 'counted', 'statement'], rows, { width: io.columns, whole: 2 })}\n`);
  }
  const left = all.length - shown.length;
  if (left > 0) io.err(`${counted(left, 'more entry', 'more entries')} not in use: --all shows them\n`);
  if (layer.questions.length > 0)
    io.err(`${openQuestionsText(layer.questions, flags.db ?? database.name, io.columns)}\n`);
}

export async function showEntry(wanted: string, flags: LayerFlags, io: Io): Promise<void> {
  const open = await app.openLayer(io, flags.db);
  const held = app.findEntry(open, wanted);
  if (flags.json) {
    json(io, { ...held, history: app.historyOf(open, held) });
    return;
  }
  io.out(`${(isCounted(held) ? entryLines(held) : ruleLines(held)).join('\n')}\n`);
}

function entryLines(held: HeldEntry): string[] {
  const { rows, scope, rivals, from, provedAt, check, operator, restsOn } = held.entry;
  return [
    held.statement,
    `status    ${held.status}${held.why === null ? '' : `: ${held.why}`}`,
    `counted   ${figuresOf(held, rows)}${scope === null ? '' : ` (${scope})`}, ${held.countedAt.slice(0, 10)}`,
    ...rivals.map(
      ({ reading, matching, refuted }) =>
        `rival     ${reading}: ${matching ?? 'not counted'}${refuted ? ', refuted' : ', the same answer'}`,
    ),
    ...(restsOn.length === 0 ? [] : [`rests on  ${restsOn.join(', ')}`]),
    `proved    ${provedAt} ${sourceText(from.searchId)}${from.question === null ? '' : `: ${from.question}`}`,
    ...(held.confirmedBy === null ? [] : [`confirmed by ${held.confirmedBy}`]),
    `check\n${check}`,
    ...(operator === null ? [] : [`sql of a query that rested on it: ${operator.intent}\n${operator.sql}`]),
  ];
}

function ruleLines(held: HeldRule): string[] {
  const { author, saidAt, tables, columns } = held.entry;
  const about = [...columns, ...tables.filter((table) => !columns.some((column) => column.startsWith(`${table}.`)))];
  return [
    visibleLine(held.statement),
    `status    ${held.status}${held.why === null ? '' : `: ${visibleLine(held.why)}`}`,
    `said      by ${visibleLine(author)}, ${saidAt}; not counted`,
    `about     ${about.length === 0 ? 'no table or column of the database' : visibleLine(about.join(', '))}`,
    ...(held.confirmedBy === null ? [] : [`confirmed by ${held.confirmedBy}`]),
  ];
}

type Deciding = 'confirmed' | 'rejected';

export async function decideEntry(kind: Deciding, wanted: string, flags: LayerFlags, io: Io): Promise<void> {
  const open = await app.openLayer(io, flags.db);
  printStated({ held: await app.decideEntry(open, kind, wanted, by(flags, io)), namesTable: true }, flags, io);
}

export async function editEntry(wanted: string, said: string, flags: LayerFlags, io: Io): Promise<void> {
  const statement = words(said, 'statement');
  printStated(await app.editEntry(await app.openLayer(io, flags.db), wanted, statement, by(flags, io)), flags, io);
}

export async function answerQuestion(wanted: string, said: string, flags: LayerFlags, io: Io): Promise<void> {
  const answer = words(said, 'answer');
  printStated(await app.answerQuestion(await app.openLayer(io, flags.db), wanted, answer, by(flags, io)), flags, io);
}

function printStated({ held, namesTable }: app.Stated, flags: LayerFlags, io: Io): void {
  const why = held.why ?? (isCounted(held) ? null : figuresOf(held));
  const line = `${held.entry.entryId} is ${held.status}${why === null ? '' : ` (${why})`}: ${held.statement}`;
  if (flags.json) json(io, held);
  else io.out(`${visibleLine(line)}\n`);
  if (!namesTable)
    io.err('it names no table or column: questions are told it by its words alone; name what it is about\n');
}

export async function diffLayers(flags: LayerFlags, io: Io): Promise<void> {
  const open = await app.openLayer(io, flags.db);
  const diff = await app.diffLayers(open, { since: flags.since, other: flags.with }, io);
  if (flags.json) {
    json(io, diff);
    return;
  }
  const line = (sign: string, { entry, statement }: Held, more = ''): void =>
    io.out(`${sign} ${short(entry)} ${statement}${more}\n`);
  for (const held of diff.added) line('+', held);
  for (const held of diff.removed) line('-', held);
  for (const { after, what } of diff.changed) line('~', after, ` (${what.join('; ')})`);
  if (diff.added.length + diff.removed.length + diff.changed.length === 0) io.err('no difference\n');
}

export async function verifyLayer(flags: LayerFlags, io: Io): Promise<ExitCode> {
  const open = await app.openLayer(io, flags.db);
  const onProgress = (done: number, of: number): void => {
    if (io.live) io.err(`\r${done} of ${of} checks`);
  };
  const { nothing, ...verdict } = await untilInterrupted(io, (signal) =>
    app.verifyLayer(open, { timeoutMs: timeoutMs(flags), signal, now: io.now(), onProgress }),
  );
  if (io.live) io.err('\r');
  if (flags.json) json(io, verdict);
  else printVerdict(verdict, io);
  if (nothing !== null && !flags.json) io.err(`${nothing}\n`);
  const { checked, unseen, broken, fell } = verdict;
  if (unseen > 0 && !flags.json)
    io.err(
      `${counted(unseen, 'entry', 'entries')} could not be checked: the table or column is gone, or the check did not end within ${flags.timeout ?? 25} s (--timeout)\n`,
    );
  return checked > 0 && broken.length + fell.length + unseen === 0 ? EXIT.ok : EXIT.failed;
}

function printVerdict({ checked, broken, fell, heldAgain }: Omit<app.Verdict, 'nothing'>, io: Io): void {
  const line = (entry: { readonly entryId: string; readonly statement: string }, what: string, more: string): void =>
    io.out(`${short(entry)} ${what}: ${entry.statement} (${more})\n`);
  for (const entry of broken)
    if (entry.heldUntil === null)
      line(entry, 'still does not hold', `${entry.why ?? ''}; broken since ${entry.brokenSince}`);
    else line(entry, 'no longer holds', `${entry.why ?? ''}; it held until ${entry.heldUntil}`);
  for (const entry of fell) line(entry, 'holds for fewer rows', fallText(entry));
  for (const entry of heldAgain) line(entry, 'holds again', `broken since ${entry.brokenSince}`);
  const found = { checked, broken: broken.length, lower: fell.length, unseen: 0, broke: 0, fell: 0, heldAgain: 0 };
  if (checked > 0) io.out(`${resultText(found)}\n`);
}

function resultText({ checked, unseen, broken, lower, broke, fell, heldAgain }: WatchFound): string {
  const hold = (count: number): string => (count === 1 ? 'holds' : 'hold');
  const fresh = (count: number): string => (count === 0 ? '' : ` (${count} new)`);
  return [
    checked === 0 ? 'nothing checked' : `${counted(checked, 'entry', 'entries')} checked`,
    ...(checked > 0 && broken + lower === 0 ? ['all hold'] : []),
    ...(broken === 0 ? [] : [`${broken} no longer ${hold(broken)}${fresh(broke)}`]),
    ...(lower === 0 ? [] : [`${lower} ${hold(lower)} for fewer rows${fresh(fell)}`]),
    ...(heldAgain === 0 ? [] : [`${heldAgain} ${hold(heldAgain)} again`]),
    ...(unseen === 0 ? [] : [`${unseen} could not be checked`]),
  ].join(', ');
}

export interface WatchFlags {
  readonly db?: string;
  readonly every?: number;
  readonly timeout: number;
  readonly list?: boolean;
  readonly stop?: boolean;
  readonly json?: boolean;
}

export async function runWatch(flags: WatchFlags, io: Io): Promise<void> {
  const { db, every: everyMs, list, stop } = flags;
  if ([everyMs, list, stop].filter((each) => each !== undefined).length !== 1)
    throw new UsageError('say how often the checks run, such as --every 1h, or give --list or --stop: one of them');
  if (list) {
    const watches = await watchesOf(io, db);
    if (flags.json) {
      json(io, {
        watches: watches.map(({ input: { database }, everyMs: each, ...more }) => {
          return { database, every: intervalText(each), ...more };
        }),
      });
      return;
    }
    if (watches.length === 0) io.err('nothing is watched; begin with: gate layer watch --db NAME --every 1h\n');
    for (const each of watches) io.out(`${watchText(each)}\n`);
  } else if (stop) {
    const database = await stopWatching(io, db);
    if (flags.json) json(io, { database, stopped: true });
    else io.out(`'${database}' is no longer watched; what its layer holds stays\n`);
  } else {
    const given = { db, everyMs: everyMs ?? 0, timeoutMs: timeoutMs(flags) };
    const { database, nextAt } = await watchLayer(io, given);
    const every = intervalText(given.everyMs);
    if (flags.json) json(io, { database, every, nextAt });
    else io.out(`'${database}' is watched: every ${every}; next check ${timeText(nextAt)}\n`);
  }
}

function watchText({ input, everyMs, paused, nextAt, runs }: Watch): string {
  return [
    `${input.database}: every ${intervalText(everyMs)}`,
    `  next check ${paused ? 'none: paused in Temporal' : timeText(nextAt)}`,
    ...(runs.length === 0 ? ['  no check yet'] : []),
    ...runs.map(({ startedAt, outcome }) => `  ${timeText(startedAt)}  ${outcomeText(outcome)}`),
  ].join('\n');
}

function outcomeText(outcome: Watch['runs'][number]['outcome']): string {
  switch (outcome.kind) {
    case 'checked':
      return resultText(outcome.result);
    case 'failed':
      return `failed: ${visibleLine(outcome.message)}`;
    case 'running':
      return 'runs now';
    case 'unknown':
      return 'forgotten by Temporal';
  }
}

function timeText(at: Date | null): string {
  return at === null ? 'none' : `${at.toISOString().slice(0, 16)}Z`;
}

export interface ExportFlags extends LayerFlags {
  readonly format?: app.LayerFormat;
  readonly out?: string;
}

export async function exportLayer(flags: ExportFlags, io: Io): Promise<void> {
  const { format = 'markdown', out } = flags;
  if (flags.json && (flags.format !== undefined || out !== undefined))
    throw new UsageError('--json prints everything as it is kept; give it without --format and --out');
  if (format === 'dbt' && out === undefined) throw new UsageError('dbt needs several files: give a folder with --out');
  const open = await app.openLayer(io, flags.db);
  if (flags.json) {
    json(io, open.layer);
    return;
  }
  const { files, leftOut } = await untilInterrupted(io, (signal) => app.exportLayer(open, format, signal));
  for (const { entryId, why } of leftOut) io.err(`${entryId} is left out, its check does not run: ${why}\n`);
  const folder = out === undefined ? null : resolve(io.cwd, out);
  for (const { path, text } of files) {
    if (folder === null) io.out(text);
    else {
      const file = join(folder, ...path.split('/'));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  }
  if (folder !== null) io.err(`${counted(files.length, 'file')} written to ${folder}\n`);
}

const MAX_BYTES = 16 * 1024 * 1024;

export async function importLayer(file: string, flags: LayerFlags, io: Io): Promise<ExitCode> {
  const path = resolve(io.cwd, file);
  const info = statSync(path, { throwIfNoEntry: false });
  if (info === undefined || !info.isFile()) throw new GateError(`${file}: there is no such file`);
  if (info.size > MAX_BYTES) throw new GateError(`${file}: larger than ${MAX_BYTES / 1024 / 1024} MiB`);
  const source = { name: file, text: readFileSync(path, 'utf8') };
  const open = await app.openLayer(io, flags.db);
  const { entries, rules } = await untilInterrupted(io, (signal) =>
    app.importLayer(open, source, { timeoutMs: timeoutMs(flags), signal, now: io.now() }),
  );
  printProved(entries, flags, io);
  if (rules > 0)
    io.err(
      `${counted(rules, 'rule')} that people stated ${rules === 1 ? 'is' : 'are'} left out: state here what holds here (gate layer add)\n`,
    );
  return entries.every(({ outcome }) => outcome === 'kept' || outcome === 'known') ? EXIT.ok : EXIT.failed;
}

export interface AddFlags extends LayerFlags {
  readonly check?: string;
  readonly rival?: readonly string[];
  readonly rows?: string;
}

/** With a check it is a claim, and kept only if the rows show it; without one it is what a person says. */
export async function addStatement(said: string, flags: AddFlags, io: Io): Promise<ExitCode> {
  const { check, rival: rivals = [], rows = '' } = flags;
  const statement = words(said, 'statement');
  if (check === undefined) {
    if (rivals.length > 0 || rows !== '')
      throw new UsageError('--rival and --rows say what --check counts: give it, too');
    printStated(await app.addRule(await app.openLayer(io, flags.db), statement, by(flags, io)), flags, io);
    return EXIT.ok;
  }
  const open = await app.openLayer(io, flags.db);
  const claim = { statement, rows, check, rivals };
  const proved = await untilInterrupted(io, (signal) =>
    app.addClaim(open, claim, by(flags, io), { timeoutMs: timeoutMs(flags), signal }),
  );
  printProved(proved, flags, io);
  return proved[0]?.status === 'active' ? EXIT.ok : EXIT.failed;
}

function printProved(proved: readonly app.Proved[], flags: LayerFlags, io: Io): void {
  if (flags.json) {
    json(io, { entries: proved });
    return;
  }
  for (const { entryId, statement, outcome, status, why, counts } of proved) {
    const more = [
      counts === null ? null : `${counts.matching ?? '?'} of ${counts.examined ?? '?'}`,
      status === 'active' ? null : status,
      why,
    ].filter((part) => part !== null);
    const line = `${entryId?.slice(0, 9) ?? 'no check'} ${outcome.replace('-', ' ')}: ${statement} (${more.join('; ')})`;
    io.out(`${visibleLine(line)}\n`);
  }
  const kept = proved.filter(({ outcome }) => outcome === 'kept').length;
  io.out(`${kept} of ${counted(proved.length, 'entry', 'entries')} kept\n`);
}
