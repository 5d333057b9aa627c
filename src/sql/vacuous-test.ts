/**
 * What the checks of a test are worth, before anybody judges them (rule S1). A check that would have come out the same
 * whatever the rows hold establishes nothing, for its reading and against another: the same for every reading, forced by
 * how the probe filters, or TRUE only because nothing was examined. Only plain forms are recognised.
 */
import type { Dialect, HypothesisOutcome, SqlResult, Test } from '../domain';
import { standingNote } from './agreement';
import { normaliseSql, plainSql } from './body';
import { columnsIn, operandsOf, operatorOf, readExpression, readQuery, selectOf, textOf, type Node } from './tree';
import { conditionOf, conditionsOf, demanded, isCountOfRows } from './checks';

/** The outcomes with what is vacuous taken out of them, and with notes for the judge. */
export function weigh(
  test: Pick<Test, 'probe' | 'hypotheses'>,
  result: SqlResult,
  outcomes: readonly HypothesisOutcome[],
  dialect: Dialect,
): HypothesisOutcome[] {
  const probe = readProbe(test.probe, dialect);
  const shared = sharedPredicates(test);
  const tellsNothing = sameCounts(outcomes);
  return outcomes.map((outcome) => {
    const counts = test.hypotheses.find(({ id }) => id === outcome.id)?.agreement ?? null;
    const why = counts === null ? null : vacuousCounts(counts, probe);
    // A check that reads the operator is the same for every reading, and its run is not.
    const own = { shared: outcome.run ? NONE : shared, result: outcome.run?.result ?? result };
    const predicates = outcome.predicates.map((predicate) => {
      const note = predicate.outcome === 'not-established' ? null : vacuous(predicate, { probe, counts, ...own });
      return note === null ? predicate : { ...predicate, outcome: 'not-established' as const, note };
    });
    if (outcome.agreement === null) return { ...outcome, predicates };
    if (why !== null) return { ...outcome, predicates, agreement: null, agreementNote: why };
    const note = tellsNothing
      ? 'the same count for every reading: it tells none apart'
      : standingNote(outcome.agreement);
    return { ...outcome, predicates, ...(note === null ? {} : { agreementNote: note }) };
  });
}

const NONE: ReadonlySet<string> = new Set();

interface Probe {
  /** The expressions of its columns, by name. */
  readonly columns: Readonly<Record<string, Node>>;
  readonly conditions: ReadonlySet<string>;
  readonly dialect: Dialect;
}

function readProbe(sql: string, dialect: Dialect): Probe {
  const select = selectOf(readQuery(normaliseSql(sql), dialect));
  const columns = (select?.columns ?? []).map(({ name, value }) => [name ?? columnsIn(value).at(-1) ?? '', value]);
  return {
    columns: Object.fromEntries(columns) as Probe['columns'],
    conditions: conditionsOf(select?.where ?? null),
    dialect,
  };
}

function sameCounts(outcomes: readonly HypothesisOutcome[]): boolean {
  const [first, ...others] = outcomes.map(({ agreement }) => agreement);
  return (
    first !== null &&
    first !== undefined &&
    others.length > 0 &&
    others.every((other) => other?.matching === first.matching && other.examined === first.examined)
  );
}

function sharedPredicates({ hypotheses }: Pick<Test, 'hypotheses'>): ReadonlySet<string> {
  const [first, ...others] = hypotheses.map(({ predicates }) => predicates.map(plain));
  if (first === undefined || others.length === 0) return new Set();
  return new Set(first.filter((predicate) => others.every((other) => other.includes(predicate))));
}

/** Why the counts of an agreement could not have come out otherwise. */
function vacuousCounts(counts: NonNullable<Test['hypotheses'][number]['agreement']>, probe: Probe): string | null {
  const [matching, examined] = [expressionOf(counts.matching, probe), expressionOf(counts.examined, probe)];
  if (matching === null || examined === null) return null;
  const [where, ofAll] = [whereOf(counts.matching, probe), whereOf(counts.examined, probe)];
  if (textOf(matching) === textOf(examined) && (where && textOf(where)) === (ofAll && textOf(ofAll)))
    return 'both counts are the same expression: it cannot fail';
  const own = forcedBy(matching, probe) ?? (where === null ? null : demanded(where, probe.conditions));
  return own === null ? null : `it counts ${own} among rows that the probe filters by just that`;
}

/** The condition that an expression counts although all rows of the probe meet it. */
function forcedBy(expression: Node, { conditions, dialect }: Probe): string | null {
  const own = conditionOf(expression, dialect);
  return own === null ? null : demanded(own, conditions);
}

interface Scene {
  readonly probe: Probe;
  readonly shared: ReadonlySet<string>;
  readonly result: SqlResult;
  readonly counts: Test['hypotheses'][number]['agreement'];
}

function vacuous({ sql, outcome }: HypothesisOutcome['predicates'][number], scene: Scene): string | null {
  // If it is FALSE, the rows refuted all readings together.
  if (outcome === 'true' && scene.shared.has(plain(sql))) return 'it is the same for every reading';
  const { columns, dialect } = scene.probe;
  const predicate = selected(sql, dialect);
  if (predicate === null) return null;
  const named = [...new Set(columnsIn(predicate))].flatMap((name) => columns[name] ?? []);
  const forced = named.map((column) => forcedBy(column, scene.probe)).filter((own) => own !== null);
  const others = named.filter((column) => forcedBy(column, scene.probe) === null && !isAll(column));
  if (forced.length > 0 && others.length === 0)
    return `${forced.join(', ')} is counted among rows that the probe filters by just that`;
  const alternatives = operandsOf(predicate, 'OR');
  const nothing = outcome === 'true' ? alternatives.find((part) => isNothing(part, scene)) : undefined;
  return nothing === undefined || alternatives.length < 2 ? null : `it is true only because ${textOf(nothing)}`;
}

/** `n = 0`, where n is how many rows were examined, and the probe found none. */
function isNothing(part: Node, { probe, result, counts }: Scene): boolean {
  if (part.type !== 'binary_expr' || operatorOf(part) !== '=' || result.kind !== 'rows' || result.rows.length !== 1)
    return false;
  const sides = [part.left, part.right];
  const name = sides.flatMap((side) => (side.type === 'identifier' ? columnsIn(side) : []))[0];
  if (name === undefined || !sides.some((side) => textOf(side) === '0')) return false;
  const examined = counts === null ? null : selected(counts.examined, probe.dialect);
  const isExamined = isAll(probe.columns[name]) || (examined?.type === 'identifier' && columnsIn(examined)[0] === name);
  const at = result.columns.findIndex((column) => column.name.toLowerCase() === name);
  const value = result.rows[0]?.[at];
  return isExamined && value !== undefined && value !== null && Number(value) === 0;
}

function isAll(expression: Node | undefined): boolean {
  return expression !== undefined && isCountOfRows(expression) && expression.filter === undefined;
}

/** The probe's expression behind a count that only reads one of its columns. */
function expressionOf(count: string, { columns, dialect }: Probe): Node | null {
  const node = selected(count, dialect);
  return (node?.type === 'identifier' ? columns[node.name.toLowerCase()] : undefined) ?? node;
}

/** The condition of a count such as `(SELECT count(*) FROM observation WHERE …)`. */
function whereOf(count: string, { dialect }: Probe): Node | null {
  return selectOf(readExpression(normaliseSql(count), dialect))?.where ?? null;
}

/** The selected expression, if the text is `(SELECT … FROM observation)`; else the expression itself. */
function selected(sql: string, dialect: Dialect): Node | null {
  const node = readExpression(normaliseSql(sql), dialect);
  const columns = selectOf(node)?.columns;
  return columns?.length === 1 ? (columns[0]?.value ?? null) : node;
}

function plain(sql: string): string {
  return plainSql(normaliseSql(sql));
}
