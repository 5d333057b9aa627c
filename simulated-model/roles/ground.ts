/**
 * Role `ground`: verdicts by the predicate outcomes that the prompt shows. FALSE refutes, TRUE supports, anything else is
 * open; a winner is the one supported reading whose rivals are all refuted.
 */
import type { GroundReply } from '../../src/roles/ground/prompt';
import { failingBody, isWrong, rowsBody } from '../bodies';
import { readTests, type SeenHypothesis } from '../evidence';
import type { Gold } from '../gold';
import { sectionsNamed } from '../request';
import { derivationOf, type World } from '../world';
import { timesTested } from './propose';
import { testOf } from './tests';

type Judgement = GroundReply['judgements'][number];

interface Seen {
  readonly operator: string;
  readonly observation: string;
  readonly hypotheses: readonly SeenHypothesis[];
}

export async function ground(world: World): Promise<GroundReply> {
  const gold = await world.gold();
  const judgements = seenOperators(world).map((seen) => judge(world, gold, seen));
  const settled = judgements.every(({ winner }) => winner !== null);
  const earlier = sectionsNamed(world.asked, /^(earlier evidence|observation .*)$/);
  const carries = /^tests: for up to /m.test(world.asked.task) && world.draw('next tests', earlier.length) < 0.5;
  const open = judgements.filter(({ winner }) => winner === null).map(({ operator }) => operator);
  return {
    judgements,
    facts: settled ? ['the probe counted every matching record once'] : [],
    tryNext: settled ? [] : ['count the matching records once more'],
    avoid: [],
    delta: settled ? -2 : null,
    impossible: null,
    interface: [],
    written: [],
    tests: carries ? open.map((name) => testOf(world, gold, name, timesTested(earlier, name))) : [],
  };
}

/** In a rollout one operator may be observed several times: their outcomes are combined. */
function seenOperators(world: World): readonly Seen[] {
  const byOperator = new Map<string, Seen>();
  for (const { name, text } of sectionsNamed(world.asked, /^observation /)) {
    for (const test of readTests(text, isWrong)) {
      const known = byOperator.get(test.operator)?.hypotheses ?? [];
      const observation = name.replace(/^observation /, '');
      byOperator.set(test.operator, {
        operator: test.operator,
        observation,
        hypotheses: merged(known, test.hypotheses),
      });
    }
  }
  return [...byOperator.values()];
}

function merged(known: readonly SeenHypothesis[], more: readonly SeenHypothesis[]): SeenHypothesis[] {
  const added = more.filter(({ id }) => !known.some((each) => each.id === id));
  return [
    ...known.map((each) => ({
      ...each,
      outcomes: [...each.outcomes, ...(more.find(({ id }) => id === each.id)?.outcomes ?? [])],
    })),
    ...added,
  ];
}

function judge(world: World, gold: Gold, { operator, observation, hypotheses }: Seen): Judgement {
  const verdicts = hypotheses.map(({ id, outcomes }) => ({
    hypothesis: id,
    reason: outcomes.length === 0 ? 'nothing was established' : `its predicates are ${outcomes.join(', ')}`,
    verdict: verdictOf(outcomes),
  }));
  const supported = verdicts.filter(({ verdict }) => verdict === 'supported');
  const rest = verdicts.filter(({ verdict }) => verdict !== 'supported');
  const winner =
    supported.length === 1 && rest.every(({ verdict }) => verdict === 'refuted')
      ? (supported[0]?.hypothesis ?? null)
      : null;
  const own = hypotheses.find(({ id }) => id === winner);
  return {
    operator,
    observation,
    verdicts,
    winner,
    sql: own === undefined ? null : winnerSql(world, gold, operator, own),
    summary:
      winner === null ? 'The probe did not settle it.' : 'Matching records count once; rivals contradict the counts.',
  };
}

function verdictOf(outcomes: readonly string[]): 'supported' | 'refuted' | 'open' {
  if (outcomes.includes('FALSE')) return 'refuted';
  return outcomes.includes('TRUE') ? 'supported' : 'open';
}

/** null keeps the SQL that the hypothesis carries. */
function winnerSql(world: World, gold: Gold, operator: string, own: SeenHypothesis): string | null {
  if (world.slip('ground') < world.rates.failingSql) return failingBody(gold);
  return own.hasSql ? null : rowsBody(gold, derivationOf(operator), 'right');
}
