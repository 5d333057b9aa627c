/**
 * The turns of a lesson so far as the next one is told of them: what holds, what does not, and what was noted. What a later claim
 * has settled is not said again.
 */
import type { Claim, DatabaseDescription } from '../../domain';
import type { LearnReply } from '../../domain/turns';
import { tablesNamed } from '../../database/table-names';
import { namedIn } from '../../layer/rules';
import { SCHEMA_ID } from '../../record/contents';
import { isSettled } from '../../sql/claims';
import type { StepContext } from '../shared/context';
import { namedColumns } from './entries';
import type { LessonTables } from './lesson-tables';

/** Notes that are shown, the newest. */
const NOTES = 24;
/** Tables that a turn may ask to see in full. */
const ASKED = 12;

export interface Progress {
  readonly turns: readonly string[];
  readonly group: number;
  readonly begun: number;
}

export interface Ledger {
  /** Claims that hold. */
  readonly proved: readonly Claim[];
  /** Claims of this group that do not, and that no later claim took up. */
  readonly failed: readonly Claim[];
  /** Those of the last turn. */
  readonly latest: readonly Claim[];
  readonly notes: readonly string[];
  readonly open: readonly string[];
  /** The queries of the last turn with their rows; empty: none. */
  readonly found: string;
  /** The tables of this turn, to be shown in full. */
  readonly shown: readonly string[];
}

export async function ledgerOf(context: StepContext, { turns, group, begun }: Progress): Promise<Ledger> {
  const { run } = context;
  const [{ description }, plan] = await Promise.all([
    run.get('schema', SCHEMA_ID),
    run.get('lesson-tables', SCHEMA_ID),
  ]);
  const [replies, verdicts] = await Promise.all([
    Promise.all(turns.map(async (id) => (await run.get('lesson', id)).reply)),
    Promise.all(turns.map((id) => run.get('verdict', id))),
  ]);
  const claims = verdicts.flatMap((verdict, turn) =>
    verdict.claims.map((claim) => ({ claim, turn, about: columnsOf(claim.check, description) })),
  );
  const own = claims.filter(({ turn }) => turn >= begun);
  const later = (turn: number) => own.filter((other) => other.turn > turn);
  const failed = own.filter(
    ({ claim, turn, about }) =>
      !isSettled(claim) &&
      !later(turn).some(
        (other) =>
          isEqual(about, other.about) ||
          (isSettled(other.claim) && (isIn(about, other.about) || isIn(other.about, about))),
      ),
  );
  const known = own.filter(({ claim }) => isSettled(claim));
  const notes = replies.flatMap((reply, turn) => {
    if (turn < begun) return [];
    const settled = new Set(known.filter((each) => each.turn > turn).flatMap(({ about }) => [...about]));
    return reply.notes.filter((note) => !isIn(new Set(namedIn(note, description).columns), settled));
  });
  return {
    proved: claims.filter(({ claim }) => isSettled(claim)).map(({ claim }) => claim),
    failed: failed.map(({ claim }) => claim),
    latest: verdicts.at(-1)?.claims ?? [],
    notes: [...(group === 0 ? plan.notes : []), ...notes].slice(-NOTES),
    open: replies.flatMap((reply) => reply.open),
    found: turns.length > begun ? (verdicts.at(-1)?.found ?? '') : '',
    shown: shownNow(plan, group, replies.slice(begun), description),
  };
}

/** First all of the group; then those that nothing has read yet, and those that the last turn asked for. */
function shownNow(
  { groups, blocks }: LessonTables,
  group: number,
  replies: readonly LearnReply[],
  { tables }: Pick<DatabaseDescription, 'tables'>,
): string[] {
  const own = groups[group] ?? [];
  const last = replies.at(-1);
  if (last === undefined) return own;
  const sql = replies.flatMap(({ queries, claims }) => [
    ...queries.map((query) => query.sql),
    ...claims.map(({ check }) => check),
  ]);
  const read = new Set(sql.flatMap((text) => tablesNamed(text, tables).map(({ name }) => name)));
  const asked = new Set(last.tables.slice(0, ASKED).map((name) => name.trim().toLowerCase()));
  return Object.keys(blocks).filter((name) => asked.has(name.toLowerCase()) || (own.includes(name) && !read.has(name)));
}

function columnsOf(check: string, description: DatabaseDescription): ReadonlySet<string> {
  const tables = tablesNamed(check, description.tables).map(({ name }) => name);
  return new Set(namedColumns(check, tables, description));
}

/** Nothing is in nothing. */
function isIn(some: ReadonlySet<string>, all: ReadonlySet<string>): boolean {
  return some.size > 0 && [...some].every((each) => all.has(each));
}

function isEqual(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && isIn(one, other);
}
