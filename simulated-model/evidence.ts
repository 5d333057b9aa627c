/** Plans, tests and their outcomes, read back from the text that prompts show. The counterpart of `src/prompts/texts.ts`. */
export interface SeenOperator {
  readonly name: string;
  readonly state: 'unresolved' | 'assumed' | 'grounded';
  readonly inputs: readonly string[];
  readonly hasSql: boolean;
  readonly highestRisk: number;
}

export interface SeenHypothesis {
  readonly id: string;
  readonly hasSql: boolean;
  readonly wrong: boolean;
  readonly outcomes: readonly string[];
}

export interface SeenTest {
  readonly operator: string;
  readonly hypotheses: readonly SeenHypothesis[];
}

export function readPlan(text: string): readonly SeenOperator[] {
  const blocks = split(text, /^(op_[a-z0-9_]+) \[(unresolved|assumed|grounded)\] /gm);
  return blocks.map(({ match, inner }) => ({
    name: match[1] ?? '',
    state: match[2] as SeenOperator['state'],
    inputs: (/; inputs: (.*)$/m.exec(inner)?.[1] ?? '').split(', ').filter((name) => name.startsWith('op_')),
    hasSql: /^ {2}sql: /m.test(inner),
    highestRisk: Math.max(0, ...[...inner.matchAll(/\(risk ([0-9.]+)\)$/gm)].map(([, risk]) => Number(risk))),
  }));
}

export function readTests(text: string, isWrong: (sql: string) => boolean): readonly SeenTest[] {
  return split(text, /^test of (op_[a-z0-9_]+)$/gm).map(({ match, inner }) => ({
    operator: match[1] ?? '',
    hypotheses: split(inner, /^(h[1-9][0-9]?): /gm).map((each) => ({
      id: each.match[1] ?? '',
      hasSql: /^ {2}sql: /m.test(each.inner),
      wrong: isWrong(each.inner),
      outcomes: [...each.inner.matchAll(/^ {2}predicate (TRUE|FALSE|NOT-ESTABLISHED): /gm)].map(
        ([, outcome]) => outcome ?? '',
      ),
    })),
  }));
}

/** The pieces that start with a match, each up to the next one. */
function split(text: string, start: RegExp): readonly { readonly match: RegExpExecArray; readonly inner: string }[] {
  const matches = [...text.matchAll(start)];
  return matches.map((match, at) => ({ match, inner: text.slice(match.index, matches[at + 1]?.index ?? text.length) }));
}
