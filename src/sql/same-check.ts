/**
 * The claims of a commit as they are counted. Those on the same base check become one claim with all rivals: the rows examined
 * and what matches are counted once, and each rival stands beside the others.
 *
 * What a statement concludes or explains in a last clause (", so the later one counts", ", because …") no check counts, and
 * whatever stands in a statement is told as proved. So the clause is cut: to send it back would cost a whole reply, and to call
 * it assumed would take a proof away for the way it was worded. A literal that only such a clause names is one that nothing
 * covers (`literal-cover.ts`). Values in the midst of a statement stay: most that its check does not name are counted by an
 * ELSE branch or under another name.
 */
import type { Node } from 'sql-parser-cst';
import type { Dialect } from '../domain';
import { childrenOf, readQuery, shown, textOf } from './tree';

interface Checked {
  readonly operator: string;
  readonly statement: string;
  readonly check: string;
  readonly rivals: readonly { readonly reading: string }[];
}

/** In the order of their first. A claim whose check cannot be read, or counts its rivals in another way, stays as it is. */
export function mergedClaims<Claim extends Checked>(claims: readonly Claim[], dialect: Dialect): Claim[] {
  const merged: { claim: Claim; base: Base | null }[] = [];
  for (const claim of claims) {
    const base = baseOf(claim, dialect);
    const same = merged.find(
      (other) => base !== null && other.base?.text === base.text && other.claim.operator === claim.operator,
    );
    if (same === undefined || base === null) merged.push({ claim, base });
    else {
      same.claim = joined(same.claim, claim, base, dialect);
      same.base = baseOf(same.claim, dialect);
    }
  }
  return merged.map(({ claim }) => ({ ...claim, statement: withoutTail(claim.statement) }));
}

/** Without clauses to the end of a sentence or bracket that begin with `so` and the like; one with a comma may go on after it. */
export function withoutTail(statement: string): string {
  return statement.replace(TAIL, '');
}

const TAIL =
  /[,;]\s+(?:and\s+)?(?:so(?!\s+(?:that|as|far|long|read|taken|counted|bounded)\b)|thus|hence|therefore|because|which\s+(?:it|they|means?|shows?|makes?))\s[^(),;]*?(?=\)|[.;](?:\s|$)|\s*$)/g;

interface Base {
  /** What is examined and what matches, over which rows, in one form. */
  readonly text: string;
  /** The counts of rivals, as written. */
  readonly counts: readonly string[];
}

function joined<Claim extends Checked>(first: Claim, second: Claim, { counts }: Base, dialect: Dialect): Claim {
  const said = first.statement.trim();
  const isSaid = said.includes(second.statement.trim());
  const known = new Set(first.rivals.map(({ reading }) => reading));
  const isNew = second.rivals.map(({ reading }) => !known.has(reading));
  return {
    ...first,
    statement: isSaid ? said : `${said}${/[.!?]$/.test(said) ? '' : '.'} ${second.statement.trim()}`,
    check: withCounts(
      first.check,
      counts.filter((_, at) => isNew[at]),
      dialect,
    ),
    rivals: [...first.rivals, ...second.rivals.filter((_, at) => isNew[at])],
  };
}

function withCounts(check: string, counts: readonly string[], dialect: Dialect): string {
  const list = selectClause(readQuery(check, dialect));
  if (list === null || counts.length === 0) return check;
  const text = shown(list).trim();
  return check.replace(text, () => [text, ...counts].join(', '));
}

function baseOf({ check, rivals }: Checked, dialect: Dialect): Base | null {
  const query = readQuery(check, dialect);
  const list = selectClause(query);
  const items: readonly Node[] = list?.columns?.items ?? [];
  // Two counts for each rival repeat the check, and what they are counted over is not known here.
  if (query === null || list === null || ![2, 2 + rivals.length].includes(items.length)) return null;
  if (check.split(shown(list).trim()).length !== 2) return null;
  const rest = childrenOf(query).filter((clause) => clause !== list);
  const own = items.slice(0, 2).map((item) => textOf(item.type === 'alias' ? item.expr : item));
  const kind = items.length === 2 ? 'repeated' : 'counted';
  return {
    text: [kind, ...own, ...rest.map(textOf)].join('\n'),
    counts: items.slice(2).map((item) => shown(item.type === 'alias' ? item.expr : item).trim()),
  };
}

function selectClause(query: Node | null): Extract<Node, { type: 'select_clause' }> | null {
  if (query?.type !== 'select_stmt') return null;
  return (query.clauses as Node[]).find((clause) => clause.type === 'select_clause') ?? null;
}
