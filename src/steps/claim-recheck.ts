/**
 * Counts the claims of a stored answer again, in the snapshot of its rows, so that the counts beside the rows belong to
 * them. Each check is one statement that counts a claim and its rivals; rivals that gave the same answer run through the
 * whole plan again (rule S9), as do all rivals of a claim that made no difference.
 */
import type { Claim, Dialect, Evidence, SqlResult } from '../domain';
import { lostText } from '../text/claim-text';
import { decideClaim, isSettled, readCounts } from '../sql/claims';
import { withClock } from '../sql/clock';
import { compilePlan } from '../sql/compile';
import { decideMateriality } from '../sql/materiality';
import { tryCompile } from './body-errors';
import { countsSummary, rivalCounts } from './claim-evidence';
import { readClaim } from './claim-probe';
import type { StepContext } from './context';
import type { Contents } from '../record/contents';
import { excerpt } from './evidence-record';
import { planOperators, withBodies, type LoadedPlan } from './load-plan';

export interface ClaimRecheck {
  readonly statements: readonly string[];
  readonly read: (results: readonly SqlResult[], answer: SqlResult) => RecheckedClaims;
}

export interface RecheckedClaims {
  readonly claims: readonly Claim[];
  /** Why one of them no longer holds as it did; null if all do. */
  readonly why: string | null;
  /** The evidence of an operator with the counts of now. */
  readonly evidence: (entry: Evidence) => Evidence;
}

/** `candidateId`: of the commit that made the claims. */
export async function claimRecheck(
  context: StepContext,
  claims: readonly Claim[],
  candidateId: string,
  plan: LoadedPlan,
  dialect: Dialect,
): Promise<ClaimRecheck> {
  const { clock } = context.input;
  const timed = (sql: string): string => (clock === undefined ? sql : withClock(sql, clock, dialect));
  const edits = claims.some((claim) => claim.rivals.some((rival) => isRunAgain(claim, rival)))
    ? await editsOf(context, candidateId)
    : [];
  const under = async (edit: Edit | null | undefined): Promise<string | null> => {
    if (!edit) return null;
    const body = await context.run.get('body', edit.bodyId);
    return tryCompile(() => compilePlan(planOperators(withBodies(plan, { [edit.operator]: body })), dialect)).sql;
  };
  const planned = await Promise.all(
    claims.map(async (claim, at) => ({
      claim: { ...claim, check: timed(claim.check) },
      through: await Promise.all(
        claim.rivals.map((rival, of) => under(isRunAgain(claim, rival) ? edits[at]?.[of] : null)),
      ),
    })),
  );
  return {
    statements: planned.flatMap(({ claim, through }) => [claim.check, ...through.filter((sql) => sql !== null)]),
    read: (results, answer) => {
      const pending = [...results];
      const recounted = planned.map(({ claim, through }): Recounted => {
        const result = pending.shift();
        const given = through.map((sql) => (sql === null ? undefined : pending.shift()));
        const same = given.map((each) =>
          each === undefined ? null : decideMateriality([answer, each], plan.plan.ordered).immaterial,
        );
        return { before: claim, now: decideAgain(claim, result, same), result };
      });
      const fallen = recounted.find(({ before, now }) => !stillHolds(before, now));
      return {
        claims: recounted.map(({ now }) => now),
        why: fallen === undefined ? null : lostText(fallen.now),
        evidence: (entry) => withCounts(entry, recounted, timed),
      };
    },
  };
}

type Rival = Claim['rivals'][number];
type Edit = NonNullable<NonNullable<Contents['verdict']['edits']>[number][number]>;

interface Recounted {
  readonly before: Claim;
  readonly now: Claim;
  readonly result: SqlResult | undefined;
}

/** Of a claim that makes no difference also those that the counts refute. */
function isRunAgain({ state }: Claim, { verdict }: Rival): boolean {
  return state === 'immaterial' || verdict === 'same-answer';
}

async function editsOf(
  { deps, run }: StepContext,
  candidateId: string,
): Promise<NonNullable<Contents['verdict']['edits']>> {
  const prefix = `runs/${run.searchId}/verdict/`;
  for (const key of await deps.store.list(prefix)) {
    const verdict = await run.get('verdict', key.slice(prefix.length, -'.json'.length));
    if (verdict.candidateId === candidateId) return verdict.edits ?? [];
  }
  return [];
}

function decideAgain(claim: Claim, result: SqlResult | undefined, same: readonly (boolean | null)[]): Claim {
  const { operator, statement, rows, check, rivals } = claim;
  const seen = readClaim(readCounts(result, 2), rivals.length);
  return decideClaim({
    ...{ operator, statement, rows, check, agreement: seen.agreement },
    rivals: rivals.map(({ reading }, at) => ({
      reading,
      agreement: seen.rivals[at] ?? null,
      sameAnswer: same[at] ?? null,
    })),
  });
}

/** A proof has to stay one; what held with exceptions or made no difference may be settled in another way now. */
function stillHolds(before: Claim, now: Claim): boolean {
  if (before.state === 'proved') return now.state === 'proved';
  return !isSettled(before) || isSettled(now);
}

function withCounts(entry: Evidence, recounted: readonly Recounted[], timed: (sql: string) => string): Evidence {
  const own = recounted.filter(({ now }) => now.operator === entry.operator);
  if (own.length === 0) return entry;
  const isCounted = entry.summary === countsSummary(own.map(({ before }) => before));
  const reasons = own.flatMap(({ before, now }) =>
    before.rivals.map((rival, at) => ({ was: rival, is: now.rivals[at] ?? rival })),
  );
  return {
    ...entry,
    summary: isCounted ? countsSummary(own.map(({ now }) => now)) : entry.summary,
    probe: entry.probe === null ? null : timed(entry.probe),
    observed: entry.observed === null ? null : (sideBySide(own) ?? entry.observed),
    rejected: entry.rejected.map((each) => {
      const rival = reasons.find(({ was }) => was.reading === each.reading && rivalCounts(was) === each.reason);
      return rival === undefined ? each : { ...each, reason: rivalCounts(rival.is) };
    }),
  };
}

/** The probe of an operator is the checks of its claims side by side, each of one row. */
function sideBySide(own: readonly Recounted[]): Evidence['observed'] {
  const parts = own.map(({ result }) => (result === undefined ? null : excerpt(result)));
  const found = parts.filter((part) => part !== null);
  if (found.length < parts.length) return null;
  return {
    columns: found.flatMap(({ columns }) => columns),
    rows: [found.flatMap(({ rows }) => rows[0] ?? [])],
    rowCount: 1,
  };
}
