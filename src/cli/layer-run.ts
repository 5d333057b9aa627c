/** What `gate layer` does: reads the events of a database's layer, and appends what a person says or a check finds. */
import type { ResolvedDatabase } from '../config/databases';
import type { LayerEvent } from '../domain';
import { compareText } from '../domain/canonical';
import { layerDiff } from '../layer/diff';
import { answerText, visibleQuestions } from '../layer/questions';
import { figuresOf, layerOf, type HeldEntry, type Layer } from '../layer/state';
import { appendToLayer, readLayer, type LayerPlace } from '../record/layer-store';
import { counted } from '../report/printable';
import { identityKey } from '../steps/context';
import { visibleEntries } from '../steps/layer-entries';
import { visibleLine } from '../text/visible';
import { checkDatabase, lookAt, onDatabase } from './check-database';
import { CommandFailed, UsageError, EXIT, type ExitCode } from './errors';
import type { Io } from './io';
import { askedDatabase } from './ask-input';
import { recognise } from './seen-databases';
import { authorOf, words } from './steer';
import { openServices, sha256, type Services } from './services';
import { textTable } from './table';
import { driftBetween, fallOf, fallText, type Drift } from '../layer/drift';
import { lowerOf, verifyEntries } from '../steps/verify-layer';
import { resultText } from './watch-texts';

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
  const { known } = await recognise(services.store, database);
  const place = { store: services.store, hash: sha256, database: identityKey(known) };
  const events = await readLayer(place);
  const layer = layerOf(events);
  return { ...services, database, place, events, layer: await shownLayer(services, database, layer) };
}

/** What is about something that an access list hides is as if it did not exist. Only then is the database opened. */
async function shownLayer({ config }: Services, database: ResolvedDatabase, layer: Layer): Promise<Layer> {
  const { allow, deny } = database.access;
  const { entries, questions } = layer;
  if (entries.length + questions.length === 0 || allow.length + deny.length === 0) return layer;
  const description = await lookAt(config, database);
  return {
    ...layer,
    entries: visibleEntries(entries, description),
    questions: visibleQuestions(questions, description),
  };
}

export async function listEntries(flags: LayerFlags, io: Io): Promise<void> {
  const { layer, database } = await openLayer(flags, io);
  const shown = layer.entries.filter(({ status }) => flags.all === true || status === 'active');
  if (flags.json) {
    io.out(`${JSON.stringify({ database: database.name, ...layer, entries: shown }, null, 2)}\n`);
    return;
  }
  const left = layer.entries.length - shown.length;
  if (layer.entries.length === 0)
    io.err(`nothing is kept of ${database.name} yet; questions with claims add to it (gate ask --memory on)\n`);
  if (shown.length > 0) {
    const rows = shown.map((held) => [held.entry.entryId.slice(0, 9), held.status, figuresOf(held), held.statement]);
    io.out(`${textTable(['entry', 'status', 'counted', 'statement'], rows, { width: io.columns, whole: 2 })}\n`);
  }
  if (left > 0) io.err(`${counted(left, 'more entry', 'more entries')} not in use: --all shows them\n`);
  for (const question of layer.questions) {
    const { questionId, text, answer } = question;
    if (answer === null)
      io.err(`to be decided by a person: ${visibleLine(text)} (gate layer answer ${questionId.slice(0, 7)} "…")\n`);
    else if (flags.all === true) io.err(`${visibleLine(answerText(question))}\n`);
  }
}

export async function showEntry(wanted: string, flags: LayerFlags, io: Io): Promise<void> {
  const { layer, events } = await openLayer(flags, io);
  const held = findEntry(layer, wanted);
  const { entryId } = held.entry;
  const history = events
    .filter((event) => ('entryId' in event ? event.entryId : idOf(event)) === entryId)
    .sort((a, b) => compareText(a.at, b.at));
  if (flags.json) {
    io.out(`${JSON.stringify({ ...held, history }, null, 2)}\n`);
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
    `proved    ${provedAt} in ${from.searchId}${from.question === null ? '' : `: ${from.question}`}`,
    ...(held.confirmedBy === null ? [] : [`confirmed by ${held.confirmedBy}`]),
    `check\n${check}`,
    ...(operator === null ? [] : [`sql of a query that rested on it: ${operator.intent}\n${operator.sql}`]),
  ];
  io.out(`${lines.join('\n')}\n`);
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
  const { layer, place } = await openLayer(flags, io);
  const asked = /^q./.test(wanted) ? layer.questions : [];
  const only = begunBy(wanted, asked, ({ questionId }) => questionId, 'questions');
  if (only === null)
    throw new CommandFailed(`no question ${wanted} in this layer; gate layer list shows those to be decided`);
  const at = new Date(io.now()).toISOString();
  const answer = { at, author: authorOf(flags, io), text };
  await appendToLayer(place, [{ kind: 'answered', questionId: only.questionId, ...answer }]);
  if (flags.json) io.out(`${JSON.stringify({ ...only, answer }, null, 2)}\n`);
  else io.out(`${visibleLine(answerText({ ...only, answer }))}\n`);
}

export async function editEntry(wanted: string, statement: string, flags: LayerFlags, io: Io): Promise<void> {
  const opened = await openLayer(flags, io);
  if (statement.trim() === '') throw new UsageError('the statement is empty; write one sentence in quotes');
  const { entryId } = findEntry(opened.layer, wanted).entry;
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
  const line = (sign: string, { entry, statement }: HeldEntry, more = ''): string =>
    `${sign} ${entry.entryId.slice(0, 9)} ${statement}${more}\n`;
  for (const held of diff.added) io.out(line('+', held));
  for (const held of diff.removed) io.out(line('-', held));
  for (const { after, what } of diff.changed) io.out(line('~', after, ` (${what.join('; ')})`));
  if (diff.added.length + diff.removed.length + diff.changed.length === 0) io.err('no difference\n');
}

async function append({ place }: Opened, event: LayerEvent & { readonly entryId: string }, flags: LayerFlags, io: Io) {
  await appendToLayer(place, [event]);
  const held = findEntry(layerOf(await readLayer(place)), event.entryId);
  if (flags.json) io.out(`${JSON.stringify(held, null, 2)}\n`);
  else
    io.out(`${held.entry.entryId} is ${held.status}${held.why === null ? '' : ` (${held.why})`}: ${held.statement}\n`);
}

function by(flags: LayerFlags, io: Io): { readonly at: string; readonly author: string; readonly note: string | null } {
  return { at: new Date(io.now()).toISOString(), author: authorOf(flags, io), note: flags.note ?? null };
}

/** The only one whose id begins so; null: none does. */
function begunBy<T>(wanted: string, all: readonly T[], idOf: (one: T) => string, what: string): T | null {
  const found = all.filter((one) => idOf(one).startsWith(wanted));
  if (found.length > 1)
    throw new UsageError(`'${wanted}' is the beginning of ${found.length} ${what}; give more of the id`);
  return found[0] ?? null;
}

function findEntry({ entries }: Layer, wanted: string): HeldEntry {
  if (!/^e[0-9a-f]{2,16}$/.test(wanted))
    throw new UsageError(
      `'${wanted}' is not the id of an entry; give e…, or its beginning (gate layer list shows them)`,
    );
  const only = begunBy(wanted, entries, ({ entry }) => entry.entryId, 'entries');
  if (only === null) throw new CommandFailed(`no entry ${wanted} in this layer; gate layer list --all shows them`);
  return only;
}

function idOf(event: LayerEvent): string | null {
  return event.kind === 'proved' ? event.entry.entryId : null;
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
      else if (unseen === 0) io.err(`${nothingToCheck(database.name, layer)}\n`);
      if (unseen > 0)
        io.err(
          `${counted(unseen, 'entry', 'entries')} could not be checked: the table or column is gone, or the check did not end within ${flags.timeout ?? 25} s (--timeout)\n`,
        );
    }
    return entries.length > 0 && broken.length + drift.fell.length + unseen === 0 ? EXIT.ok : EXIT.failed;
  });
}

/** A job that checks a database without a layer checks nothing: that is told, and is no success. */
function nothingToCheck(name: string, { entries }: Layer): string {
  return entries.length === 0
    ? `nothing was checked: nothing is kept of ${name} yet; gate learn --db ${name} proves its conventions`
    : `nothing was checked: every entry of ${name} is rejected (gate layer list --all)`;
}

/** `still`: were broken before. */
export function printDrift(
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
