/** What `gate layer` does: reads the events of a database's layer, and appends what a person says or a check finds. */
import type { ResolvedDatabase } from '../config/databases';
import type { LayerEvent, LayerRule } from '../domain';
import { compareText } from '../domain/canonical';
import { layerDiff } from '../layer/diff';
import { namedIn, ruleIdOf } from '../layer/rules';
import { allHeld, figuresOf, isCounted, layerOf, type Held, type HeldRule, type Layer } from '../layer/state';
import { appendToLayer, readLayer, type LayerPlace } from '../record/layer-store';
import { counted } from '../report/printable';
import { identityKey } from '../record/search-id';
import { visibleLayer } from '../roles/layer/entries';
import { sourceText } from '../text/claim-text';
import { visibleLine } from '../text/clip';
import { checkDatabase, lookAt } from '../app/check-database';
import { onDatabase } from './interrupts';
import { GateError, UsageError } from '../app/errors';
import { EXIT, type ExitCode } from './exit';
import type { Io } from './io';
import { askedDatabase } from '../app/question-input';
import { authorOf, words } from './steer';
import { openQuestionsText } from './show-answer';
import { openServices, sha256, type Services } from '../app/services';
import { textTable } from './table';
import { driftBetween, fallOf, fallText, type Drift } from '../layer/drift';
import { lowerOf, verifyEntries, type WatchFound } from '../roles/layer/verify';

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

export interface Opened extends Services {
  readonly database: ResolvedDatabase;
  readonly place: LayerPlace;
  readonly events: readonly LayerEvent[];
  readonly layer: Layer;
}

export async function openLayer(flags: LayerFlags, io: Io, db = flags.db): Promise<Opened> {
  const services = openServices(io);
  const database = askedDatabase(services.config, { db }, io);
  const place = { store: services.store, hash: sha256, database: identityKey(database.identity) };
  const events = await readLayer(place);
  const layer = layerOf(events);
  return { ...services, database, place, events, layer: await shownLayer(services, database, layer) };
}

/** What is about something that an access list hides is as if it did not exist. Only then is the database opened. */
async function shownLayer({ config }: Services, database: ResolvedDatabase, layer: Layer): Promise<Layer> {
  const { allow, deny } = database.access;
  const nothing = allHeld(layer).length + layer.questions.length === 0;
  if (nothing || allow.length + deny.length === 0) return layer;
  return visibleLayer(layer, await lookAt(config, database));
}

export async function listEntries(flags: LayerFlags, io: Io): Promise<void> {
  const { layer, database } = await openLayer(flags, io);
  const isShown = ({ status }: Held): boolean => flags.all === true || status === 'active';
  if (flags.json) {
    const told = { ...layer, entries: layer.entries.filter(isShown), rules: layer.rules.filter(isShown) };
    io.out(`${JSON.stringify({ database: database.name, ...told }, null, 2)}\n`);
    return;
  }
  const all = allHeld(layer);
  const shown = all.filter(isShown);
  const left = all.length - shown.length;
  if (all.length === 0)
    io.err(`nothing is kept of ${database.name} yet; questions with claims add to it (gate ask --memory on)\n`);
  if (shown.length > 0) {
    const rows = shown.map((held) => [
      held.entry.entryId.slice(0, 9),
      held.status,
      listedFigures(held),
      held.statement,
    ]);
    io.out(`${textTable(['entry', 'status', 'counted', 'statement'], rows, { width: io.columns, whole: 2 })}\n`);
  }
  if (left > 0) io.err(`${counted(left, 'more entry', 'more entries')} not in use: --all shows them\n`);
  if (layer.questions.length > 0)
    io.err(`${openQuestionsText(layer.questions, flags.db ?? database.name, io.columns)}\n`);
}

/** A table has no room for more. */
function listedFigures(held: Held): string {
  return isCounted(held) ? figuresOf(held) : `said by ${held.entry.author}`;
}

export async function showEntry(wanted: string, flags: LayerFlags, io: Io): Promise<void> {
  const { layer, events } = await openLayer(flags, io);
  const held = findEntry(layer, wanted);
  const { entryId } = held.entry;
  const history = events.filter((event) => entryIdIn(event) === entryId).sort((a, b) => compareText(a.at, b.at));
  if (flags.json) {
    io.out(`${JSON.stringify({ ...held, history }, null, 2)}\n`);
    return;
  }
  if (!isCounted(held)) {
    io.out(`${ruleLines(held).join('\n')}\n`);
    return;
  }
  const { rows, scope, rivals, from, provedAt, check, operator, restsOn } = held.entry;
  const lines = [
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
  io.out(`${lines.join('\n')}\n`);
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

export async function decideEntry(
  kind: 'confirmed' | 'rejected',
  wanted: string,
  flags: LayerFlags,
  io: Io,
): Promise<void> {
  const opened = await openLayer(flags, io);
  const { entryId } = findEntry(opened.layer, wanted).entry;
  await append(opened, { kind, entryId, ...by(flags, io) }, flags, io);
}

export async function answerQuestion(wanted: string, said: string, flags: LayerFlags, io: Io): Promise<void> {
  const text = words(said, 'answer');
  const opened = await openLayer(flags, io);
  const asked = /^q./.test(wanted) ? opened.layer.questions : [];
  const only = begunBy(wanted, asked, ({ questionId }) => questionId, 'questions');
  if (only === null)
    throw new GateError(`no open question ${wanted} in this layer; gate layer list shows those to be decided`);
  const { questionId: answers } = only;
  await sayRule(opened, { entryId: ruleIdOf(answers, sha256), statement: `${only.text} ${text}`, answers }, flags, io);
}

/** Without a check: what a person says, as such. */
export async function addRule(said: string, flags: LayerFlags, io: Io): Promise<void> {
  const statement = words(said, 'statement');
  await sayRule(
    await openLayer(flags, io),
    { entryId: ruleIdOf(statement, sha256), statement, answers: null },
    flags,
    io,
  );
}

async function sayRule(
  opened: Opened,
  { entryId, statement, answers }: Pick<LayerRule, 'entryId' | 'statement' | 'answers'>,
  flags: LayerFlags,
  io: Io,
): Promise<void> {
  const about = namedIn(statement, await lookAt(opened.config, opened.database));
  const at = new Date(io.now()).toISOString();
  const said = { statement, answers, author: authorOf(flags, io), saidAt: at };
  await append(opened, { kind: 'said', at, rule: { entryId, ...said, ...about } }, flags, io);
  if (about.tables.length === 0)
    io.err('it names no table or column: questions are told it by its words alone; name what it is about\n');
}

export async function editEntry(wanted: string, statement: string, flags: LayerFlags, io: Io): Promise<void> {
  const opened = await openLayer(flags, io);
  if (statement.trim() === '') throw new UsageError('the statement is empty; write one sentence in quotes');
  const held = findEntry(opened.layer, wanted);
  const { entryId } = held.entry;
  // Other words are not what the first person said, and may be about something else.
  if (!isCounted(held))
    return sayRule(opened, { entryId, statement: statement.trim(), answers: held.entry.answers }, flags, io);
  await append(opened, { kind: 'edited', entryId, statement: statement.trim(), ...by(flags, io) }, flags, io);
}

export async function diffLayers(flags: LayerFlags, io: Io): Promise<void> {
  const { since, with: other } = flags;
  if ((since === undefined) === (other === undefined))
    throw new UsageError('compare with what? give --since with a date, or --with with another database');
  const opened = await openLayer(flags, io);
  const diff =
    other === undefined
      ? layerDiff(layerOf(opened.events, timeOf(since ?? '')), opened.layer)
      : layerDiff(opened.layer, (await openLayer(flags, io, other)).layer);
  if (flags.json) {
    io.out(`${JSON.stringify(diff, null, 2)}\n`);
    return;
  }
  const line = (sign: string, { entry, statement }: Held, more = ''): string =>
    `${sign} ${entry.entryId.slice(0, 9)} ${statement}${more}\n`;
  for (const held of diff.added) io.out(line('+', held));
  for (const held of diff.removed) io.out(line('-', held));
  for (const { after, what } of diff.changed) io.out(line('~', after, ` (${what.join('; ')})`));
  if (diff.added.length + diff.removed.length + diff.changed.length === 0) io.err('no difference\n');
}

async function append({ place }: Opened, event: LayerEvent, flags: LayerFlags, io: Io): Promise<void> {
  await appendToLayer(place, [event]);
  const held = findEntry(layerOf(await readLayer(place)), entryIdIn(event) ?? '');
  if (flags.json) io.out(`${JSON.stringify(held, null, 2)}\n`);
  else {
    const why = held.why ?? (isCounted(held) ? null : figuresOf(held));
    io.out(
      `${visibleLine(`${held.entry.entryId} is ${held.status}${why === null ? '' : ` (${why})`}: ${held.statement}`)}\n`,
    );
  }
}

export function by(
  flags: LayerFlags,
  io: Io,
): { readonly at: string; readonly author: string; readonly note: string | null } {
  return { at: new Date(io.now()).toISOString(), author: authorOf(flags, io), note: flags.note ?? null };
}

/** The only one whose id begins so; null: none does. */
function begunBy<T>(wanted: string, all: readonly T[], idOf: (one: T) => string, what: string): T | null {
  const found = all.filter((one) => idOf(one).startsWith(wanted));
  if (found.length > 1)
    throw new UsageError(`'${wanted}' is the beginning of ${found.length} ${what}; give more of the id`);
  return found[0] ?? null;
}

function findEntry(layer: Layer, wanted: string): Held {
  if (!/^e[0-9a-f]{2,16}$/.test(wanted))
    throw new UsageError(
      `'${wanted}' is not the id of an entry; give e…, or its beginning (gate layer list shows them)`,
    );
  const only = begunBy(wanted, allHeld(layer), ({ entry }) => entry.entryId, 'entries');
  if (only === null) throw new GateError(`no entry ${wanted} in this layer; gate layer list --all shows them`);
  return only;
}

function entryIdIn(event: LayerEvent): string | null {
  if (event.kind === 'proved') return event.entry.entryId;
  if (event.kind === 'said') return event.rule.entryId;
  return 'entryId' in event ? event.entryId : null;
}

function timeOf(text: string): string {
  const at = new Date(text);
  if (Number.isNaN(at.getTime()))
    throw new UsageError(`--since ${text}: not a time; for example 2026-11-01 or 2026-11-01T09:00`);
  return at.toISOString();
}

export async function verifyLayer(flags: LayerFlags, io: Io): Promise<ExitCode> {
  const opened = await openLayer(flags, io);
  const { layer, events: before, place, database } = opened;
  return onDatabase(opened, io, async ({ engines, signal }) => {
    const description = await checkDatabase(engines, database.name);
    const { engine } = await engines.engine(database.name);
    const at = new Date(io.now()).toISOString();
    const verified = await verifyEntries(layer.entries, {
      ...{ engine, description, signal, at },
      timeoutMs: Math.round((flags.timeout ?? 25) * 1000),
      progress: (done, of) => {
        if (io.live) io.err(`\r${done} of ${of} checks`);
      },
    });
    if (io.live) io.err('\r');
    const { entries, unseen, events } = verified;
    await appendToLayer(place, events);
    const after = layerOf([...before, ...events]);
    const drift = { ...driftBetween(layer, after, events), fell: lowerOf(verified, after).map(fallOf) };
    const still = entries
      .filter(({ held, why }) => held.status === 'broken' && why !== null)
      .map(({ held, why, counts }) => ({
        ...{ entryId: held.entry.entryId, statement: held.statement, why, counts },
        ...{ heldUntil: null, brokenSince: held.since },
      }));
    const broken = [...drift.broke.map((entry) => ({ ...entry, brokenSince: at })), ...still];
    if (flags.json) {
      const told = { checked: entries.length, unseen, broken, fell: drift.fell, heldAgain: drift.heldAgain };
      io.out(`${JSON.stringify(told, null, 2)}\n`);
    } else {
      printDrift(drift, still, io);
      const found = { checked: entries.length, broken: broken.length, lower: drift.fell.length };
      if (entries.length > 0) io.out(`${resultText({ ...found, unseen: 0, broke: 0, fell: 0, heldAgain: 0 })}\n`);
      else if (unseen === 0) io.err(`${nothingToCheck(flags.db ?? database.name, layer)}\n`);
      if (unseen > 0)
        io.err(
          `${counted(unseen, 'entry', 'entries')} could not be checked: the table or column is gone, or the check did not end within ${flags.timeout ?? 25} s (--timeout)\n`,
        );
    }
    return entries.length > 0 && broken.length + drift.fell.length + unseen === 0 ? EXIT.ok : EXIT.failed;
  });
}

/** A job that checks a database without a layer checks nothing: that is told, and is no success. */
function nothingToCheck(name: string, { entries, rules }: Layer): string {
  if (entries.length === 0 && rules.length > 0)
    return `nothing was checked: what is kept of ${name} was said by people, and has no check`;
  return entries.length === 0
    ? `nothing was checked: nothing is kept of ${name} yet; gate learn --db ${name} proves its conventions`
    : `nothing was checked: every entry of ${name} is rejected (gate layer list --all)`;
}

/** `still`: were broken before. */
function printDrift(
  { broke, fell, heldAgain }: Drift,
  still: readonly {
    readonly entryId: string;
    readonly statement: string;
    readonly why: string | null;
    readonly brokenSince: string;
  }[],
  { out }: Pick<Io, 'out'>,
): void {
  const line = (entryId: string, what: string, statement: string, more: string): void =>
    out(`${entryId.slice(0, 9)} ${what}: ${statement} (${more})\n`);
  for (const { entryId, statement, why, heldUntil } of broke)
    line(entryId, 'no longer holds', statement, `${why ?? ''}; it held until ${heldUntil}`);
  for (const { entryId, statement, why, brokenSince } of still)
    line(entryId, 'still does not hold', statement, `${why ?? ''}; broken since ${brokenSince}`);
  for (const entry of fell) line(entry.entryId, 'holds for fewer rows', entry.statement, fallText(entry));
  for (const { entryId, statement, brokenSince } of heldAgain)
    line(entryId, 'holds again', statement, `broken since ${brokenSince}`);
}

export function resultText({ checked, unseen, broken, lower, broke, fell, heldAgain }: WatchFound): string {
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
