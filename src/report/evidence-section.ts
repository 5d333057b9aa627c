/** The evidence: each step of the answer with the reading kept, the test of it, what the data showed and what was rejected. */
import type { AnswerRecord, Claim, Evidence } from '../domain';
import { isToldByClaims, uncheckedAssumptions } from '../text/claim-text';
import { isSettled } from '../sql/claims';
import { claimAnchor } from './claims-section';
import { anchor, markup, type Html } from './html';
import { badge, details, rowsTable } from './parts';
import { capital } from './printable';
import { statement, type Rerun, sqlHtml } from './sql-section';
import { CLAIM_WORDS, STATE_WORDS, VERDICT_WORDS, type Worded } from './words';

const OBSERVED_SHOWN = 20;

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
