/**
 * Counts the claims of a stored answer again, in the snapshot of its rows, so that the counts beside the rows belong to
 * them. Each check is one statement that counts a claim and its rivals; rivals that gave the same answer run through the
 * whole plan again (rule S9), as do all rivals of a claim that made no difference.
 */
import type { Claim, Evidence, SqlResult } from '../../domain';
import { lostText } from '../../text/claim-text';
import { countedClaim, isSettled, readCounts } from '../../sql/claims';
import { withClock } from '../../sql/clock';
import { decideMateriality } from '../../sql/materiality';
import { countsSummary, rivalCounts } from '../sql/claim-evidence';
import type { StepContext } from '../shared/context';
import type { Contents } from '../../record/contents';
import { excerpt } from './evidence-record';
import { planSqlUnder, type LoadedPlan } from '../shared/load-plan';
import { single, together, type Statements } from '../shared/statements';

export type ClaimRecheck = Statements<(answer: SqlResult) => RecheckedClaims>;

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
): Promise<ClaimRecheck> {
  const timed = (sql: string): string => withClock(sql, context.input.clock, plan.dialect);
  const edits = claims.some((claim) => claim.rivals.some((rival) => isRunAgain(claim, rival)))
    ? await editsOf(context, candidateId)
    : [];
  const under = async (edit: Edit | null | undefined): Promise<Statements<SqlResult | null>> =>
    single(edit ? planSqlUnder(plan, edit.operator, await context.run.get('body', edit.bodyId)) : null);
  const checks = claims.map(async ({ check, ...claim }, at): Promise<Statements<Counted>> => {
    const through = claim.rivals.map((rival, of) => under(isRunAgain(claim, rival) ? edits[at]?.[of] : null));
    const before = { ...claim, check: timed(check) };
    const { statements, read } = together([single(before.check), together(await Promise.all(through))]);
    return {
      statements,
      read: (results) => {
        const [result, answers] = read(results);
        return { before, result, answers };
      },
    };
  });
  const { statements, read } = together(await Promise.all(checks));
  return {
    statements,
    read: (results) => {
      const counted = read(results);
      return (answer) => {
        const recounted = counted.map((each): Recounted => {
          const same = each.answers.map(
            (other) => other && decideMateriality([answer, other], plan.plan.ordered).immaterial,
          );
          return { ...each, now: decideAgain(each.before, each.result, same) };
        });
        const fallen = recounted.find(({ before, now }) => !stillHolds(before, now));
        return {
          claims: recounted.map(({ now }) => now),
          why: fallen === undefined ? null : lostText(fallen.now),
          evidence: (entry) => withCounts(entry, recounted, timed),
        };
      };
    },
  };
}

type Rival = Claim['rivals'][number];
type Edit = NonNullable<NonNullable<Contents['verdict']['edits']>[number][number]>;

interface Counted {
  readonly before: Claim;
  readonly result: SqlResult;
  /** The whole plan under each rival, where it ran. */
  readonly answers: readonly (SqlResult | null)[];
}

interface Recounted extends Counted {
  readonly now: Claim;
}

/** Of a claim that makes no difference also those that the counts refute. */
function isRunAgain({ state, entry }: Pick<Claim, 'state' | 'entry'>, { verdict }: Rival): boolean {
  if (entry !== undefined) return false;
  return state === 'immaterial' || verdict === 'same-answer';
}

async function editsOf({ run }: StepContext, candidateId: string): Promise<NonNullable<Contents['verdict']['edits']>> {
  const verdicts = [...(await run.all('verdict')).values()];
  return verdicts.find((verdict) => verdict.candidateId === candidateId)?.edits ?? [];
}

function decideAgain(claim: Claim, result: SqlResult, same: readonly (boolean | null)[]): Claim {
  const { operator, statement, rows, check, rivals, entry } = claim;
  const seen = rivals.map(({ reading, verdict }, at) => ({
    reading,
    // Those of an entry need not lose; one that changes this answer is told with it.
    sameAnswer: entry !== undefined && verdict !== 'refuted' ? true : (same[at] ?? null),
  }));
  const now = countedClaim({ operator, statement, rows, check }, readCounts(result, 2), seen);
  return {
    ...{ ...claim, ...now },
    rivals: now.rivals.map((rival, at) => {
      const { gives } = rivals[at] ?? {};
      return gives === undefined ? rival : { ...rival, verdict: 'open', gives };
    }),
  };
}

/** A proof has to stay one; what held with exceptions or made no difference may be settled in another way now. */
function stillHolds(before: Claim, now: Claim): boolean {
  if (before.state === 'proved') return now.state === 'proved';
  return !isSettled(before) || isSettled(now);
}

function withCounts(entry: Evidence, recounted: readonly Recounted[], timed: (sql: string) => string): Evidence {
  const own = recounted.filter(({ now }) => now.operator === entry.operator && now.entry === undefined);
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
  const parts = own.map(({ result }) => excerpt(result));
  const found = parts.filter((part) => part !== null);
  if (found.length < parts.length) return null;
  return {
    columns: found.flatMap(({ columns }) => columns),
    rows: [found.flatMap(({ rows }) => rows[0] ?? [])],
    rowCount: 1,
  };
}
