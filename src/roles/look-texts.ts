/** What the program tells a model between two turns of `look-then-prove`: results of a look, verdicts on claims. */
import type { Claim, Coverage, SqlResult, SqlValue } from '../domain';
import { SHOWN_ROWS, type LookTurn } from './look-prompt';
import type { LookReply } from '../domain/turns';
import { claimText, isSettled } from '../sql/claims';
import { coverageText } from '../sql/coverage';
import { toCsv, resultText } from '../text/result-text';
import type { StepContext } from './shared/context';
import { SCHEMA_ID, type Contents } from '../record/contents';
import { extraTables } from './shared/shown-tables';

/** Characters of one result. */
const RESULT_CHARS = 3_500;

/** The turns so far, each with what was found. */
export async function turnsOf(context: StepContext, ids: readonly string[]): Promise<LookTurn[]> {
  return Promise.all(ids.map((id) => turnOf(context, id)));
}

async function turnOf(context: StepContext, id: string): Promise<LookTurn> {
  const { run } = context;
  const { reply } = await run.get('turn', id);
  if (reply.action !== 'look') return { reply, found: (await run.get('verdict', id)).found };
  const [observation, schema] = await Promise.all([run.get('observation', id), run.get('schema', SCHEMA_ID)]);
  const extra = await extraTables(context, schema, [id]);
  return { reply, found: [lookText(reply, observation), ...(extra === '' ? [] : [extra])].join('\n\n') };
}

function lookText({ queries }: LookReply, { tests }: Contents['observation']): string {
  return queries.map(({ why }, at) => `${at + 1}. ${why}\n${shownRows(tests[at]?.result)}`).join('\n\n');
}

/** The same under its SQL, where the reply that wrote it does not come back. */
export function queryText(number: number, { why, sql }: LookReply['queries'][number], result: SqlResult): string {
  return `${number}. ${why}\n${sql}\n${shownRows(result)}`;
}

function shownRows(seen: SqlResult | undefined): string {
  if (seen === undefined) return 'not run';
  const result = seen.kind === 'rows' ? { ...seen, rows: seen.rows.map((row) => row.map(rounded)) } : seen;
  if (result.kind !== 'rows' || result.rows.length <= SHOWN_ROWS) return resultText(result, RESULT_CHARS);
  const rows = result.rows.slice(0, SHOWN_ROWS);
  const csv = toCsv({ ...result, rows, truncated: false }, { maxChars: RESULT_CHARS, nulls: 'NULL' });
  return `${csv}\n(the first ${SHOWN_ROWS} of ${result.rows.length}${result.truncated ? ' or more' : ''} rows)`;
}

/** The long tail of an average tells nothing. */
function rounded(value: SqlValue): SqlValue {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && /^-?\d+\.\d{7,}$/.test(text) ? Number(Number(text).toPrecision(7)) : value;
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

export interface CommitFound {
  readonly found: string;
  /** How many things go back to the model. */
  readonly open: number;
  /** Why the question is declined, as the commit said it should be when too little is covered. */
  readonly declined: string | null;
}

export function foundByCommit(seen: CommitSeen): CommitFound {
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
export function foundByDecline(claims: readonly Claim[]): Pick<CommitFound, 'found' | 'open'> {
  const open = claims.filter((claim) => !isSettled(claim));
  return {
    found: claims.map((claim, at) => `absent ${at + 1} ${claimText(claim)}`).join('\n'),
    open: open.length,
  };
}
