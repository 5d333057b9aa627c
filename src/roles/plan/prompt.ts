/**
 * Role `plan`: a partially grounded plan of operators from the question (paper §3.1), its first tests where the method
 * lets the plan carry them, or `unanswerable`. A revised plan and a second derivation are the same role. What a check of the reply
 * finds goes back to the model, with what is allowed.
 */
import { parseReply, replySchema, sketch, oneOf, unless, type Problem, type Prompt } from '../shared/reply';
import * as shared from '../shared/prompt-parts';
import { soundTests, testRules, tidyTest, TestReply } from '../shared/tests';
import { shownEvidence, shownPlan, type EvidenceText, type PlanText } from '../shared/evidence-text';
import * as web from '../shared/lookups';
import * as z from 'zod';
import { Assumption, ColumnType, OPERATOR_NAME } from '../../domain';
import { SentenceReply } from '../../domain/turns';
import type { MayLookUp } from '../../domain/ports/steps';

export const AssumptionReply = z.object({
  kind: Assumption.shape.kind,
  statement: z.string(),
  risk: z.number(),
});

const OperatorReply = z.object({
  name: z.string(),
  purpose: z.string(),
  intent: z.string(),
  relations: z.array(z.string()),
  inputs: z.array(z.string()),
  columns: z.array(z.object({ name: z.string(), type: ColumnType, meaning: z.string() })),
  grain: z.array(z.string()),
  mapping: z.string().nullable(),
  sql: z.string().nullable(),
  assumptions: z.array(AssumptionReply),
});

type OperatorReply = z.infer<typeof OperatorReply>;

/** Keys stand in the order in which a model should think: the outline before the verdict, doubt after the SQL. */
export const PlanReply = z.object({
  outline: z.string(),
  kind: z.enum(['plan', 'unanswerable']),
  reason: z.string().nullable(),
  operators: z.array(OperatorReply),
  ordered: z.boolean(),
  control: z.string().nullable(),
  wording: z.array(
    z.object({ operator: z.string(), taken: z.string(), other: z.string(), otherSql: z.string().nullable() }),
  ),
  bottleneck: z.string().nullable(),
  potential: z.number(),
  tests: z.array(TestReply),
});
/** `sentence` is there only where the question wants one. */
export type PlanReply = z.infer<typeof PlanReply> & { readonly sentence?: string | null };

type Said = Omit<PlanReply, 'kind'> & {
  readonly kind: PlanReply['kind'] | 'lookup';
  readonly lookups?: web.LookupsReply['lookups'];
};

/** What this very prompt asks for: what it does not want or allow stands in no schema. */
function replyOf(input: shared.PromptContext & MayLookUp): z.ZodType<Said> {
  const { outline, kind, wording, bottleneck, potential, tests, ...rest } = PlanReply.shape;
  const tools = web.lookupTools(input);
  return z.object({
    outline,
    ...(tools.length === 0 ? { kind } : { kind: z.enum([...kind.options, 'lookup']), lookups: web.lookupList(tools) }),
    ...rest,
    ...(shared.wantsSentence(input.question) ? { sentence: SentenceReply } : {}),
    ...{ wording, bottleneck, potential, tests },
  }) as z.ZodType<Said>;
}

function checkPlan({ kind, reason, operators, bottleneck, potential, wording }: PlanReply): Problem[] {
  if (kind === 'unanswerable')
    return unless(reason !== null, 'reason', 'found null', 'say which fact is missing and where you looked');
  const names = operators.map(({ name }) => name);
  if (names.length === 0)
    return unless(false, 'operators', 'found []', 'a plan has at least one operator, the last the answer');
  return [
    ...operators.flatMap((operator, at) => checkOperator(operator, at, operators)),
    ...(bottleneck === null ? [] : oneOf('bottleneck', bottleneck, names)),
    ...unless(potential >= 0, 'potential', `found ${potential}`, 'use 0 or more'),
    ...wording.flatMap(({ operator }, at) => oneOf(`wording[${at}].operator`, operator, names)),
  ];
}

function checkOperator(operator: OperatorReply, at: number, operators: readonly OperatorReply[]): Problem[] {
  const { name, intent, inputs, grain, sql, mapping, assumptions } = operator;
  const where = `operators[${at}]`;
  const earlier = operators.slice(0, at).map((other) => other.name);
  const later = operators.slice(at + 1);
  const columns = operator.columns.map((column) => column.name);
  const lower = columns.map((column) => column.toLowerCase());
  const need = (holds: boolean, field: string, found: string, allowed: string): Problem[] =>
    unless(holds, `${where}.${field}`, found, allowed);
  const takes = `inputs takes ${earlier.join(', ') || 'nothing here'}; base tables go into relations`;
  const isRead = later.length === 0 || later.some((other) => other.inputs.includes(name));
  return [
    ...need(OPERATOR_NAME.test(name), 'name', `found "${name}"`, 'use op_ and 1 to 50 of a-z, 0-9, _'),
    ...need(!earlier.includes(name), 'name', `${name} is used twice`, 'give every operator its own name'),
    ...need(intent.trim() !== '', 'intent', 'found ""', 'say in one sentence what the rows mean'),
    ...inputs.flatMap((input) => need(earlier.includes(input), 'inputs', `"${input}" is no earlier operator`, takes)),
    ...need(columns.length > 0, 'columns', 'found []', 'declare at least one output column'),
    ...lower.flatMap((column, index) =>
      column.trim() === ''
        ? need(false, `columns[${index}].name`, 'found ""', 'name the column as the SELECT does')
        : need(
            lower.indexOf(column) === index,
            `columns[${index}].name`,
            `${column} is declared twice`,
            'give each column its own name',
          ),
    ),
    ...grain.flatMap((column) =>
      need(
        columns.includes(column),
        'grain',
        `"${column}" is no output column`,
        `use ${columns.join(', ')}, or [] for a single row`,
      ),
    ),
    ...need(
      sql !== null || mapping !== null,
      'sql',
      'sql and mapping are both null',
      'write sql, or describe the open mapping',
    ),
    ...assumptions.flatMap((each, index) => checkAssumption(each, `${where}.assumptions[${index}]`)),
    ...need(
      isRead,
      'name',
      `no later operator reads ${name}`,
      'put the answer last and drop operators that it does not use',
    ),
  ];
}

export function checkAssumption({ statement, risk }: z.infer<typeof AssumptionReply>, where: string): Problem[] {
  return [
    ...unless(statement.trim() !== '', `${where}.statement`, 'found ""', 'state what is assumed'),
    ...unless(risk >= 0 && risk <= 1, `${where}.risk`, `found ${risk}`, 'use a number from 0 to 1'),
  ];
}

export interface PlanPrompt extends shared.PromptContext, MayLookUp {
  readonly knownIntents: readonly string[];
  /** Plans that exist already: the new one must be another derivation. */
  readonly otherPlans: readonly PlanText[];
  /** Reasons of earlier replies that found the question unanswerable. */
  readonly unanswerable?: readonly string[];
  readonly revise: {
    readonly plan: PlanText;
    readonly blocked: readonly string[];
    readonly evidence: readonly EvidenceText[];
    /** Operators whose columns or grain the rows contradict: then this is why the plan is revised. */
    readonly refit?: readonly { readonly operator: string; readonly why: string }[];
  } | null;
  /** What the conversation saw before it handed the question over, for a plan that is made from nothing. */
  readonly seen?: readonly EvidenceText[];
  /** The reply brings the first tests along, for at most `breadth` operators. */
  readonly carryTests: boolean;
  readonly breadth: number;
  readonly strict: 'execution' | 'model';
}

export const planRole: Prompt<PlanPrompt, PlanReply | web.LookupsReply> = {
  schema: (input) => replySchema('plan', replyOf(input)),
  render(input) {
    const tools = web.lookupTools(input);
    const rules = [
      'You turn the question into a plan of operators. A program runs them, tests what is doubtful against the data and joins them into one WITH query.',
      OPERATORS,
      input.strict === 'execution' ? ASSUME : SETTLE,
      ANSWER,
      ...(shared.wantsSentence(input.question) ? [SENTENCE] : []),
      DOUBT,
      ...(input.carryTests ? [testRules(input.strict)] : []),
      ...(tools.length === 0
        ? []
        : [
            web.lookupRules(
              tools,
              'Before you plan you may look things up: kind lookup, operators [], potential 0, outline saying why,',
            ),
          ]),
      shared.replyRule(sketch(replyOf(input))),
    ];
    const shown = [
      ...(input.knownIntents.length === 0
        ? []
        : [shared.data('known intents', input.knownIntents.map((intent) => `- ${intent}`).join('\n'))]),
      ...input.otherPlans.map((plan, at) => shared.data(`existing plan ${at + 1}`, shownPlan(plan))),
      ...(input.unanswerable ?? []).map((reason, at) => shared.data(`found unanswerable ${at + 1}`, reason)),
      ...(input.seen ?? []).map((evidence) => shared.data('evidence', shownEvidence(evidence))),
      ...(input.revise === null
        ? []
        : [
            shared.data('plan to revise', shownPlan(input.revise.plan)),
            ...input.revise.evidence.map((evidence) => shared.data('evidence', shownEvidence(evidence))),
            ...(input.revise.refit ?? []).map(({ operator, why }) => shared.data(`does not fit: ${operator}`, why)),
          ]),
    ];
    return shared.searchConversation(input, rules, shown, task(input));
  },
  parse(text, input) {
    const parsed = parseReply(text, replyOf(input), ({ kind, lookups = [], ...plan }) =>
      kind === 'lookup' ? web.lookupProblems(lookups, input) : checkPlan(mendPlan({ ...plan, kind })),
    );
    if (parsed.kind === 'invalid') return parsed;
    const { kind, lookups = [], ...plan } = parsed.reply;
    if (kind !== 'lookup') return { kind: 'ok', reply: tidy(mendPlan({ ...plan, kind }), input) };
    return { kind: 'ok', reply: { kind, note: plan.outline, lookups: web.newLookups(lookups, input) } };
  },
};

const OPERATORS = `OPERATORS
- One step, like a CTE: name op_… (lower case, digits, _), purpose, what it reads (relations: base tables; inputs: earlier operators), output columns, grain (those that identify a row; [] for a single row), and either sql or mapping, the other null.
- sql: one SELECT reading only its relations and inputs, returning the declared columns, same names and order. mapping, where data must decide: the rival readings in words and what would tell them apart.
- Few operators. Give a doubtful reading an operator of its own, so that the rest runs without it: op_orders (rows, sql) -> op_amount_eur (unit unknown, mapping) -> op_answer.
- Use only tables, columns, JSON keys and codes that are shown; spell values exactly as samples and profiles do. An unseen value is an assumption.
- Names mislead. Profiles show constant, copied, placeholder and near-empty columns, sentinels (9999-12-31, -1, 'N/A': keep them out of measures), mixed formats and JSON shapes, keys that do not join as they stand.
- intent: one sentence saying what the rows mean. If a known intent means the same, copy it word for word, with its proved interface (relations, column names, types, grain) and the proved reading as mapping, sql null: then its proof is reused.`;

const ASSUME = `ASSUMPTIONS. Write as sql what you would bet on, and list all it rests on that nothing shown states: a column's meaning, unit, which codes count, join (cardinality, key format), time (which timestamp, open or closed ends, clock), other (NULLs, duplicates). risk = chance that it is wrong and changes the answer: 0.05 seen in the data, 0.3 plausible, 0.6 a guess. Two readings about equally plausible: no sql.`;

const SETTLE = `CERTAINTY. Written sql is taken as settled: write it only where you are sure, and list what it rests on as assumptions (risk 0 to 1: chance that it is wrong and changes the answer). Leave everything else as mapping.`;

const ANSWER = `ANSWER. The last operator returns exactly the columns the question asks for, in the order asked, no helper columns. Think through: one row per what; duplicates (a list of values: DISTINCT; a list of events: keep); ties at a top-n cut; NULLs; groups without rows. A yes/no question gives one boolean. Percentages are times 100. No rounding, formatting or relabelling unless asked. "This/last year" are calendar units of the clock; "past N months" run back from it. ordered: true only if an order is asked. control: a SELECT of one count, the rows examined before the last condition (it may read operators), so that a zero or empty answer can be trusted.`;

const SENTENCE = `${shared.sentenceRule('sentence', '; {examined}, what control counted')} For example "{late} of {examined} orders came late."`;

const DOUBT = `DOUBT
- bottleneck: the operator with mapping, or with the riskiest assumption, whose settling helps most and whose inputs have sql; null if nothing is doubtful. potential: steps still needed after that (1 nothing doubtful, 2-4 one join or lookup, 5-10 several doubts, 10-20 unclear structure).
- wording: only where the question's own words allow two readings and no data could decide ("recent", "best"); taken: the one in the plan; otherSql: that operator's body under the other.
- kind unanswerable (operators []): only if the fact asked for, or a needed part of it, is not stored. First look for another column, join, code list, JSON key or derivation that holds it. A constant or placeholder column stores nothing; an empty result or an unseen value does not make a question unanswerable. reason: what is missing, where you looked.`;

function task(input: PlanPrompt): string {
  const lines = ['Task: plan this question.'];
  if (input.revise?.refit !== undefined) {
    const names = input.revise.refit.map(({ operator }) => operator).join(', ');
    lines.push(
      `Revise the plan above: the rows contradict the columns or grain of ${names}, as said there. Give them those that the rows demand, mend what reads them, and keep all else word for word (names, intents, columns, grain, sql), so that what is proved stays proved.`,
    );
  } else if (input.revise !== null) {
    const blocked = input.revise.blocked.join(', ') || 'none';
    lines.push(
      `Revise the plan above. Blocked, tested without success: ${blocked}. Reach the answer without them or split them; keep names and bodies of operators that stand, and heed the evidence.`,
    );
  }
  if ((input.unanswerable ?? []).length > 0)
    lines.push(
      'An earlier look found the question unanswerable, for the reason above. Test that reason: look through every table, column, code list and JSON key for another place or derivation that holds the fact, and plan if there is one. Unanswerable again only if there is none.',
    );
  if (input.otherPlans.length > 0)
    lines.push(
      'Make a genuinely different derivation from the existing plans: other tables, another join path or another formula, so that agreement would mean something. Same answer columns. If no other derivation exists, vary what is most doubtful.',
    );
  if ((input.listedOnly ?? 0) > 0)
    lines.push(
      "A table that is only listed: put it into an operator's relations, with sql null and a mapping that says what you look for, and its columns are shown from then on.",
    );
  lines.push(
    input.carryTests
      ? `tests: for up to ${input.breadth} doubtful operators that do not depend on each other, the bottleneck first; [] if nothing is doubtful.`
      : 'tests: [].',
    ...web.lookupsLeft(input),
  );
  return lines.join('\n');
}

function shapeOf(reply: PlanReply) {
  return { operators: reply.operators.map(({ name, inputs, sql }) => ({ name, inputs, written: sql !== null })) };
}

/**
 * The model lists the most useful test first. What was not asked for or cannot run is dropped: a plan is not paid for again
 * because of a test, which can be asked for alone.
 */
function keptTests(reply: PlanReply, input: PlanPrompt): TestReply[] {
  return input.carryTests ? soundTests(reply.tests, shapeOf(reply)).slice(0, input.breadth) : [];
}

function tidy(reply: PlanReply, input: PlanPrompt): PlanReply {
  if (reply.kind === 'unanswerable')
    return { ...reply, operators: [], control: null, wording: [], bottleneck: null, tests: [] };
  return {
    ...reply,
    operators: reply.operators.map((operator) => ({ ...operator, sql: shared.tidyOptionalSql(operator.sql) })),
    control: shared.tidyOptionalSql(reply.control),
    wording: reply.wording.map((choice) => ({ ...choice, otherSql: shared.tidyOptionalSql(choice.otherSql) })),
    tests: keptTests(reply, input).map(tidyTest),
  };
}

/** Beside SQL, an open mapping that the reply wants tested is a doubt as good as any; else it only explains the SQL. */
const OPEN_RISK = 0.5;
const EXPLAINED_RISK = 0.1;

/**
 * Slips in a plan reply that have one right correction, made here instead of paid for in another call. What the SQL of an
 * operator reads is known from its text, so a forgotten or misplaced declaration changes nothing (the engine's parser still
 * has the last word, rule S8). A doubt that the reply states anywhere is never dropped.
 */
function mendPlan(reply: PlanReply): PlanReply {
  const wanted = new Set([reply.bottleneck ?? '', ...reply.tests.map(({ operator }) => operator)]);
  const names = reply.operators.map(({ name }) => name);
  const mended = reply.operators.map((operator, at) =>
    mendOperator(operator, names.slice(0, at), wanted.has(operator.name)),
  );
  const operators = withoutUnread(mended);
  const kept = new Set(operators.map(({ name }) => name));
  const stays = ({ operator }: { readonly operator: string }) => kept.has(operator) || !names.includes(operator);
  return {
    ...reply,
    operators,
    bottleneck: reply.bottleneck !== null && stays({ operator: reply.bottleneck }) ? reply.bottleneck : null,
    wording: reply.wording.filter(stays),
    tests: reply.tests.filter(stays),
  };
}

function mendOperator(operator: OperatorReply, earlier: readonly string[], isWanted: boolean): OperatorReply {
  const { sql, mapping, assumptions } = operator;
  const relations = operator.relations.map(bare);
  const reads = earlier.filter((name) => sql !== null && new RegExp(`\\b${escaped(name)}\\b`, 'i').test(sql));
  const named = [...operator.inputs, ...relations.filter((name) => earlier.includes(name)), ...reads];
  const isTable = (name: string) => !/^op_/i.test(name);
  const both = sql !== null && mapping !== null;
  const risk = isWanted ? OPEN_RISK : EXPLAINED_RISK;
  return {
    ...operator,
    relations: [...new Set([...relations.filter((name) => !earlier.includes(name)), ...named.filter(isTable)])],
    inputs: [...new Set(named.filter((name) => !isTable(name)))],
    grain: operator.grain.map((name) => declared(operator, name)),
    mapping: both ? null : mapping,
    // Where the doubt is spelled out already, the mapping says nothing new.
    assumptions:
      both && !assumptions.some((each) => each.risk >= risk)
        ? [...assumptions, { kind: 'other', statement: mapping, risk }]
        : assumptions,
  };
}

/** As the columns spell it: neither engine's plain names heed case. */
function declared({ columns }: OperatorReply, name: string): string {
  return columns.find((column) => column.name.toLowerCase() === name.toLowerCase())?.name ?? name;
}

/**
 * Operators that the answer does not read have no say in it. Only where everything it reads is written: the readers of an
 * open mapping are not known yet, so a missing input there is a mistake that its writer has to mend.
 */
function withoutUnread(operators: readonly OperatorReply[]): OperatorReply[] {
  const names = operators.map(({ name }) => name);
  const reached = new Set<string>();
  for (const operator of [...operators].reverse()) {
    if (reached.size > 0 && !reached.has(operator.name)) continue;
    if (operator.sql === null) return [...operators];
    for (const name of [operator.name, ...operator.inputs]) reached.add(name);
  }
  if (new Set(names).size < names.length || [...reached].some((name) => !names.includes(name))) return [...operators];
  return operators.filter(({ name }) => reached.has(name));
}

/** `"Order Items"` as the description has it: quotes are SQL's, and no part of the name. */
function bare(relation: string): string {
  return relation.replace(
    /(^|\.)(?:"((?:[^"]|"")+)"|`([^`]+)`|\[([^\]]+)\])(?=\.|$)/g,
    (_, dot: string, quoted?: string, ticked?: string, bracketed?: string) =>
      dot + (quoted?.replaceAll('""', '"') ?? ticked ?? bracketed ?? ''),
  );
}

function escaped(name: string): string {
  return name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
