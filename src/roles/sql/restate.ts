/**
 * `restate`: what the probes of a search proved of its answer, as claims with checks (docs/layer.md). Each check runs once in the
 * form in which the layer would store it; one that does not give the counts of the probe again stays out.
 */
import type { Claim, Update } from '../../domain';
import { canonical } from '../../domain/canonical';
import { countedClaim, readCounts } from '../../sql/claims';
import { isClocked } from '../../sql/clock';
import { groundingCheck, type GroundingCheck } from '../../sql/grounding-check';
import { testOf } from '../shared/attempts';
import { runSql, type StepContext } from '../shared/context';
import { plainCheck } from '../layer/entries';
import { loadPlan, type LoadedPlan } from '../shared/load-plan';
import type { Given, Gives } from '../../domain/ports/steps';

export async function restate(
  context: StepContext,
  { position, candidateId }: Given<'restate'>,
): Promise<Gives<'restate'>> {
  const { plan } = await context.run.get('candidate', candidateId);
  const made = plan === null ? [] : await checksOf(context, await loadPlan(context, plan));
  const { results, usage } = await runSql(
    context,
    made.map(({ check }) => check),
  );
  const claims = made.flatMap(({ operator, update, check, grounding }, at): Claim[] => {
    const counts = readCounts(results[at], 2);
    if (canonical(counts) !== canonical(grounding.counts)) return [];
    const same = new Set(update.sameAnswer?.rivals.map(({ hypothesis }) => hypothesis));
    const rivals = grounding.rivals.map(({ id, mapping }) => ({
      reading: mapping,
      sameAnswer: same.has(id) ? true : null,
    }));
    const claim = countedClaim({ operator, statement: update.mapping, rows: '', check }, counts, rivals);
    return claim.state === 'proved' ? [claim] : [];
  });
  await context.run.put('restated', position, { candidateId, claims });
  return { proved: claims.length, usage };
}

interface Made {
  /** As the plan names it. */
  readonly operator: string;
  readonly update: Update;
  readonly grounding: GroundingCheck;
  /** As the layer stores it. */
  readonly check: string;
}

/** A proof that reads the clock holds for one day only. */
async function checksOf({ run }: StepContext, { operators, dialect }: LoadedPlan): Promise<readonly Made[]> {
  const made = await Promise.all(
    operators.map(async ({ operator: { name: operator }, update }): Promise<Made[]> => {
      if (update === null) return [];
      const judged = update.groundingId === null ? null : await run.find('grounding', update.groundingId);
      const winner = judged?.groundings.find((each) => each.operator === update.operator)?.winner ?? null;
      const seen = await testOf(run, update.observationId, update.operator);
      if (seen === null || winner === null) return [];
      const grounding = groundingCheck(seen.test.hypotheses, seen.outcome, winner, dialect);
      return grounding === null || isClocked(grounding.sql)
        ? []
        : [{ operator, update, grounding, check: plainCheck(grounding.sql) }];
    }),
  );
  return made.flat();
}
