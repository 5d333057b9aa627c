/**
 * What the checks of a test are worth, before anybody judges them (rule S1). A check that would have come out the same
 * whatever the rows hold establishes nothing, for its reading and against another: the same for every reading, forced by
 * how the probe filters, or TRUE only because nothing was examined. Only plain forms are recognised.
 */
import type { HypothesisOutcome, SqlResult, Test } from '../domain';
import { FLOOR, standingOf, type Agreement } from './agreement';
import { normaliseSql, plainSql } from './body';
import { wholeQuery } from './expression';
import { conditionOf, conjuncts, mainSelect, parts, splitList } from './vacuous-check';

/** The outcomes with what is vacuous taken out of them, and with notes for the judge. */
export function weigh(
  test: Pick<Test, 'probe' | 'hypotheses'>,
  result: SqlResult,
  outcomes: readonly HypothesisOutcome[],
): HypothesisOutcome[] {
  const probe = readProbe(test.probe);
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
  /** What its columns are, by name. */
  readonly columns: Readonly<Record<string, string>>;
  readonly conditions: readonly string[];
}

function readProbe(sql: string): Probe {
  const select = mainSelect(plainSql(normaliseSql(sql)));
  if (select === null) return { columns: {}, conditions: [] };
  const named = splitList(select.list).flatMap((item): [string, string][] => {
    const [, text, name] = /^(.+) as "?(\w+)"?$/s.exec(item) ?? [];
    return text === undefined || name === undefined ? [] : [[name, text]];
  });
  return { columns: Object.fromEntries(named), conditions: conjuncts(select.where) };
}

function standingNote(agreement: Agreement): string | null {
  const exceptions = agreement.examined - agreement.matching;
  switch (standingOf(agreement)) {
    case 'with-exceptions':
      return `it holds with ${exceptions === 1 ? '1 exception' : `${exceptions} exceptions`}`;
    case 'too-few':
      return `fewer than ${FLOOR} rows decide nothing`;
    case 'all':
    case 'fails':
      return null;
  }
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
  if (matching === examined) return 'both counts are the same expression: it cannot fail';
  const own = forcedBy(matching, probe);
  return own === null ? null : `it counts ${own} among rows that the probe filters by just that`;
}

/** The condition that an expression counts although all rows of the probe meet it. */
function forcedBy(expression: string, { conditions }: Probe): string | null {
  const own = conditionOf(expression);
  return own !== null && conditions.includes(own) ? own : null;
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
  const { columns } = scene.probe;
  const text = listOf(sql);
  const named = [...new Set(text.match(/\b[a-z_]\w*\b/g) ?? [])].filter((word) => word in columns);
  const forced = named.map((name) => forcedBy(columns[name] ?? '', scene.probe)).filter((own) => own !== null);
  const others = named.filter((name) => forcedBy(columns[name] ?? '', scene.probe) === null && !isAll(columns[name]));
  if (forced.length > 0 && others.length === 0)
    return `${forced.join(', ')} is counted among rows that the probe filters by just that`;
  const nothing = outcome === 'true' ? parts(text, 'or').find((part) => isNothing(part, scene)) : undefined;
  return nothing === undefined || parts(text, 'or').length < 2 ? null : `it is true only because ${nothing}`;
}

/** `n = 0`, where n is how many rows were examined, and the probe found none. */
function isNothing(part: string, { probe, result, counts }: Scene): boolean {
  const name = /^(\w+) ?= ?0$/.exec(part)?.[1] ?? /^0 ?= ?(\w+)$/.exec(part)?.[1];
  if (name === undefined || result.kind !== 'rows' || result.rows.length !== 1) return false;
  const isExamined = isAll(probe.columns[name]) || (counts !== null && listOf(counts.examined) === name);
  const at = result.columns.findIndex((column) => column.name.toLowerCase() === name);
  const value = result.rows[0]?.[at];
  return isExamined && value !== undefined && value !== null && Number(value) === 0;
}

function isAll(expression: string | undefined): boolean {
  return expression !== undefined && /^count\((?:\*|1)\)$/.test(expression);
}

/** The probe's expression behind a count that only reads one of its columns. */
function expressionOf(count: string, { columns }: Probe): string {
  const text = listOf(count);
  return columns[text] ?? text;
}

/** What is selected, if the text is `(SELECT … FROM observation)`; else the text itself. */
function listOf(sql: string): string {
  const text = plain(sql);
  const query = wholeQuery(text);
  return query === null ? text : (mainSelect(query)?.list ?? text);
}

function plain(sql: string): string {
  return plainSql(normaliseSql(sql));
}
