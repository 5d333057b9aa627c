/**
 * What an answer's SQL uses without a word: literals that no claim varies, nobody names as assumed, the question does not ask for
 * and no stored row or document defines. They go back to the model once. What is left is told with the answer.
 */
import type { Claim, Defined, Dialect, SqlValue, TableDescription, UsedWithoutCheck } from '../../domain';
import type { LookReply } from '../../domain/turns';
import { cut } from '../../clip';
import { SCHEMA_ID } from '../../record/contents';
import { sayingOf, uncovered, type OperatorUse, type Sayings, type Seen } from '../../sql/literal-cover';
import { literalUses } from '../../sql/literal-uses';
import { wordsAsked } from '../layer/earlier';
import { mentionsIn } from '../layer/left-aside';
import type { StepContext } from '../shared/context';
import type { LoadedPlan } from '../shared/load-plan';
import { builtOn } from '../shared/tests';
import { chosenTables, extraTables } from '../shared/shown-tables';

export interface Used {
  readonly used: readonly OperatorUse[];
  /** Those that the SQL reads. */
  readonly tables: readonly TableDescription[];
}

export async function usedIn(
  { run }: StepContext,
  { operators, dialect }: Pick<LoadedPlan, 'operators' | 'dialect'>,
): Promise<Used> {
  const { description } = await run.get('schema', SCHEMA_ID);
  const read = new Set(operators.flatMap(({ operator }) => operator.relations).map((name) => name.toLowerCase()));
  const tables = description.tables.filter(({ name }) => read.has(name.toLowerCase()));
  const stored = new Set(tables.flatMap(({ columns }) => columns.map(({ name }) => name.toLowerCase())));
  const used = operators.flatMap(({ operator, body }) =>
    (body === null ? [] : (literalUses(body.sql, stored, dialect) ?? [])).map((use) => ({
      ...use,
      operator: operator.name,
    })),
  );
  return { used, tables };
}

export interface Known {
  /** Those before the commit. */
  readonly turns: readonly string[];
  /** Entries of the layer that it follows. */
  readonly known: readonly Claim[];
  readonly defined: readonly Defined[];
}

export interface Accounted {
  /** Covered by nothing. */
  readonly unsaid: readonly UsedWithoutCheck[];
  /** By stored rows or documents; told with the answer. */
  readonly defined: readonly Defined[];
}

export async function accountedFor(
  context: StepContext,
  { operators, dialect }: Pick<LoadedPlan, 'operators' | 'dialect'>,
  { used, tables }: Used,
  reply: Pick<LookReply, 'claims' | 'assumed' | 'wording' | 'coverage' | 'control'>,
  { turns, known, defined }: Known,
): Promise<Accounted> {
  if (used.length === 0) return { unsaid: [], defined };
  const schema = await context.run.get('schema', SCHEMA_ID);
  const shown = [schema.text, await chosenTables(context, schema, []), await extraTables(context, schema, turns)].join(
    '\n',
  );
  const { question } = context.input;
  const said: Sayings = {
    asked: await wordsAsked(context),
    claims: [
      ...reply.claims.map(({ statement, check, rivals }) => ({
        ...{ statement, check },
        replaced: rivals.flatMap(({ instead }) => (instead === null ? [] : [instead.of])),
        reads: readBy(check, operators, dialect),
      })),
      ...known.map(({ statement, check }) => ({ statement, check, replaced: [], reads: new Set<string>() })),
    ],
    assumed: [
      // What a person said needs no check.
      ...((await context.run.find('told', SCHEMA_ID))?.rules ?? []).map((rule) => rule.text),
      ...reply.assumed.map(({ statement }) => statement),
      ...reply.wording.flatMap(({ taken, other, instead }) => [taken, other, instead?.of ?? '']),
    ],
    defined,
    padded: shown.split('\n').filter((line) => /^(?!--).*(?:~> |leading zeros|written otherwise in)/.test(line)),
    coverage: [reply.coverage, reply.control].filter((sql) => sql !== null),
  };
  const left = uncovered(used, said, dialect);
  if (left.length === 0) return { unsaid: [], defined };
  const seen: Seen = {
    rows: [...shownRows(shown), ...(await lookedAt(context, turns))],
    notes: [
      ...(question.notes ?? []).map(({ column, text: note }) => `${column ?? ''}: ${note}`),
      ...question.documents.flatMap((document) => document.text.split('\n')),
      ...tables.flatMap(({ columns }) =>
        columns.flatMap(({ name, comment }) => (comment === null ? [] : [`${name}: ${comment}`])),
      ),
    ],
  };
  const open = left.map((use) => ({
    ...{ operator: use.operator, sql: use.text },
    sayings: use.values.map((value) => sayingOf(value, use, seen, said.asked)),
  }));
  return {
    unsaid: open.flatMap(({ sayings, ...use }) => (sayings.includes(null) ? [use] : [])),
    defined: [
      ...defined,
      ...open.flatMap(({ sayings, ...use }) =>
        sayings.includes(null) ? [] : sayings.flatMap((row) => (row === null ? [] : [{ ...use, row }])),
      ),
    ],
  };
}

/** What goes back: only what is named can be mended. */
export function unsaidText(unsaid: readonly UsedWithoutCheck[]): string {
  const list = unsaid.map(({ operator, sql }) => `${cut(sql, SQL_CHARS)} (${operator})`).join('; ');
  return `Used without a check: ${list}. Let a rival of a claim vary it; where no count can decide it, name its column and value in assumed; or leave it out.`;
}

const SQL_CHARS = 120;

/** Of small tables, as `renderProfiles` writes them. */
function shownRows(text: string): string[][] {
  return [...text.matchAll(/^ *row: (.*)$/gm)].map(([, row = '']) => row.split(' | '));
}

async function lookedAt(context: StepContext, turns: readonly string[]): Promise<string[][]> {
  const seen = await Promise.all(turns.map((id) => context.run.find('observation', id)));
  const results = seen.flatMap((observation) => (observation?.tests ?? []).map(({ result }) => result));
  return results.flatMap((result) => (result.kind === 'rows' ? result.rows.map((row) => row.flatMap(partsOf)) : []));
}

/** A cell may hold a row of its own: `(C,E,Order)`, `C: Order`. */
function partsOf(cell: SqlValue): string[] {
  const text = String(cell);
  return [text, ...text.split(/[(),;:|"]/)];
}

/** The operators that a check reads, and those on which they are built. */
function readBy(check: string, operators: LoadedPlan['operators'], dialect: Dialect): ReadonlySet<string> {
  const named = mentionsIn([check], dialect);
  const all = operators.map(({ operator }) => operator);
  return new Set(all.flatMap(({ name }) => ([...builtOn(all, name)].some((each) => named.has(each)) ? [name] : [])));
}
