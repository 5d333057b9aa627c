/** A commit that mends one which went back sends only what changes: the rest is taken over from before. */
import type { LookReply } from '../../domain/turns';

export interface SaidTurn {
  /** As it was accepted, without what was left empty. */
  readonly reply: LookReply;
  /** Statements of the claims that hold, of a commit. */
  readonly holds?: readonly string[];
}

/** A commit after one that went back, with what it leaves out as it was: operators, and claims that hold. */
export function mended(reply: LookReply, turns: readonly SaidTurn[]): LookReply {
  const last = turns.findLast((turn) => turn.reply.action === 'commit');
  if (reply.action !== 'commit' || last === undefined) return reply;
  const { reply: before, holds = [] } = last;
  const said = new Set([...reply.claims, ...reply.assumed].map(({ statement }) => statement));
  const checks = [...reply.claims, ...before.claims].map(({ check }) => check);
  const operators = mendedOperators(before.operators, reply.operators, [
    ...checks,
    ...[reply.coverage ?? before.coverage, reply.control ?? before.control].filter((sql) => sql !== null),
  ]);
  const names = new Set(operators.map(({ name }) => name));
  const kept = before.claims.filter(
    ({ statement, operator }) => holds.includes(statement) && !said.has(statement) && names.has(operator),
  );
  const listed = <T>(now: readonly T[], then: readonly T[]): T[] => [...(now.length > 0 ? now : then)];
  return {
    ...reply,
    operators,
    ordered: reply.ordered || (before.ordered && reply.operators.every(({ name }) => name !== operators.at(-1)?.name)),
    claims: [...kept, ...reply.claims],
    // One too many is better than one that is forgotten.
    assumed: [
      ...before.assumed.filter(({ operator, statement }) => names.has(operator) && !said.has(statement)),
      ...reply.assumed,
    ],
    wording: listed(
      reply.wording,
      before.wording.filter(({ operator }) => names.has(operator)),
    ),
    coverage: reply.coverage ?? before.coverage,
    ifPartial: reply.ifPartial ?? before.ifPartial,
    control: reply.control ?? before.control,
    sentence: reply.sentence ?? before.sentence,
    ...(reply.known === undefined ? {} : { known: listed(reply.known, before.known ?? []) }),
    ...(reply.understoodAs === undefined ? {} : { understoodAs: reply.understoodAs ?? before.understoodAs ?? null }),
  };
}

type Operators = LookReply['operators'];

/**
 * Those that are sent replace their namesakes; new ones come before the next that was there, else last. What neither a later
 * one nor a check (`by`) reads any more is gone.
 */
function mendedOperators(before: Operators, sent: Operators, by: readonly string[]): Operators {
  const isOld = (name: string): boolean => before.some((each) => each.name === name);
  const list = before.map((each) => sent.find(({ name }) => name === each.name) ?? each);
  for (const [at, operator] of sent.entries()) {
    if (isOld(operator.name)) continue;
    const next = sent.slice(at).find(({ name }) => isOld(name));
    list.splice(next === undefined ? list.length : list.findIndex(({ name }) => name === next.name), 0, operator);
  }
  return list.filter(({ name }, at) => {
    const readers = [...list.slice(at + 1).map(({ sql }) => sql), ...by];
    return at === list.length - 1 || readers.some((sql) => new RegExp(`\\b${name}\\b`, 'i').test(sql));
  });
}
