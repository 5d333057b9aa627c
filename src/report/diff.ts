/**
 * Where two searches part: a pure function of what the store holds of both. Made for forks, and as useful for two
 * independent searches of one question.
 *
 * 1. Iterations are compared by what they hold (operators with their SQL, proofs with their verdicts, facts, results), never
 *    by ids or names: those are counters, and a planner names things anew each time.
 * 2. Remarks of people and usage are shown too, but do not count as a difference in what was found.
 */
import type { AnswerRecord, CandidateView, Claim, SearchInput, SteeringNote } from '../domain';
import { statedText } from '../text/answer-text';
import { canonical, compareText } from '../domain/canonical';
import { figuresText, rivalText } from '../text/claim-text';
import type { Side, Trace } from './trace';
import { CLAIM_WORDS, endedBecause } from './words';
import { counted, cut, dollars, noteText } from './printable';

type Letter = 'a' | 'b';

export interface Difference {
  readonly what: 'operator' | 'update' | 'fact' | 'candidate';
  readonly only: Letter;
  readonly text: string;
  readonly sql: string | null;
}

export interface SearchDiff {
  readonly a: string;
  readonly b: string;
  /** Set when one is a fork of the other. */
  readonly fork: { readonly child: Letter; readonly after: number } | null;
  readonly settings: readonly { readonly name: string; readonly a: unknown; readonly b: unknown }[];
  /** The first iteration after which they hold different things; null when there is none. */
  readonly partsAt: number | null;
  readonly differences: readonly Difference[];
  /** Iterations of which both searches have a checkpoint. */
  readonly compared: readonly number[];
  readonly iterations: { readonly a: number; readonly b: number };
  readonly steering: { readonly a: readonly SteeringNote[]; readonly b: readonly SteeringNote[] };
  /** Claims of which not the same was counted, or that only one of the answers makes. */
  readonly claims: readonly ClaimDifference[];
  readonly answers: { readonly a: Ending | null; readonly b: Ending | null; readonly sameRows: boolean | null };
}

/** `a`, `b`: what was counted there; null: it is not claimed. */
interface ClaimDifference {
  readonly statement: string;
  readonly a: string | null;
  readonly b: string | null;
}

export interface Ending extends Pick<AnswerRecord, 'status' | 'endedBy' | 'answer' | 'reason' | 'sql' | 'usage'> {
  readonly rowCount: number;
}

export function searchDiff(a: Side, b: Side): SearchDiff {
  const compared = [...a.states.keys()].filter((iteration) => b.states.has(iteration)).sort((x, y) => x - y);
  const iterations = { a: Math.max(0, ...a.states.keys()), b: Math.max(0, ...b.states.keys()) };
  const parted = compared.map((iteration) => ({ iteration, found: differencesAfter(iteration, a, b) }));
  const first = parted.find(({ found }) => found.length > 0);
  const goesOn = iterations.a === iterations.b ? null : Math.min(iterations.a, iterations.b) + 1;
  return {
    a: a.trace.searchId,
    b: b.trace.searchId,
    fork: forkOf(a, b),
    settings: settingsThatDiffer(a.trace.input, b.trace.input),
    partsAt: first?.iteration ?? goesOn,
    differences: first?.found ?? [],
    compared,
    iterations,
    steering: { a: a.trace.record?.steering ?? [], b: b.trace.record?.steering ?? [] },
    claims: claimsThatDiffer(a.trace.record?.claims ?? [], b.trace.record?.claims ?? []),
    answers: {
      a: endingOf(a.trace.record),
      b: endingOf(b.trace.record),
      sameRows: sameRows(a.trace.record, b.trace.record),
    },
  };
}

function forkOf({ trace: a }: Side, { trace: b }: Side): SearchDiff['fork'] {
  if (b.input?.parent?.searchId === a.searchId) return { child: 'b', after: b.input.parent.iteration };
  if (a.input?.parent?.searchId === b.searchId) return { child: 'a', after: a.input.parent.iteration };
  return null;
}

/** Nested settings by their path, such as `budgets.costUsd`; the question's parts too. */
function settingsThatDiffer(a: SearchInput | null, b: SearchInput | null): SearchDiff['settings'] {
  if (a === null || b === null) return [];
  const flat = (input: SearchInput): Map<string, unknown> => {
    const { text, database, context, instructions } = input.question;
    return new Map(flattened({ question: text, database, context, instructions, ...input.settings }));
  };
  const [left, right] = [flat(a), flat(b)];
  return [...new Set([...left.keys(), ...right.keys()])]
    .filter((name) => canonical(left.get(name) ?? null) !== canonical(right.get(name) ?? null))
    .map((name) => ({ name, a: left.get(name) ?? null, b: right.get(name) ?? null }));
}

function flattened(value: object, path = ''): [string, unknown][] {
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]): [string, unknown][] =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? flattened(inner, `${path}${key}.`)
      : [[`${path}${key}`, inner]],
  );
}

function differencesAfter(iteration: number, a: Side, b: Side): readonly Difference[] {
  const [left, right] = [held(a, iteration), held(b, iteration)];
  const only = (mine: ReadonlyMap<string, Held>, other: ReadonlyMap<string, Held>, letter: Letter) =>
    [...mine].filter(([key]) => !other.has(key)).map(([, one]): Difference => ({ ...one, only: letter }));
  return [...only(left, right, 'a'), ...only(right, left, 'b')].sort(
    (x, y) =>
      ORDER.indexOf(x.what) - ORDER.indexOf(y.what) || compareText(x.only, y.only) || compareText(x.text, y.text),
  );
}

const ORDER: readonly Difference['what'][] = ['operator', 'update', 'fact', 'candidate'];

type Held = Omit<Difference, 'only'>;

/** The contents of the state after an iteration, under keys that are equal in two searches for equal things. */
function held({ trace, states }: Side, iteration: number): ReadonlyMap<string, Held> {
  const state = states.get(iteration);
  const found = new Map<string, Held>();
  const add = (key: readonly unknown[], one: Held): void => void found.set(canonical([one.what, ...key]), one);
  for (const { plan } of state?.trajectories ?? [])
    for (const { shape, intent, bodyId, state: is, immaterial } of plan?.operators ?? []) {
      const standing = immaterial !== null ? 'immaterial' : is;
      add([shape, intent, bodyId, standing], {
        what: 'operator',
        text: `${intent} (${standing})`,
        sql: sqlOf(trace, bodyId),
      });
    }
  for (const { id, shape, intent, bodyId, status } of state?.updates ?? []) {
    const content = trace.updates[id];
    const verdicts = (content?.verdicts ?? []).map(({ hypothesis, verdict }) => `${hypothesis} ${verdict}`);
    const text = `${content?.mapping ?? intent} (${[status, ...verdicts].join(', ')})`;
    add([shape, intent, bodyId, status, verdicts], { what: 'update', text, sql: sqlOf(trace, bodyId) });
  }
  for (const { id, status } of state?.facts ?? []) {
    const statement = trace.facts[id]?.statement ?? id;
    add([statement, status], {
      what: 'fact',
      text: status === 'active' ? statement : `${statement} (${status})`,
      sql: null,
    });
  }
  for (const candidate of state?.candidates ?? []) {
    const stored = trace.record?.candidates.find(({ id }) => id === candidate.id);
    const preview = stored?.preview ?? '';
    const bodies = candidate.bodies.map(({ bodyId }) => bodyId).sort(compareText);
    add([bodies, candidate.kind, candidate.outcome, candidate.rowCount, candidate.status, preview], {
      what: 'candidate',
      text: `${resultOf(candidate)}${preview === '' ? '' : `: ${preview}`}`,
      sql: stored?.sql ?? null,
    });
  }
  return found;
}

function resultOf({ id, kind, outcome, rowCount, status }: CandidateView): string {
  const result = kind === 'unanswerable' ? kind : outcome === 'rows' ? counted(rowCount, 'row') : outcome;
  return `${id} ${result}${status === 'active' ? '' : `, ${status}`}`;
}

function sqlOf({ bodies }: Trace, bodyId: string | null): string | null {
  return bodyId === null ? null : (bodies[bodyId]?.sql ?? null);
}

function endingOf(record: AnswerRecord | null): Ending | null {
  if (record === null) return null;
  const { status, endedBy, reason, sql, usage, rows } = record;
  return { status, endedBy, answer: statedText(record), reason, sql, usage, rowCount: rows.length };
}

/** Two claims are the same if they have the same words or the same check: models word things anew each time. */
function claimsThatDiffer(a: readonly Claim[], b: readonly Claim[]): ClaimDifference[] {
  const left = [...b];
  const differing = a.flatMap((claim): ClaimDifference[] => {
    const at = left.findIndex(({ statement, check }) => statement === claim.statement || check === claim.check);
    const [other = null] = at < 0 ? [] : left.splice(at, 1);
    if (other !== null && canonical(countsOf(claim)) === canonical(countsOf(other))) return [];
    return [{ statement: claim.statement, a: standingText(claim), b: other === null ? null : standingText(other) }];
  });
  return [...differing, ...left.map((claim) => ({ statement: claim.statement, a: null, b: standingText(claim) }))];
}

function countsOf({ state, matching, examined, rivals }: Claim): unknown {
  return [state, matching, examined, rivals.map((rival) => [rival.verdict, rival.matching, rival.examined])];
}

function standingText(claim: Claim): string {
  const rivals = claim.rivals.map((rival) => `; rival "${rival.reading}" ${rivalText(rival)}`);
  return `${CLAIM_WORDS[claim.state].says}: ${figuresText(claim)}${rivals.join('')}`;
}

function sameRows(a: AnswerRecord | null, b: AnswerRecord | null): boolean | null {
  if (a === null || b === null || a.sql === null || b.sql === null) return null;
  const sorted = ({ rows }: AnswerRecord): string[] => rows.map((row) => canonical(row)).sort(compareText);
  return a.truncated === b.truncated && canonical(sorted(a)) === canonical(sorted(b));
}

const WIDTH = 160;
/** The most differences of one kind that are shown of one side; `--json` has all. */
const SHOWN = 5;

/** A difference of two searches for a terminal: short, side by side where two values stand against each other. */
export function renderDiffText(diff: SearchDiff): string {
  return [
    heading(diff),
    ...section('Settings', settingLines(diff)),
    '',
    partLine(diff),
    ...differenceLines(diff.differences),
    ...section('Steering', [
      ...diff.steering.a.map((note) => `A  ${cut(noteText(note), WIDTH)}`),
      ...diff.steering.b.map((note) => `B  ${cut(noteText(note), WIDTH)}`),
    ]),
    ...section('Claims', claimLines(diff)),
    ...section('Answers', answerLines(diff)),
  ].join('\n');
}

function heading({ a, b, fork }: SearchDiff): string {
  const [child, parent] = fork?.child === 'b' ? ['B', 'A'] : ['A', 'B'];
  const forked = fork === null ? '' : `\n${child} is a fork of ${parent} after iteration ${fork.after}`;
  return `A ${a}\nB ${b}${forked}`;
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];
}

function settingLines({ settings }: SearchDiff): string[] {
  const rows = settings.map(({ name, a, b }) => [name, shown(a), shown(b)]);
  const width = (column: number): number => Math.max(1, ...rows.map((row) => row[column]?.length ?? 0));
  return [['', 'A', 'B'], ...rows]
    .map(([name = '', a = '', b = '']) => `${name.padEnd(width(0))}  ${a.padEnd(width(1))}  ${b}`.trimEnd())
    .slice(rows.length === 0 ? 1 : 0);
}

function shown(value: unknown): string {
  return cut(value === null ? 'none' : typeof value === 'string' ? value : JSON.stringify(value), 60);
}

function partLine({ partsAt, compared, differences, iterations }: SearchDiff): string {
  const lasted = `A ran ${counted(iterations.a, 'iteration')}, B ${String(iterations.b)}`;
  if (partsAt === null)
    return compared.length === 0
      ? `No iteration is stored for both (${lasted})`
      : `No difference in any iteration (${lasted})`;
  const why = differences.length === 0 ? ': only one of them got that far' : '';
  return `The first difference is in iteration ${partsAt}${why} (${lasted})`;
}

function differenceLines(differences: readonly Difference[]): string[] {
  const lines: string[] = [];
  for (const what of ORDER) {
    for (const only of ['a', 'b'] as const) {
      const some = differences.filter((one) => one.what === what && one.only === only);
      for (const { text, sql } of some.slice(0, SHOWN)) {
        lines.push(`  ${only === 'a' ? 'A' : 'B'}  ${what.padEnd(9)}  ${cut(text, WIDTH)}`);
        if (sql !== null && what !== 'candidate') lines.push(`     ${''.padEnd(9)}  ${cut(sql, WIDTH)}`);
      }
      if (some.length > SHOWN) lines.push(`     ${what.padEnd(9)}  … ${some.length - SHOWN} more (--json)`);
    }
  }
  return lines;
}

function claimLines({ claims }: SearchDiff): string[] {
  const line = (letter: string, text: string | null): string => `   ${letter}  ${cut(text ?? 'not claimed', WIDTH)}`;
  return claims.flatMap(({ statement, a, b }) => [cut(statement, WIDTH), line('A', a), line('B', b)]);
}

function answerLines({ answers }: SearchDiff): string[] {
  const line = (letter: string, ending: Ending | null): string => {
    if (ending === null) return `${letter}  not finished`;
    const { usage } = ending;
    const text = cut(ending.answer ?? ending.reason ?? '', 80);
    return `${letter}  ${ending.status}${text === '' ? '' : `: ${text}`} (${counted(ending.rowCount, 'row')}, ended because ${endedBecause(ending.endedBy)}, ${counted(usage.llmCalls, 'model call')}, ${dollars(usage.costUsd)})`;
  };
  const same = answers.sameRows === null ? [] : [answers.sameRows ? 'the rows are the same' : 'the rows differ'];
  return [line('A', answers.a), line('B', answers.b), ...same];
}
