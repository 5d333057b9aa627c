/**
 * `commit`: the database decides what a commit or a decline claims (S1 for claims). Claims and rivals are counted over the
 * same rows in one snapshot, with their predicates (S2); the answer runs; rivals that the counts leave standing are run
 * through the whole plan (S9). Operators whose claims all hold become updates.
 */
import type { Claim, SqlResult, UpdateView, Coverage } from '../../domain';
import type { LookReply } from '../../domain/turns';
import { decideAbsence, decideClaim, readCounts, claimText, isSettled } from '../../sql/claims';
import { equalResults } from '../../sql/equal';
import { decideMateriality } from '../../sql/materiality';
import { resultPreview, resultText } from '../../text/result-text';
import { amongFiltered, doubtText, withoutDoubt } from '../../database/profile/row-doubts';
import { sha256 } from '../../sha256';
import { operatorShape, toOperatorView } from '../../sql/body';
import type { UsageDelta } from '../../domain/ports/step-parts';
import { runError, engineScope, selectText, type SearchScope } from '../shared/bodies';
import { candidate } from './candidate';
import { claimProbe, type Counted, type ReadProbe } from './claim-probe';
import { storeEvidence } from './claim-evidence';
import {
  assumptionsOf,
  buildCommit,
  editOf,
  readsOneOf,
  storeCommit,
  withColumns,
  type BuiltCommit,
} from './commit-plan';
import { addDeltas, runSql, type StepContext } from '../shared/context';
import { knownEntries } from '../layer/earlier';
import { askedAside, columnOf, mentionsIn } from '../layer/left-aside';
import { limited, planSql, planSqlUnder, selectSql, type LoadedPlan } from '../shared/load-plan';
import { SCHEMA_ID } from '../../record/contents';
import { isEstablished } from '../keep';
import { coverageText } from '../../sql/coverage';
import { bandOf, withLiteral } from '../../sql/fitted';
import { filteredBy } from '../../sql/literal-uses';
import { countedAs, fittingOf, movedIn, neighboursOf } from './neighbours';
import { runSelects } from './queries';
import { definedIn } from './defined';
import { accountedFor, unsaidText, usedIn } from './unsaid';
import { orRefused, single, together, type Statements } from '../shared/statements';
import type { Given, Gives } from '../../domain/ports/steps';

/** Of repeated rows and placeholders, how many are tried on an answer. */
const MOST_DOUBTS = 8;

export async function commit(context: StepContext, step: Given<'commit'>): Promise<Gives<'commit'>> {
  const { reply } = await context.run.get('turn', step.turnId);
  const scope = await engineScope(context);
  if (reply.action === 'unanswerable') return decline(context, scope, step, reply);
  const built = buildCommit(context, scope, step.position, reply);
  if (!('plan' in built)) return { kind: 'invalid', error: built.join('\n'), usage: {} };
  const known = await knownClaims(context, built, reply.known ?? []);
  return new Commit(context, scope, step, built, reply, known).run();
}

class Commit {
  private usage: UsageDelta = {};

  constructor(
    private readonly context: StepContext,
    private readonly scope: SearchScope,
    private readonly step: Given<'commit'>,
    private commit: BuiltCommit,
    private readonly reply: LookReply,
    /** Entries of the layer that it follows. */
    private readonly known: readonly Claim[],
  ) {}

  async run(): Promise<Gives<'commit'>> {
    const { context } = this;
    const widths = await this.describe();
    if (typeof widths === 'string') return this.invalid(widths);
    const probes = this.probes(widths);
    if (typeof probes === 'string') return this.invalid(probes);
    const { seen: read, takenAt } = await this.sql(probes);
    const wrong = read.find(({ error }) => error !== null)?.error ?? null;
    if (wrong !== null) return this.invalid(wrong);

    // In the order of the reply: the model is told of them by number.
    const counted = read.flatMap(({ claims }) => claims).sort((a, b) => a.number - b.number);
    // The answer runs as a stored plan. Until the claims are decided, all of them are open.
    const stored = await storeCommit(context, this.commit, (name) => assumptionsOf(this.commit, name, counted));
    const answered = await this.answer(stored);
    if (typeof answered === 'string') return this.invalid(answered);
    const { result, run, control, coverage } = answered;
    const decided = await this.decide(stored, counted, result);
    const fitted = await this.fitted(stored, [...decided, ...this.known], result, slow(read));
    const claims = await this.underOpenRivals(stored, fitted, result);
    const plan = await storeCommit(context, this.commit, (name) => assumptionsOf(this.commit, name, claims));
    const proved = claims.filter(({ state }) => state === 'proved');
    const evidence = await storeEvidence(context, {
      ...{ position: this.step.position, plan, probes: read, claims: decided, takenAt },
      assumed: this.commit.assumed,
    });
    const { turns, turnId, candidateId, returned } = this.step;
    const used = await usedIn(context, plan);
    const defining = await definedIn(context, used, plan.dialect);
    this.usage = addDeltas(this.usage, defining.usage);
    const { seen: rows } = await this.sql(defining, DEFINING_MS);
    const said = { turns, known: this.known, defined: rows };
    const { unsaid, defined } = await accountedFor(context, plan, used, this.reply, said);
    const doubts = [
      ...(await this.doubtful(plan, result, decided)),
      ...(await this.leftAside(plan)),
      ...(returned > 0 || unsaid.length === 0 ? [] : [unsaidText(unsaid)]),
    ];
    const verdict = foundByCommit({
      ...{ claims, result, trivial: run.trivial, control, coverage, ifPartial: this.reply.ifPartial, doubts },
      csvChars: context.settings.csvChars,
    });
    await context.run.put('verdict', turnId, {
      ...{ turnId, candidateId },
      claims: [...claims],
      edits: counted.map(({ rivals }) =>
        rivals.map(({ edited }) => edited && { operator: edited.operator, bodyId: edited.body.bodyId }),
      ),
      ...(unsaid.length === 0 ? {} : { usedWithoutCheck: [...unsaid] }),
      ...(defined.length === 0 ? {} : { defined: [...defined] }),
      found: verdict.found,
    });
    return {
      kind: 'answer',
      plan: this.view(plan, evidence.updates),
      run: { ...run, usage: {} },
      updates: evidence.updates,
      evidenceId: evidence.id,
      settled: verdict.open === 0 && verdict.declined === null,
      declined: verdict.declined,
      learned: proved[0]?.statement ?? null,
      ...(proved.length === 0 ? {} : { proved: proved.length }),
      ...(decided.some(isEstablished) ? { establishes: true } : {}),
      usage: this.usage,
    };
  }

  private async sql<Read>({ statements, read }: Statements<Read>, withinMs = Infinity) {
    const { settings } = this.context;
    const sqlTimeoutMs = Math.min(settings.sqlTimeoutMs, withinMs);
    const { results, takenAt, usage } = await runSql(
      { ...this.context, settings: { ...settings, sqlTimeoutMs } },
      statements,
    );
    this.usage = addDeltas(this.usage, usage);
    return { seen: read(results), takenAt };
  }

  private invalid(error: string): Gives<'commit'> {
    return { kind: 'invalid', error, usage: this.usage };
  }

  /** The columns of every operator, and how many each check has; or the errors of those that do not run. */
  private async describe(): Promise<readonly number[] | string> {
    const { plan, claims } = this.commit;
    const operators = plan.operators.map(({ operator: { name } }) => ({
      what: name,
      ...limited(planSql(plan, name), 1),
    }));
    const checks = claims.map(({ check }, at) => ({
      what: `the check of claim ${at + 1}`,
      ...limited(selectSql(plan, check), 0),
    }));
    const parts = [...operators, ...checks];
    const uncompiled = parts.filter(({ sql }) => sql === null).map(({ what, error }) => `${what}: ${error}`);
    if (uncompiled.length > 0) return uncompiled.join('\n');
    const { seen } = await this.sql(together(parts.map(orRefused)));
    const errors = seen.flatMap((result, at) => {
      const error = runError(result);
      return error === null ? [] : [`${parts[at]?.what ?? ''}: ${error}`];
    });
    // What reads a failing operator fails with the same error.
    if (errors[0] !== undefined) return errors[0];
    this.commit = withColumns(this.commit, seen);
    return seen.slice(operators.length).map((result) => (result.kind === 'rows' ? result.columns.length : 0));
  }

  private probes(widths: readonly number[]): Statements<ReadProbe[]> | string {
    const { plan, claims } = this.commit;
    const numbered = claims.map((claim, at) => ({ ...claim, number: at + 1, width: widths[at] ?? 0 }));
    const made = [...new Set(claims.map(({ operator }) => operator))].map((operator) => {
      const own = numbered.filter((claim) => claim.operator === operator);
      return claimProbe(plan, operator, own);
    });
    const wrong = made.filter((each) => typeof each === 'string');
    return wrong.length > 0 ? wrong.join('\n') : together(made.filter((each) => typeof each !== 'string'));
  }

  private async answer(plan: LoadedPlan) {
    const { context } = this;
    const { candidateId, trajectory, searchId, against } = this.step;
    const position = `${this.step.position}.answer`;
    const run = await candidate(
      { ...context, position },
      { purpose: 'candidate', searchId, position, candidateId, trajectory, plan: plan.ref, against },
    );
    this.usage = addDeltas(this.usage, run.usage);
    const { result, control, coverage = null } = await context.run.get('candidate', candidateId);
    const error = runError(result);
    if (error !== null) return `the answer: ${error}`;
    if (plan.plan.coverageBodyId !== undefined && coverage === null)
      return 'coverage: give one row of two counts, how many are asked about and how many of them are usable';
    if (plan.plan.controlBodyId !== null && control === null) return 'control: give one row with one count';
    return { result, run, control, coverage };
  }

  /** Rivals are run through the whole plan: one that their counts leave standing may give the same answer. */
  private async decide(plan: LoadedPlan, counted: readonly Counted[], answer: SqlResult): Promise<readonly Claim[]> {
    const through = counted.map(({ rivals }) =>
      together(rivals.map(({ edited }) => single(edited && planSqlUnder(plan, edited.operator, edited.body)))),
    );
    const { seen } = await this.sql(together(through));
    return counted.map((claim, at) =>
      decideClaim({
        ...claim,
        rivals: claim.rivals.map((rival, of) => {
          const result = seen[at]?.[of] ?? null;
          const same = result === null ? null : decideMateriality([answer, result], plan.plan.ordered).immaterial;
          return { ...rival, sameAnswer: same };
        }),
      }),
    );
  }

  /** Claims with the neighbours of their dates, factors and bounds that fit as well, and with their bands. */
  private async fitted(
    plan: LoadedPlan,
    claims: readonly Claim[],
    answer: SqlResult,
    isSlow: ReadonlySet<string>,
  ): Promise<readonly Claim[]> {
    const { dialect } = plan;
    const last = plan.operators.at(-1)?.operator.name ?? '';
    const { sql: answerSql } = planSql(plan, last);
    const { question } = this.context.input;
    const asked = [question.text, question.context, question.instructions].join('\n');
    const tried = claims.filter(
      ({ operator, state }) => !isSlow.has(operator ?? '') && (state === 'proved' || state === 'exceptions'),
    );
    const moved = neighboursOf(tried, dialect).filter(
      (each) => !asked.includes(each.literal.replaceAll("'", '')) && movedIn(answerSql ?? '', each, dialect) !== null,
    );
    const bands = claims.map((claim) => bandOf(claim.check, dialect));
    const halved = claims.map((claim, at) => {
      const found = bands[at] ?? null;
      return single(found !== null && tried.includes(claim) ? withLiteral(claim.check, found.band, found.half) : null);
    });
    const { seen: counted } = await this.sql(
      together([fittingOf(moved.slice(0, MOST_NEIGHBOURS)), together(halved)] as const),
    );
    const [fitting, tighter] = counted;
    const answers = fitting.map((each) => single(movedIn(answerSql ?? '', each, dialect)));
    const { seen: given } = await this.sql(together(answers));
    const seen = fitting.flatMap((each, at) => {
      const result = given[at];
      if (result?.kind !== 'rows') return [];
      const isSame = equalResults(answer, result, { ordered: false });
      return [{ ...each, gives: isSame ? null : resultPreview(result) }];
    });
    return claims.map((claim, at) => {
      const own = seen.filter((each) => each.claim === claim);
      const within = bands[at]?.[countedAs(claim, tighter[at]) === null ? 'band' : 'half'];
      return {
        ...claim,
        ...(within === undefined ? {} : { within }),
        ...(own.length === 0 ? {} : { fitsAsWell: own.map(({ literal, put, gives }) => ({ literal, put, gives })) }),
      };
    });
  }

  /** A rival that the counts of an entry left open gave the same answer to another question: it is run through this one. */
  private async underOpenRivals(
    plan: LoadedPlan,
    claims: readonly Claim[],
    answer: SqlResult,
  ): Promise<readonly Claim[]> {
    const entries = new Map((await knownEntries(this.context)).map(({ entry }) => [entry.entryId, entry]));
    const tried = claims.flatMap((claim) => {
      const { rivals = [], tables = [] } = entries.get(claim.entry?.entryId ?? '') ?? {};
      return rivals.flatMap(({ reading, instead }) => {
        const edited = instead === undefined ? null : editOf(plan, instead, tables, this.scope);
        return edited === null ? [] : [{ claim, reading, edited }];
      });
    });
    const runs = tried.map(({ edited }) => single(planSqlUnder(plan, edited.operator, edited.body)));
    const { seen } = await this.sql(together(runs));
    const changing = tried.flatMap((each, at) => {
      const result = seen[at];
      if (result?.kind !== 'rows' || equalResults(answer, result, { ordered: plan.plan.ordered })) return [];
      return [{ ...each, gives: resultPreview(result) }];
    });
    return claims.map((claim) => ({
      ...claim,
      rivals: claim.rivals.map((rival) => {
        const other = changing.find((each) => each.claim === claim && each.reading === rival.reading);
        return other === undefined ? rival : { ...rival, verdict: 'open' as const, gives: other.gives };
      }),
    }));
  }

  /**
   * Whether repeated rows or placeholders of the tables that it reads change the answer. Asked once: who commits again has
   * thought of them. Not asked where a count has settled it: a claim is proved that would not be without these rows.
   */
  private async doubtful(plan: LoadedPlan, answer: SqlResult, claims: readonly Claim[]): Promise<readonly string[]> {
    const { context, scope } = this;
    const { tables, dialect } = scope.description;
    const { doubts = [] } = await context.run.get('schema', SCHEMA_ID);
    const read = new Set(plan.operators.flatMap(({ operator }) => operator.relations));
    const told = doubts.filter(({ table }) => read.has(table));
    if (this.step.returned > 0 || told.length === 0) return [];
    const { sql } = await context.run.get('candidate', this.step.candidateId);
    const filtered = plan.operators.flatMap(({ body }) => filteredBy(body?.sql ?? '', dialect));
    const tried = told.slice(0, MOST_DOUBTS).flatMap((doubt) => {
      const table = tables.find(({ name }) => name === doubt.table);
      if (table === undefined) return [];
      const own = amongFiltered(doubt, table, filtered);
      const without = withoutDoubt(sql, own, table, dialect);
      return without === null ? [] : [{ doubt: own, table, without }];
    });
    const { seen } = await this.sql(together(tried.map(({ without }) => single(without))));
    const changing = tried.flatMap((each, at) => {
      const result = seen[at];
      // A table that cannot be replaced so, such as one with a column that cannot be compared, stays as it is.
      if (result?.kind !== 'rows' || result.truncated) return [];
      return equalResults(answer, result, { ordered: false }) ? [] : [{ ...each, result }];
    });
    const proved = claims.filter(({ state }) => state === 'proved');
    const again = changing.map(({ doubt, table }) => {
      const reading = proved.filter(({ check }) => mentionsIn([check], dialect).has(table.name.toLowerCase()));
      return together(reading.map(({ check }) => single(withoutDoubt(check, doubt, table, dialect))));
    });
    const { seen: recounted } = await this.sql(together(again));
    return changing.flatMap(({ doubt, result }, at) =>
      recounted[at]?.some(isMissed) === true ? [] : [doubtText(doubt, resultPreview(result))],
    );
  }

  /** What is known of the tables that it reads, and that it leaves aside: asked about together with the doubts. */
  private async leftAside(plan: LoadedPlan): Promise<readonly string[]> {
    if (this.step.returned > 0) return [];
    const tables = plan.operators.flatMap(({ operator }) => operator.relations);
    const bodies = plan.operators.flatMap(({ body }) => body?.sql ?? []);
    const texts = [...bodies, ...this.commit.claims.map(({ check }) => check.sql)];
    return askedAside(this.context, { tables, texts });
  }

  private view(plan: LoadedPlan, updates: readonly UpdateView[]) {
    const operators = plan.operators.map(({ operator }) => {
      const shape = operatorShape(operator, sha256);
      const update = updates.find((each) => each.shape === shape && each.intent === operator.intent);
      const view = toOperatorView(operator, sha256);
      if (update !== undefined)
        return { ...view, state: 'grounded' as const, updateId: update.id, risk: 0, assumptions: 0 };
      return view;
    });
    return { planId: plan.plan.planId, ordered: plan.plan.ordered, operators };
  }
}

/** Checks are counted again for each neighbour of a value. */
const MOST_NEIGHBOURS = 18;
const SLOW_MS = 2_000;
/** Of the rows that say what values stand for: an answer does without one that takes longer. */
const DEFINING_MS = 2_000;

/** Operators whose claims took long to count. */
function slow(read: readonly ReadProbe[]): ReadonlySet<string> {
  const took = read.filter(({ result }) => result.kind !== 'rows' || result.elapsedMs > SLOW_MS);
  return new Set(took.map(({ test }) => test.operator));
}

/** Whether the counts of a check say that not all rows match. */
function isMissed(result: SqlResult | null): boolean {
  const counts = result === null ? '' : readCounts(result, 2);
  if (typeof counts === 'string') return false;
  const [examined = 0, matching = 0] = counts;
  return matching < examined;
}

/** What an answer rests on that was proved before, with the counts of this search; not what is named and never read. */
async function knownClaims(
  context: StepContext,
  { plan }: BuiltCommit,
  keys: readonly string[],
): Promise<readonly Claim[]> {
  const entries = await knownEntries(context);
  const bodies = plan.operators.flatMap(({ body }) => body?.sql ?? []);
  const seen = mentionsIn(bodies, plan.dialect);
  return entries
    .filter(({ key }) => keys.includes(key))
    .filter(
      ({ entry: { columns } }) =>
        columns.length === 0 || columns.some((name) => seen.has(columnOf(name.toLowerCase()))),
    )
    .map(({ entry }): Claim => {
      const reader = plan.operators.find(({ operator }) => readsOneOf(entry.tables, operator));
      const { entryId, statement, rows, check, matching, examined, rivals, provedAt, from } = entry;
      return {
        operator: (reader ?? plan.operators.at(-1))?.operator.name ?? '',
        ...{ statement, rows, check, matching, examined, reason: null },
        state: matching === examined ? 'proved' : 'exceptions',
        rivals: rivals.map(({ refuted, instead: _, ...rival }) => ({
          ...rival,
          verdict: refuted ? 'refuted' : 'same-answer',
        })),
        entry: { entryId, provedAt, searchId: from.searchId },
      };
    });
}

async function decline(
  context: StepContext,
  scope: SearchScope,
  { turnId }: Given<'commit'>,
  { reason, absent }: Pick<LookReply, 'reason' | 'absent'>,
): Promise<Gives<'commit'>> {
  const checks = absent.map(({ check: sql }, at) => ({
    ...selectText(sql, `the check of absent ${at + 1}`, scope),
    sql,
  }));
  const wrong = checks.flatMap((each) => (each.kind === 'invalid' ? [each.error] : []));
  if (wrong.length > 0) return { kind: 'invalid', error: wrong.join('\n'), usage: {} };
  const { runs, usage } = await runSelects(context, scope.description.dialect, checks);
  const failed = runs.map(({ result }) => runError(result)).find((error) => error !== null);
  if (failed) return { kind: 'invalid', error: failed, usage };
  const claims = absent.map(({ statement, rows, check }, at) =>
    decideAbsence({ statement, rows, check: runs[at]?.sql ?? check }, absenceCounts(runs[at]?.result)),
  );
  const { found, open } = foundByDecline(claims);
  await context.run.put('verdict', turnId, { turnId, candidateId: null, claims, found });
  return { kind: 'decline', settled: open === 0, reason: reason ?? 'no reason given', usage };
}

function absenceCounts(result: SqlResult | undefined): Parameters<typeof decideAbsence>[1] {
  const counts = readCounts(result, 2);
  if (typeof counts === 'string') return counts;
  const [asked = 0, recorded = 0, control = null] = counts;
  return recorded > asked ? 'more are recorded than asked about' : { asked, recorded, control };
}

interface CommitSeen {
  readonly claims: readonly Claim[];
  readonly result: SqlResult;
  readonly trivial: boolean;
  readonly control: number | null;
  readonly coverage: Coverage | null;
  readonly ifPartial: 'answer' | 'decline' | null;
  /** What repeated rows and placeholders change. */
  readonly doubts: readonly string[];
  readonly csvChars: number;
}

interface CommitFound {
  readonly found: string;
  /** How many things go back to the model. */
  readonly open: number;
  /** Why the question is declined, as the commit said it should be when too little is covered. */
  readonly declined: string | null;
}

function foundByCommit(seen: CommitSeen): CommitFound {
  const { claims, result, trivial, control, coverage, ifPartial } = seen;
  const partial = coverage === null ? null : coverageText(coverage);
  const remarks = [
    ...seen.doubts,
    ...(trivial && control === null
      ? [
          'The answer is empty, zero, false or NULL: give control, one count of the rows looked at before the last condition.',
        ]
      : []),
    ...(trivial && control === 0
      ? [
          'The answer is empty, zero, false or NULL, and control counted 0: nothing was looked at. Mend the SQL or decline.',
        ]
      : []),
    ...(partial !== null && ifPartial === null
      ? [`${partial} Say in ifPartial whether to answer from them or to decline.`]
      : []),
  ];
  const found = [
    ...claims.map((claim, at) => `claim ${at + 1} ${claimText(claim)}`),
    ...(partial === null ? [] : [`coverage: ${partial}`]),
    ...remarks,
    `the answer as it stands:\n${resultText(result, Math.floor(seen.csvChars / 4))}`,
  ].join('\n');
  return {
    found,
    open: claims.filter((claim) => !isSettled(claim)).length + remarks.length,
    declined: partial !== null && ifPartial === 'decline' ? partial : null,
  };
}

/** A decline goes back only where its own counts contradict it or show nothing. */
function foundByDecline(claims: readonly Claim[]): Pick<CommitFound, 'found' | 'open'> {
  const open = claims.filter((claim) => !isSettled(claim));
  return {
    found: claims.map((claim, at) => `absent ${at + 1} ${claimText(claim)}`).join('\n'),
    open: open.length,
  };
}
