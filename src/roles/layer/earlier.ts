/**
 * What a question knows that follows another: the earlier ones of its chain, each with its SQL and what that gives now, and the
 * claims of the last one as entries that a commit may rest on. Their checks run again first, as those of the layer do; one that the rows
 * no longer show is told and not carried.
 *
 * 1. All of it is read through the database as this search may read it: what the access lists hide by now is not told.
 * 2. A claim whose entry a person rejected since, or that is suspended, is not carried.
 */
import type { AnswerRecord, DatabaseDescription, LayerEntry, SqlResult } from '../../domain';
import { isConclusive } from '../../domain/answer';
import { SqlEngineError } from '../../domain/ports';
import type { UsageDelta } from '../../domain/ports/step-parts';
import { SCHEMA_ID, type Contents } from '../../record/contents';
import { allHeld } from '../../layer/state';
import { withClock } from '../../sql/clock';
import { resultText } from '../../text/result-text';
import { isEstablished } from '../keep';
import { openEngine, runSql, type StepContext } from '../shared/context';
import { single, together } from '../shared/statements';
import { currentLayer, entryIdOf, layerPlace, namedColumns, plainCheck, recounted } from './entries';

export type Earlier = Contents['earlier'];

/** Questions of a chain that are shown; those before them are not. */
const SHOWN = 4;
const RESULT_CHARS = 800;

export async function recallEarlier(context: StepContext, description: DatabaseDescription): Promise<UsageDelta> {
  const chain = await chainOf(context);
  const last = chain.at(-1);
  if (last === undefined) return {};
  const timed = (sql: string): string => withClock(sql, context.input.clock, description.dialect);
  const carried = await carriedOf(context, description, last, timed);
  const all = together([
    together(chain.map(({ sql }) => single(sql === null ? null : timed(sql)))),
    together(carried.map(({ entry }) => single(entry.check))),
  ]);
  const { results, usage } = await runSql(context, all.statements);
  const [found, counts] = all.read(results);
  const again = recounted(carried, counts);
  const entries = again
    .filter(({ why, unseen }) => why === null && !unseen)
    .map(({ entry }, at) => ({ key: `c${at + 1}`, entry }));
  const lost = again.flatMap(({ entry: { statement }, why, unseen }) =>
    why === null || unseen ? [] : [{ statement, why }],
  );
  await context.run.put('earlier', SCHEMA_ID, {
    entries,
    questions: chain.map((record, at) => {
      const isLast = record === last;
      const isHidden = found[at]?.kind === 'refused';
      return {
        searchId: record.id,
        question: record.question,
        understoodAs: isHidden ? null : (record.understoodAs ?? null),
        sql: isHidden ? null : record.sql,
        found: isHidden ? 'what it read may not be read here' : foundText(record, found[at] ?? null),
        claims: isLast ? entries.map(({ key }) => key) : [],
        lost: isLast ? lost : [],
        assumed: isHidden ? [] : record.openAssumptions.map(({ statement }) => statement),
        remarks: (record.steering ?? [])
          .filter(({ kind }) => kind === 'hint')
          .map(({ author, text }) => `${author}: ${text}`),
      };
    }),
  });
  return usage;
}

/** The records of the chain, oldest first. */
async function chainOf({ run, input }: StepContext): Promise<readonly AnswerRecord[]> {
  const chain: AnswerRecord[] = [];
  for (let id = input.question.after; id !== undefined && chain.length < SHOWN;) {
    const record = await run.of(id).find('result', id);
    if (record === null || !isConclusive(record)) {
      // Those before the one that it follows may be gone.
      if (chain.length > 0) break;
      throw new SqlEngineError('not-found', `${id}, which this question follows, has no answer: ask that one first`);
    }
    chain.unshift(record);
    id = record.after;
  }
  return chain;
}

type Carried = { readonly entry: LayerEntry; readonly statement: string };

/** The established claims of the answer, as entries. */
async function carriedOf(
  context: StepContext,
  description: DatabaseDescription,
  { id, question, claims = [], asOf }: AnswerRecord,
  timed: (sql: string) => string,
): Promise<readonly Carried[]> {
  const { inspector } = await openEngine(context);
  const distrusted = new Set(
    allHeld(await currentLayer(layerPlace(context)))
      .filter(({ status }) => status === 'rejected' || status === 'suspended')
      .map(({ entry }) => entry.entryId),
  );
  return claims.filter(isEstablished).flatMap((claim): Carried[] => {
    const check = plainCheck(timed(claim.check));
    const entryId = claim.entry?.entryId ?? entryIdOf(check);
    const inspection = inspector.inspect(check);
    if (distrusted.has(entryId) || inspection.kind !== 'select') return [];
    const tables = [...inspection.relations];
    const { statement, rows, matching, examined } = claim;
    const entry: LayerEntry = {
      ...{ entryId, statement, rows, scope: null, check, matching, examined, tables },
      rivals: claim.rivals.map(({ verdict, ...rival }) => ({ ...rival, refuted: verdict === 'refuted' })),
      columns: namedColumns(check, tables, description),
      ...{ operator: null, restsOn: [], from: { searchId: claim.entry?.searchId ?? id, question } },
      ...{ provedAt: claim.entry?.provedAt ?? asOf, schemaFingerprint: description.fingerprint },
    };
    return [{ entry, statement }];
  });
}

function foundText({ status, reason }: AnswerRecord, result: SqlResult | null): string {
  if (status !== 'answered' || result === null) return `${status}: ${reason ?? 'no reason given'}`;
  return resultText(result, RESULT_CHARS);
}

/** What the earlier questions of the chain say. */
export async function earlierWords({ run, input }: StepContext): Promise<readonly string[]> {
  if (input.question.after === undefined) return [];
  const earlier = await run.find('earlier', SCHEMA_ID);
  return earlier?.questions.flatMap((each) => [each.question, each.understoodAs ?? '', each.sql ?? '']) ?? [];
}

/** The words of the question, and of those before it in its chain. */
export async function wordsAsked(context: StepContext): Promise<string> {
  const { text, context: background, instructions } = context.input.question;
  return [text, background, instructions, ...(await earlierWords(context))].join('\n');
}

/** What a commit may name as proved before: claims of the question that this one follows, and what the layer knows. */
export async function knownEntries({ run }: StepContext): Promise<Earlier['entries']> {
  const [earlier, known] = await Promise.all([run.find('earlier', SCHEMA_ID), run.find('known', SCHEMA_ID)]);
  return [...(earlier?.entries ?? []), ...(known?.entries ?? [])];
}

/** An earlier question as a prompt shows it. */
export function earlierText(
  { question, understoodAs, sql, found, claims, lost, assumed }: Earlier['questions'][number],
  at: number,
): string {
  return [
    `${at + 1}. ${question}`,
    ...(understoodAs === null ? [] : [`understood as: ${understoodAs}`]),
    ...(sql === null ? [] : [`SQL:\n${sql}`]),
    `found now:\n${found}`,
    ...(claims.length === 0 ? [] : [`rests on: ${claims.join(', ')}`]),
    ...lost.map(({ statement, why }) => `no longer shown by the rows: ${statement} (${why})`),
    ...assumed.map((statement) => `assumed: ${statement}`),
  ].join('\n');
}
