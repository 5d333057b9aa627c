/** `gate layer`: what a database proved, what people say of it, and what they decide about it. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Option, type Command } from 'commander';
import { GateError, UsageError } from '../app/errors';
import type { LayerCommand } from '../app/given';
import type * as AppLayer from '../app/layer';
import type { Watch } from '../app/layer-watch';
import { saidBy } from '../app/surroundings';
import { visibleLine } from '../clip';
import { counted, someOf } from '../counted';
import { fallText } from '../layer/drift';
import { allHeld, figuresOf, fittingTexts, isCounted, type Held, type HeldEntry, type HeldRule } from '../layer/state';
import type { WatchFound } from '../domain/ports/steps';
import { EXIT } from './exit';
import { runTexts } from './schedule';
import { untilInterrupted } from './interrupts';
import { printJson as json, type Io } from './io';
import {
  collect,
  interval,
  intervalText,
  ONE_DATABASE,
  positiveNumber,
  timeText,
  commandOf,
  type CommandFactory,
} from './options';

interface Flags {
  readonly db?: string;
  readonly json?: boolean;
  readonly note?: string;
  readonly author?: string;
  readonly timeout: number;
}

type Open = AppLayer.OpenLayer;
/** The use cases, which load Temporal's packages: only once a command needs them. */
type App = typeof AppLayer;

const onLayer = async <T>(flags: Pick<Flags, 'db'>, io: Io, work: (app: App, open: Open) => T): Promise<Awaited<T>> => {
  const app = await import('../app/layer');
  return await work(app, await app.openLayer(io, flags.db));
};
const short = ({ entryId }: { readonly entryId: string }): string => entryId.slice(0, 9);
const entries = (count: number): string => counted(count, 'entry', 'entries');

/** Work with checks, which an interrupt ends. */
function checking<T>(flags: Flags, io: Io, work: (options: AppLayer.CheckOptions) => Promise<T>): Promise<T> {
  const timeoutMs = Math.round(flags.timeout * 1000);
  return untilInterrupted(io, (signal) => work({ timeoutMs, signal, now: io.now() }));
}

/** A subcommand on the layer of one database. */
function action(name: string, description: string, ...examples: readonly string[]): Command {
  return commandOf(name, description, ...examples)
    .option(...ONE_DATABASE)
    .option('--json', 'print JSON');
}

const ofEntry = (command: Command): Command => command.argument('<entry>', 'id of an entry, or its beginning');

const byAuthor = (command: Command): Command =>
  command.option('--author <name>', 'who says it (default: your user name)');

const byPerson = (command: Command): Command => byAuthor(command.option('--note <text>', 'why'));

const timed = (command: Command): Command =>
  command.option('--timeout <seconds>', 'at most this many seconds for one check', positiveNumber, 25);

export const layerCommand: CommandFactory = (io, outcome) => {
  const command = commandOf(
    'layer',
    'what a database proved: conventions with their figures, used by every question (docs/layer.md)',
    'gate layer list --db shop',
    'gate layer verify --db shop',
    'gate layer watch --db shop --every 1h',
  );
  for (const make of [list, show, verify, watch, confirm, reject, edit, add, answer, exported, imported])
    command.addCommand(make(io, outcome));
  return command;
};

const list: CommandFactory = (io) =>
  action('list', 'list what rows prove, with the figures, and what people say', 'gate layer list --db shop')
    .option('--all', 'also those that are broken, suspended, superseded or rejected')
    .action((flags: Flags & { readonly all?: boolean }) =>
      onLayer(flags, io, (_, { layer, database }) => {
        const isShown = ({ status }: Held): boolean => flags.all === true || status === 'active';
        const shown = { entries: layer.entries.filter(isShown), rules: layer.rules.filter(isShown) };
        if (flags.json) json(io, { database: database.name, ...layer, ...shown });
        else return printList({ layer, database }, allHeld(shown), flags.db ?? database.name, io);
      }),
    );

async function printList(
  { layer, database }: Pick<Open, 'layer' | 'database'>,
  shown: readonly Held[],
  db: string,
  io: Io,
): Promise<void> {
  const { textTable } = await import('./table');
  const all = allHeld(layer).length;
  if (all === 0)
    io.err(`nothing is kept of ${database.name} yet; questions with claims add to it (gate ask --memory on)\n`);
  // A table has no room for more than who says a rule.
  const figures = (held: Held): string => (isCounted(held) ? figuresOf(held) : `said by ${held.entry.author}`);
  const rows = shown.map((held) => [short(held.entry), held.status, figures(held), held.statement]);
  const heads = ['entry', 'status', 'counted', 'statement'];
  if (shown.length > 0) io.out(`${textTable(heads, rows, { width: io.columns, whole: 2 })}\n`);
  if (all > shown.length)
    io.err(`${counted(all - shown.length, 'more entry', 'more entries')} not in use: --all shows them\n`);
  if (layer.lesson !== null && layer.lesson.left.length > 0)
    io.err(
      `${counted(layer.lesson.left.length, 'table')} not learned yet: ${visibleLine(someOf(layer.lesson.left))}; gate learn --db ${db} goes on\n`,
    );
  if (layer.questions.length === 0) return;
  const { openQuestionsText } = await import('./show-answer');
  io.err(`${openQuestionsText(layer.questions, db, io.columns)}\n`);
}

const show: CommandFactory = (io) =>
  ofEntry(
    action(
      'show',
      'show an entry: check, rivals, where it comes from, or who says it',
      'gate layer show e3f9 --db shop',
    ),
  ).action((wanted: string, flags: Flags) =>
    onLayer(flags, io, async (app, open) => {
      const held = app.findEntry(open, wanted);
      const lines = isCounted(held) ? await entryLines(held) : ruleLines(held);
      const confirmed = held.confirmedBy === null ? [] : [`confirmed by ${held.confirmedBy}`];
      if (flags.json) json(io, { ...held, history: app.historyOf(open, held) });
      else io.out(`${[...lines, ...confirmed].join('\n')}\n`);
    }),
  );

async function entryLines(held: HeldEntry): Promise<string[]> {
  const { sourceText } = await import('../text/claim-text');
  const { rows, scope, rivals, from, provedAt, check, operator, restsOn } = held.entry;
  return [
    held.statement,
    `status    ${held.status}${held.why === null ? '' : `: ${held.why}`}`,
    `counted   ${figuresOf(held, rows)}${scope === null ? '' : ` (${scope})`}, ${held.countedAt.slice(0, 10)}`,
    ...rivals.map(
      ({ reading, matching, refuted }) =>
        `rival     ${reading}: ${matching ?? 'not counted'}${refuted ? ', refuted' : ', the same answer'}`,
    ),
    ...fittingTexts(held.entry).map((text) => `open      ${text}`),
    ...(restsOn.length === 0 ? [] : [`rests on  ${restsOn.join(', ')}`]),
    `proved    ${provedAt} ${sourceText(from.searchId)}${from.question === null ? '' : `: ${from.question}`}`,
    `check\n${check}`,
    ...(operator === null ? [] : [`sql of a query that rested on it: ${operator.intent}\n${operator.sql}`]),
  ];
}

function ruleLines({ statement, status, why, entry: { author, saidAt, tables, columns } }: HeldRule): string[] {
  const about = [...columns, ...tables.filter((table) => !columns.some((column) => column.startsWith(`${table}.`)))];
  return [
    visibleLine(statement),
    `status    ${status}${why === null ? '' : `: ${visibleLine(why)}`}`,
    `said      by ${visibleLine(author)}, ${saidAt}; not counted`,
    `about     ${visibleLine(about.join(', ')) || 'no table or column of the database'}`,
  ];
}

const verify: CommandFactory = (io, outcome) =>
  timed(
    action(
      'verify',
      'run all checks again and say what broke or holds for fewer rows than is kept; exit code 1 if any does, or if nothing was checked',
      'gate layer verify --db shop',
    ),
  ).action((flags: Flags) =>
    onLayer(flags, io, async (app, open) => {
      const progress = (done: number, of: number): void => {
        if (io.live) io.err(`\r${done} of ${of} checks`);
      };
      const verdict = await checking(flags, io, (options) => app.verifyLayer(open, { ...options, progress }));
      if (io.live) io.err('\r');
      const { checked, unseen, broken, fell } = verdict;
      if (checked === 0 || broken.length + fell.length + unseen > 0) outcome.code = EXIT.failed;
      if (flags.json) json(io, verdict);
      else printVerdict(verdict, open.database.adHoc ? open.database.addressLabel : open.database.name, io);
    }),
  );

function printVerdict({ checked, unseen, broken, fell, heldAgain }: AppLayer.Verdict, name: string, io: Io): void {
  const line = (entry: { readonly entryId: string; readonly statement: string }, what: string, more: string): void =>
    io.out(`${short(entry)} ${what}: ${entry.statement} (${more})\n`);
  for (const entry of broken) line(entry, 'no longer holds', `${entry.why ?? ''}; broken since ${entry.brokenSince}`);
  for (const entry of fell) line(entry, 'holds for fewer rows', fallText(entry));
  for (const entry of heldAgain) line(entry, 'holds again', `broken since ${entry.brokenSince}`);
  const found = { checked, unseen, broken: broken.length, lower: fell.length, heldAgain: heldAgain.length };
  if (checked > 0) io.out(`${resultText({ ...found, broke: 0, fell: 0 })}\n`);
  if (checked + unseen === 0)
    io.err(`nothing was checked: ${name} has no entry in use; gate learn --db ${name} proves its conventions\n`);
  if (unseen > 0)
    io.err('what could not be checked has lost its table or column, or its check did not end in time (--timeout)\n');
}

function resultText({ checked, unseen, broken, lower, broke, fell, heldAgain }: WatchFound): string {
  const hold = (count: number): string => (count === 1 ? 'holds' : 'hold');
  const fresh = (count: number): string => (count === 0 ? '' : ` (${count} new)`);
  return [
    checked === 0 ? 'nothing checked' : `${entries(checked)} checked`,
    checked > 0 && broken + lower === 0 && 'all hold',
    broken > 0 && `${broken} no longer ${hold(broken)}${fresh(broke)}`,
    lower > 0 && `${lower} ${hold(lower)} for fewer rows${fresh(fell)}`,
    heldAgain > 0 && `${heldAgain} ${hold(heldAgain)} again`,
    unseen > 0 && `${unseen} could not be checked`,
  ]
    .filter((part) => part !== false)
    .join(', ');
}

interface WatchFlags extends Flags {
  readonly every?: number;
  readonly list?: boolean;
  readonly stop?: boolean;
}

const watch: CommandFactory = (io) =>
  timed(
    action(
      'watch',
      'run all checks on a schedule of Temporal; what they show is kept in the layer',
      'gate layer watch --db shop --every 1h',
      'gate layer watch --list',
    ).option('--every <interval>', 'how often: 30m, 1h, 1d, 1w; given again, it changes', interval),
  )
    .option('--list', 'what is watched: next and last checks')
    .option('--stop', 'watch it no longer')
    .action(async (flags: WatchFlags) => {
      const { db, every: everyMs, list: isListed, stop, timeout } = flags;
      if ([everyMs, isListed, stop].filter((each) => each !== undefined).length !== 1)
        throw new UsageError('say how often the checks run, such as --every 1h, or give --list or --stop: one of them');
      const { watchesOf, watchLayer, stopWatching } = await import('../app/layer-watch');
      const print = (value: object, text: string): void => (flags.json ? json(io, value) : io.out(text));
      if (isListed) {
        const watches = await watchesOf(io, db);
        if (watches.length === 0 && !flags.json)
          io.err('nothing is watched; begin with: gate layer watch --db NAME --every 1h\n');
        print({ watches: watches.map(watchJson) }, watches.map(watchText).join(''));
      } else if (everyMs === undefined) {
        const database = await stopWatching(io, db);
        print({ database, stopped: true }, `'${database}' is no longer watched; what its layer holds stays\n`);
      } else {
        const { database, nextAt } = await watchLayer(io, { db, everyMs, timeoutMs: Math.round(timeout * 1000) });
        const every = intervalText(everyMs);
        print(
          { database, every, nextAt },
          `'${database}' is watched: every ${every}; next check ${timeText(nextAt)}\n`,
        );
      }
    });

function watchJson({ input: { database }, everyMs, ...more }: Watch): object {
  return { database, every: intervalText(everyMs), ...more };
}

function watchText({ input, everyMs, paused, nextAt, runs }: Watch): string {
  return [
    `${input.database}: every ${intervalText(everyMs)}`,
    `  next check ${paused ? 'none: paused in Temporal' : timeText(nextAt)}`,
    ...runTexts(runs, 'check', resultText),
    '',
  ].join('\n');
}

/** A decision, or what a person says of the database. */
const tell = (command: LayerCommand, flags: Flags, io: Io): Promise<void> =>
  onLayer(flags, io, async (app, open) =>
    printStated(await app.tellLayer(open, command, saidBy(io, flags)), flags, io),
  );

const decided =
  (kind: 'confirm' | 'reject', description: string): CommandFactory =>
  (io) =>
    byPerson(
      ofEntry(action(kind, description, `gate layer ${kind} e3f9 --db shop --note "as the handbook says"`)),
    ).action((entry: string, flags: Flags) => tell({ kind, entry }, flags, io));

const confirm = decided(
  'confirm',
  'say that an entry is right, with the figures of now: one that fell, one that was rejected, or one of two that contradict each other',
);

const reject = decided('reject', 'say that an entry is wrong: it and all that rests on it are used no more');

const edit: CommandFactory = (io) =>
  byPerson(
    ofEntry(
      action(
        'edit',
        'word an entry anew; its check stays, and a rule is then what you said',
        'gate layer edit e3f9 "Amounts are in cents." --db shop',
      ),
    ).argument('<statement>', 'one sentence that says no more than the check counts'),
  ).action((entry: string, statement: string, flags: Flags) => tell({ kind: 'edit', entry, statement }, flags, io));

const answer: CommandFactory = (io) =>
  byAuthor(
    action(
      'answer',
      'answer a question that no data can decide; the answer is a rule that later questions are told, as what you said',
      'gate layer answer q3f9 "The clock of the depot." --db shop',
    ),
  )
    .argument('<question>', 'id of a question (gate layer list shows it), or its beginning')
    .argument('<text>', 'the answer')
    .action((question: string, text: string, flags: Flags) => tell({ kind: 'answer', question, text }, flags, io));

function printStated({ held, namesTable }: AppLayer.Stated, flags: Flags, io: Io): void {
  const why = held.why ?? (isCounted(held) ? null : figuresOf(held));
  const line = `${held.entry.entryId} is ${held.status}${why === null ? '' : ` (${why})`}: ${held.statement}`;
  if (flags.json) json(io, held);
  else io.out(`${visibleLine(line)}\n`);
  if (!namesTable)
    io.err('it names no table or column: questions are told it by its words alone; name what it is about\n');
}

interface AddFlags extends Flags {
  readonly check?: string;
  readonly rival?: readonly string[];
  readonly rows?: string;
}

/** With a check it is a claim, and kept only if the rows show it; without one it is what a person says. */
const add: CommandFactory = (io, outcome) =>
  byAuthor(
    timed(
      action(
        'add',
        'state a rule of the database; with --check it is proved like any claim, without one it is kept as what you said',
        'gate layer add "Orders with orders.state = \'X\' are tests and count nowhere." --db shop',
        'gate layer add "orders.total is in cents." --db shop --rows "paid orders" \\\n    --check "SELECT count(*), sum(total = 100 * paid), sum(total = paid) FROM orders" --rival "whole units"',
      ),
    )
      .option(
        '--check <sql>',
        'one SELECT of one row: examined, matching, then how many of the same rows match each rival',
      )
      .option('--rival <reading>', 'a reading that would be wrong, in the order of the check (repeatable)', collect)
      .option('--rows <what>', 'what one examined row is'),
  )
    .argument('<statement>', 'one sentence that names the tables and columns that it is about')
    .action(async (statement: string, flags: AddFlags) => {
      const { check, rival: rivals = [], rows = '' } = flags;
      if (check === undefined && (rivals.length > 0 || rows !== ''))
        throw new UsageError('--rival and --rows say what --check counts: give it, too');
      if (check === undefined) return tell({ kind: 'add', statement }, flags, io);
      return onLayer(flags, io, async (app, open) => {
        const claim = { statement, rows, check, rivals };
        const proved = await checking(flags, io, (options) => app.addClaim(open, claim, saidBy(io, flags), options));
        printProved(proved, flags, io);
        if (proved[0]?.status !== 'active') outcome.code = EXIT.failed;
      });
    });

const imported: CommandFactory = (io, outcome) =>
  timed(
    action(
      'import',
      'prove the entries of an Ossie file here, and keep what the rows show; exit code 1 if one is not kept',
      'gate layer import shop.json --db shop',
    ).argument('<file>', 'JSON or YAML, as gate layer export --format ossie writes it'),
  ).action(async (name: string, flags: Flags) => {
    const path = resolve(io.cwd, name);
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true)
      throw new GateError(`${name}: there is no such file`);
    const file = { name, text: readFileSync(path, 'utf8') };
    await onLayer(flags, io, async (app, open) => {
      const { entries: proved, rules } = await checking(flags, io, (options) => app.importLayer(open, file, options));
      printProved(proved, flags, io);
      if (rules > 0)
        io.err(
          `${counted(rules, 'rule')} that people stated ${rules === 1 ? 'is' : 'are'} left out: state here what holds here (gate layer add)\n`,
        );
      if (proved.some(({ outcome: said }) => said !== 'kept' && said !== 'known')) outcome.code = EXIT.failed;
    });
  });

function printProved(proved: readonly AppLayer.Proved[], flags: Flags, io: Io): void {
  const lines = proved.map(({ entryId, statement, outcome, status, why, counts }) => {
    const more = [
      counts === null ? null : `${counts.matching ?? '?'} of ${counts.examined ?? '?'}`,
      status === 'active' ? null : status,
      why,
    ].filter((part) => part !== null);
    const line = `${entryId?.slice(0, 9) ?? 'no check'} ${outcome.replace('-', ' ')}: ${statement} (${more.join('; ')})`;
    return `${visibleLine(line)}\n`;
  });
  const kept = proved.filter(({ outcome }) => outcome === 'kept').length;
  if (flags.json) json(io, { entries: proved });
  else io.out(`${lines.join('')}${kept} of ${entries(proved.length)} kept\n`);
}

interface ExportFlags extends Flags {
  readonly format?: AppLayer.LayerFormat;
  readonly out?: string;
}

const exported: CommandFactory = (io) =>
  action(
    'export',
    'what is kept, for people (markdown), semantic models (ossie: Apache Ossie, the former OSI) or dbt (sources and tests)',
    'gate layer export --db shop > shop.md',
    'gate layer export --db shop --format ossie > shop.json',
    'gate layer export --db shop --format dbt --out ./dbt-project',
  )
    .addOption(
      new Option('--format <format>', 'markdown (default), ossie or dbt').choices(['markdown', 'ossie', 'dbt']),
    )
    .option('--out <folder>', 'write into this folder (default: standard output; dbt needs a folder)')
    .action(async (flags: ExportFlags) => {
      const { format = 'markdown', out } = flags;
      if (flags.json && (flags.format ?? out) !== undefined)
        throw new UsageError('--json prints everything as it is kept; give it without --format and --out');
      if (format === 'dbt' && out === undefined)
        throw new UsageError('dbt needs several files: give a folder with --out');
      await onLayer(flags, io, async (app, open) => {
        const { files, leftOut } = await untilInterrupted(io, (signal) => app.exportLayer(open, format, signal));
        for (const { entryId, why } of leftOut) io.err(`${entryId} is left out, its check does not run: ${why}\n`);
        if (flags.json) json(io, open.layer);
        else if (out === undefined) io.out(files.map(({ text }) => text).join(''));
        if (out === undefined) return;
        const folder = resolve(io.cwd, out);
        for (const { path, text } of files) {
          const file = join(folder, ...path.split('/'));
          mkdirSync(dirname(file), { recursive: true });
          writeFileSync(file, text);
        }
        io.err(`${counted(files.length, 'file')} written to ${folder}\n`);
      });
    });
