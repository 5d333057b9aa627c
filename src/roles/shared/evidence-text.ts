/** Plans and evidence as the roles read them: compact text, one operator or test at a time. Always shown as data. */

export interface OperatorText {
  readonly name: string;
  readonly intent: string;
  readonly purpose: string;
  readonly relations: readonly string[];
  readonly inputs: readonly string[];
  /** `name type`, or `name type: meaning`, in output order. */
  readonly columns: readonly string[];
  readonly grain: readonly string[];
  readonly state: 'unresolved' | 'assumed' | 'grounded';
  readonly sql: string | null;
  readonly mapping: string | null;
  readonly assumptions: readonly string[];
}

export interface PlanText {
  readonly outline: string;
  readonly operators: readonly OperatorText[];
}

export interface HypothesisText {
  readonly id: string;
  readonly mapping: string;
  /** The operator's body under this reading, where the proposal wrote it; a winner may then keep it. */
  readonly sql?: string | null;
  readonly predicates: readonly { readonly sql: string; readonly outcome: string; readonly note: string | null }[];
  /** For example `118 of 120`. */
  readonly agreement: string | null;
  /** The reading that what is asked for is not stored. */
  readonly notStored?: boolean;
  /** Ids of the other readings under which the whole plan gives the same answer. */
  readonly sameAnswer?: readonly string[];
  readonly verdict: string | null;
  readonly reason: string | null;
}

export interface TestText {
  readonly operator: string;
  readonly probe: string;
  /** The rows as CSV, or what happened instead: empty, an error, a timeout. */
  readonly outcomeCsv: string;
  readonly hypotheses: readonly HypothesisText[];
  readonly materiality: string | null;
}

export interface EvidenceText {
  readonly attempt: string;
  readonly tests: readonly TestText[];
  readonly summary: string | null;
  readonly tryNext: readonly string[];
  readonly avoid: readonly string[];
}

export function planText(plan: PlanText): string {
  return [`outline: ${plan.outline}`, ...plan.operators.map(operatorText)].join('\n');
}

/** Which operators a probe may read: those with SQL, and those that a reply has just written. */
export function planShape(plan: PlanText, alsoWritten: readonly string[] = []) {
  return {
    operators: plan.operators.map(({ name, inputs, sql }) => ({
      name,
      inputs,
      written: sql !== null || alsoWritten.includes(name),
    })),
  };
}

export function evidenceText(evidence: EvidenceText): string {
  return [
    `attempt ${evidence.attempt}`,
    ...evidence.tests.map(testText),
    ...optional('summary', evidence.summary),
    ...list('try next', evidence.tryNext),
    ...list('avoid', evidence.avoid),
  ].join('\n');
}

function operatorText(operator: OperatorText): string {
  const grain = operator.grain.length === 0 ? 'a single row' : `one row per ${operator.grain.join(', ')}`;
  return [
    `${operator.name} [${operator.state}] ${grain}`,
    `  purpose: ${operator.purpose}`,
    `  intent: ${operator.intent}`,
    `  relations: ${operator.relations.join(', ') || 'none'}; inputs: ${operator.inputs.join(', ') || 'none'}`,
    `  columns: ${operator.columns.join(', ')}`,
    ...optional('  mapping', operator.mapping),
    ...optional('  sql', operator.sql),
    ...list('  assumes', operator.assumptions),
  ].join('\n');
}

function testText(test: TestText): string {
  return [
    `test of ${test.operator}`,
    `probe: ${test.probe}`,
    `result:\n${test.outcomeCsv.trimEnd()}`,
    ...test.hypotheses.map(hypothesisText),
    ...optional('materiality', test.materiality),
  ].join('\n');
}

function hypothesisText(hypothesis: HypothesisText): string {
  return [
    `${hypothesis.id}${hypothesis.notStored === true ? ' [not stored]' : ''}: ${hypothesis.mapping}`,
    ...optional('  sql', hypothesis.sql ?? null),
    ...hypothesis.predicates.map(
      ({ sql, outcome, note }) => `  predicate ${outcome.toUpperCase()}: ${sql}${note === null ? '' : ` (${note})`}`,
    ),
    ...optional('  agreement', hypothesis.agreement),
    ...optional('  same answer as', hypothesis.sameAnswer?.join(', ') ?? null),
    ...optional('  verdict', hypothesis.verdict),
    ...optional('  reason', hypothesis.reason),
  ].join('\n');
}

function optional(label: string, text: string | null): string[] {
  return text === null ? [] : [`${label}: ${text}`];
}

function list(label: string, items: readonly string[]): string[] {
  return items.map((item) => `${label}: ${item}`);
}
