/**
 * The claims of an answer or of a decline: what it takes for granted, how many of the same rows agree with that and with each
 * rival reading, and the SQL that counted them. The heading quotes the model's statement as a claim, because it may
 * say more than was counted; the counts stand below it.
 */
import type { AnswerRecord, Claim, Evidence } from '../domain';
import { isAbsence, isSettled } from '../sql/claims';
import { coverageText } from '../sql/coverage';
import {
  figuresText,
  isToldByClaims,
  keptText,
  provedBeforeText,
  RIVAL_WORDS,
  uncheckedAssumptions,
} from '../text/claim-text';
import { anchor, badge, details, type Html, markup, rowsTable } from './html';
import { capital } from './printable';
import { type Rerun, sqlHtml, statement } from './sql-section';
import { CLAIM_WORDS, STATE_WORDS, type Tone, VERDICT_WORDS, type Worded } from './words';

export function claimsTitle({ claims = [] }: Pick<AnswerRecord, 'claims'>): string {
  return claims.some(isAbsence) ? 'What is not stored' : 'What it takes for granted';
}

/** null where nothing was claimed, assumed or counted. */
export function claimsBody(record: AnswerRecord, rerun: Rerun): Html | null {
  const { claims = [], coverage } = record;
  // Without claims, each step tells what it assumes.
  const unchecked = record.claims ? uncheckedAssumptions(record).filter(({ kind }) => kind === 'assumption') : [];
  if (claims.length === 0 && unchecked.length === 0 && coverage === undefined) return null;
  const operators = new Set(record.evidence.map(({ operator }) => operator));
  const kept = keptText(record);
  return markup`${claims.length > 0 && markup`<p class="soft">${claims.some(isAbsence) ? DECLINES : CLAIMS}</p>`}
    ${claims.map((claim, at) => claimCard(claim, at + 1, operators, rerun))}
    ${
      unchecked.length > 0 &&
      markup`<h3>Assumed without a check</h3>
        <ul>
          ${unchecked.map(({ statement: words }) => markup`<li>“${words}”</li>`)}
        </ul>`
    }
    ${coverage && coveragePart(coverage, operators, rerun)}${kept !== null && markup`<p class="soft">Kept for later questions: ${kept}</p>`}`;
}

const CLAIMS =
  'Nobody wrote these down. The model claimed them; the database counted how many rows agree with each claim, and with every other reading of it, over the same rows.';
const DECLINES =
  'The model claimed that this is not recorded; the database counted how often it is, beside a comparable fact that is recorded.';

/** The place on the page to which a doubt about a claim leads. */
export function claimAnchor(number: number): string {
  return `claim-${number}`;
}

export function claimCard(claim: Claim, number: number, operators: ReadonlySet<string>, rerun: Rerun): Html {
  const { state, reason, operator, statement: words, check } = claim;
  const { says, tone } = CLAIM_WORDS[state];
  const because = state === 'failed' || state === 'open' ? reason : null;
  const before = provedBeforeText(claim);
  return markup`<article class="card ${CARDS[state]}" id="${claimAnchor(number)}">
    <p class="soft">
      Claim ${number} ${badge(says, tone)} ${operator !== null && markup`<code>${operator}</code> in the SQL`}
    </p>
    <h3>Claimed: “${words}”</h3>
    <p>${capital(figuresText(claim))}.</p>
    ${because !== null && markup`<p>Not shown: ${because}.</p>`}
    ${
      before !== null &&
      markup`
    <p>${capital(before)}.</p>`
    }
    ${barsOf(claim)}
    ${details('The SQL that counted it', statement(claimAnchor(number), check, operators, rerun))}
    ${rerun.beside?.(claim, number)}
  </article>`;
}

const CARDS: Readonly<Record<Claim['state'], string>> = {
  proved: 'proved',
  exceptions: 'assumed',
  immaterial: 'immaterial',
  failed: 'failed',
  open: 'assumed',
};

interface Bar {
  readonly reading: string;
  readonly verdict: Worded | null;
  readonly matching: number | null;
  readonly examined: number | null;
}

function barsOf(claim: Claim): Html {
  const { matching, examined, control } = claim;
  if (isAbsence(claim)) {
    const recorded = matching === null || examined === null ? null : examined - matching;
    return bars('How much is recorded', [
      { reading: 'Recorded', verdict: null, matching: recorded, examined },
      ...(control === undefined
        ? []
        : [{ reading: 'A comparable fact that is recorded', verdict: null, matching: control, examined }]),
    ]);
  }
  return bars('Rows that agree with each reading', [
    { reading: 'As claimed', verdict: null, matching, examined },
    ...claim.rivals.map(({ reading, verdict, ...counts }) => ({
      reading: `Rival: “${reading}”`,
      ...counts,
      verdict: { says: RIVAL_WORDS[verdict], tone: RIVAL_TONES[verdict] },
    })),
  ]);
}

const RIVAL_TONES: Readonly<Record<Claim['rivals'][number]['verdict'], Tone>> = {
  refuted: 'bad',
  'same-answer': 'calm',
  open: 'warn',
};

export function bars(label: string, all: readonly Bar[]): Html {
  return markup`<ul class="bars" aria-label="${label}">
    ${all.map(
      ({ reading, verdict, matching, examined }, at) =>
        markup`<li>
          <span class="says">${reading} ${verdict !== null && badge(verdict.says, verdict.tone)}</span>
          ${bar(matching, examined, at === 0)}
          <span class="count">${
            matching === null || examined === null
              ? 'not counted'
              : `${matching.toLocaleString('en-US')} of ${examined.toLocaleString('en-US')}`
          }</span>
        </li>`,
    )}
  </ul>`;
}

/** The numbers stand beside it. One exception stays visible, and so does a single row that agrees. */
function bar(matching: number | null, examined: number | null, isOwn: boolean): Html {
  const share = matching === null || examined === null || examined === 0 ? 0 : matching / examined;
  const width = share === 0 || share === 1 ? share * 100 : Math.min(99, Math.max(1, share * 100));
  return markup`<svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" focusable="false">
    <rect class="track" width="100" height="8" />
    <rect class="${isOwn ? 'own' : 'rival'}" width="${width.toFixed(1)}" height="8" />
  </svg>`;
}

function coveragePart(
  coverage: NonNullable<AnswerRecord['coverage']>,
  operators: ReadonlySet<string>,
  rerun: Rerun,
): Html {
  const { asked, used } = coverage;
  return markup`<h3 id="coverage">Coverage</h3>
    <p>${coverageText(coverage) ?? `The question asks about ${asked.toLocaleString('en-US')}; this SQL could use ${used.toLocaleString('en-US')} of them.`}</p>
    ${bars('Coverage', [{ reading: 'Could be used', verdict: null, matching: used, examined: asked }])}
    ${details('The SQL that counted it', statement('coverage', coverage.sql, operators, rerun))}`;
}

const OBSERVED_SHOWN = 20;

/** Each step of the answer with the reading kept, the test of it, what the data showed and what was rejected. */
export function evidenceBody(record: AnswerRecord, rerun: Rerun): Html | null {
  if (record.evidence.length === 0) return null;
  const operators = new Set(record.evidence.map(({ operator }) => operator));
  return markup`<p class="soft">${record.claims === undefined ? EVIDENCE : STEPS}</p>
    ${record.evidence.map((entry) => stepCard(entry, record, operators) ?? evidenceCard(entry, operators, rerun))}`;
}

export function evidenceTitle({ claims }: Pick<AnswerRecord, 'claims'>): string {
  return claims === undefined ? 'Evidence' : 'Steps';
}

const EVIDENCE =
  'One entry for each step of the SQL. A step is proved when a query on the data (a probe) supported one reading of it and spoke against the others.';
const STEPS = 'One entry for each step of the SQL, with the claims that it rests on.';

/** A step of an answer with claims, which tell the rest; null for one that was proved in another way. */
function stepCard(entry: Evidence, record: AnswerRecord, operators: ReadonlySet<string>): Html | null {
  const { operator, intent, sql, sources } = entry;
  const { claims } = record;
  const own = (claims ?? []).flatMap((claim, at) => (claim.operator === operator ? [{ claim, number: at + 1 }] : []));
  if (!isToldByClaims(entry, claims)) return null;
  const unchecked = uncheckedAssumptions(record).filter((open) => open.operator === operator).length;
  const { says, tone, state } = standing(
    entry,
    own.map(({ claim }) => claim),
    unchecked,
  );
  return markup`<article class="card ${state}" id="${anchor('operator', operator)}">
    <h3>${capital(intent)}</h3>
    <p class="soft">
      ${badge(says, tone)}
      ${own.map(({ number }) => markup`<a href="#${claimAnchor(number)}">claim ${number}</a> `)} · <code>${operator}</code> in
      the SQL
    </p>
    ${sourcesPart(sources)} ${sql !== null && sqlPart(sql, operators)}
  </article>`;
}

/** How a step stands by its claims: as its weakest. */
function standing(
  { state }: Evidence,
  own: readonly Claim[],
  unchecked: number,
): Worded & { readonly state: Evidence['state'] | 'plain' } {
  if (state === 'proved') return { ...STATE_WORDS.proved, state };
  const weakest = WEAKEST.find((each) => own.some((claim) => claim.state === each));
  if (weakest !== undefined && (unchecked === 0 || !isSettled({ state: weakest })))
    return { ...CLAIM_WORDS[weakest], state: weakest === 'immaterial' ? 'immaterial' : 'assumed' };
  return unchecked > 0
    ? { ...STATE_WORDS.assumed, state: 'assumed' }
    : { says: 'nothing claimed', tone: 'calm', state: 'plain' };
}

const WEAKEST: readonly Claim['state'][] = ['failed', 'open', 'exceptions', 'immaterial', 'proved'];

function evidenceCard(entry: Evidence, operators: ReadonlySet<string>, rerun: Rerun): Html {
  const { tone, says, because } = STATE_WORDS[entry.state];
  return markup`<article class="card ${entry.state}" id="${anchor('operator', entry.operator)}">
    <h3>${capital(entry.intent)}</h3>
    <p class="soft">${badge(says, tone)} ${because} · <code>${entry.operator}</code> in the SQL</p>
    <h4>${entry.state === 'proved' ? 'Reading kept' : 'Reading taken'}</h4>
    <p>${entry.reading}</p>
    ${entry.summary && entry.summary !== entry.reading && markup`<p class="soft">${entry.summary}</p>`}
    ${
      entry.against !== undefined &&
      markup`<h4>What speaks against it</h4>
        <ul class="plain">
          ${entry.against.map((text) => markup`<li>${text}</li>`)}
        </ul>`
    }
    ${
      entry.observed !== null &&
      markup`<h4>What the data showed</h4>
        ${rowsTable('Observed', entry.observed, OBSERVED_SHOWN)}`
    }
    ${
      entry.rejected.length > 0 &&
      markup`<h4>Other readings</h4>
        <ul class="plain">
          ${entry.rejected.map(
            ({ reading, verdict, reason }) =>
              markup`<li class="reading ${verdict}">
                <div>${reading} ${verdictBadge(verdict)}</div>
                <div class="soft">${reason}</div>
              </li>`,
          )}
        </ul>`
    }
    ${sourcesPart(entry.sources)}
    ${
      entry.probe !== null &&
      markup`<h4>Probe: the query that tested it</h4>
        ${statement(anchor('probe', entry.operator), entry.probe, operators, rerun)}`
    }
    ${entry.sql !== null && sqlPart(entry.sql, operators)}
    ${entry.reusedFrom !== null && markup`<p class="soft">Proved earlier, in <code>${entry.reusedFrom}</code>, and used again.</p>`}
  </article>`;
}

function sourcesPart(sources: Evidence['sources']): Html | null {
  if (sources === undefined) return null;
  return markup`<h4>Cited from outside the database</h4>
    <ul class="plain">
      ${sources.map((url) => markup`<li class="soft"><code>${url}</code></li>`)}
    </ul>`;
}

function sqlPart(sql: string, operators: ReadonlySet<string>): Html {
  return details('SQL of this step', sqlHtml(sql, operators));
}

function verdictBadge(verdict: string): Html {
  const known = (VERDICT_WORDS as Readonly<Record<string, Worded | undefined>>)[verdict];
  return badge(known?.says ?? verdict, known?.tone ?? 'calm');
}
