/**
 * A hundred questions drawn as the paper draws them: 80 that can be answered and 20 that cannot, in the proportions of the
 * whole by primary table and by complexity, each table at least once. The primary table is the first one that the outermost
 * FROM reads: so counted, the five largest shares of the valid split are those of the paper. Its rule of complexity is not
 * known; here a query is simple if it is one SELECT of one table that aggregates nothing, and complex if it groups or has a
 * window.
 */
import { groupBy } from '../../src/group-by';
import { random } from '../../src/random';
import { childrenOf, hasAggregate, isQuery, readQuery, type Node } from '../../src/sql/tree';
import type { BenchmarkItem } from '../../src/questions/question-file';
import { processedSql } from './ehrsql2024-sql';

const ANSWERABLE = 80;
const UNANSWERABLE = 20;

export function subset(items: readonly BenchmarkItem[], seed: number): BenchmarkItem[] {
  const draw = random(seed);
  const answerable = items.filter(({ gold }) => gold?.answerable === true);
  const chosen = new Set([
    ...strataOf(answerable, ANSWERABLE).flatMap((stratum) => shuffled(stratum.items, draw).slice(0, stratum.share)),
    ...shuffled(
      items.filter(({ gold }) => gold?.answerable === false),
      draw,
    ).slice(0, UNANSWERABLE),
  ]);
  return items.filter((item) => chosen.has(item));
}

export function tableOf({ gold }: BenchmarkItem): string {
  return leadingTable(queryOf(gold?.sql[0])) ?? '';
}

export function complexityOf({ gold }: BenchmarkItem): 'simple' | 'medium' | 'complex' {
  const query = queryOf(gold?.sql[0]);
  const nodes = query === null ? [] : withDescendants(query);
  if (nodes.some((node) => node.type === 'group_by_clause' || (node.type === 'func_call' && node.over !== undefined)))
    return 'complex';
  const isSimple =
    nodes.filter(isQuery).length === 1 && !nodes.some((node) => node.type === 'join_expr' || hasAggregate(node));
  return isSimple ? 'simple' : 'medium';
}

const queryOf = (sql: string | undefined): Node | null => readQuery(processedSql(sql ?? ''), 'sqlite');
const withDescendants = (node: Node): Node[] => [node, ...childrenOf(node).flatMap(withDescendants)];

function leadingTable(node: Node | null): string | null {
  if (node === null) return null;
  if (node.type === 'from_clause' || node.type === 'alias') return leadingTable(node.expr);
  if (node.type === 'join_expr' || node.type === 'compound_select_stmt') return leadingTable(node.left);
  if (node.type === 'paren_expr') return leadingTable(node.expr);
  if (node.type === 'identifier') return node.name.toLowerCase();
  // A SELECT without a FROM of its own, as in SELECT (SELECT …) > 0, reads what its first subquery reads.
  const from = withDescendants(node).find(({ type }) => type === 'from_clause');
  return from === undefined ? null : leadingTable(from);
}

interface Stratum {
  readonly table: string;
  readonly complexity: string;
  readonly items: readonly BenchmarkItem[];
  /** The stratum's part of what is wanted, which is no whole number. */
  readonly exact: number;
  share: number;
}

/** How many of each stratum: its whole part, one of every table, and the rest where table, complexity and both lack most. */
function strataOf(items: readonly BenchmarkItem[], wanted: number): readonly Stratum[] {
  const strata = [...groupBy(items, (item) => `${tableOf(item)} ${complexityOf(item)}`).values()].map(
    (group): Stratum => {
      const [first] = group as [BenchmarkItem];
      const exact = (wanted * group.length) / items.length;
      return { table: tableOf(first), complexity: complexityOf(first), items: group, exact, share: Math.floor(exact) };
    },
  );
  const largest = (of: readonly Stratum[], by: (stratum: Stratum) => number): Stratum =>
    of.reduce((best, stratum) => (by(stratum) > by(best) ? stratum : best));
  for (const of of groupBy(strata, ({ table }) => table).values())
    if (of.every(({ share }) => share === 0)) largest(of, ({ exact }) => exact).share = 1;
  const sum = (of: readonly Stratum[], by: (stratum: Stratum) => number): number =>
    of.reduce((all, each) => all + by(each), 0);
  const lack = (of: readonly Stratum[]): number => sum(of, ({ exact, share }) => exact - share);
  const lackOf = (stratum: Stratum): number =>
    lack([stratum]) +
    lack(strata.filter(({ table }) => table === stratum.table)) +
    lack(strata.filter(({ complexity }) => complexity === stratum.complexity));
  while (sum(strata, ({ share }) => share) < Math.min(wanted, items.length))
    largest(
      strata.filter((stratum) => stratum.share < stratum.items.length),
      lackOf,
    ).share += 1;
  return strata;
}

function shuffled<T>(items: readonly T[], draw: () => number): T[] {
  const order = [...items];
  for (let at = order.length - 1; at > 0; at -= 1) {
    const other = Math.floor(draw() * (at + 1));
    [order[at], order[other]] = [order[other] as T, order[at] as T];
  }
  return order;
}
