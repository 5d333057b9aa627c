/** The top of a report: the answer in one sentence, how far it is proved, and where to doubt it. */
import type { AnswerRecord } from '../domain';
import { caveatTexts, reasonTexts, statedText } from '../text/answer-text';
import { declineText, provedText } from '../text/standing';
import { uncheckedAssumptions } from '../text/claim-text';
import { doubtsOf, type Doubt } from './doubts';
import { anchor, markup, type Html } from './html';
import { badge, details } from './parts';
import { capital, counted, dollars, duration } from './printable';
import type { Trace } from './trace';
import { asOfText, modelText, replacedTexts, STATUS_WORDS } from './words';

const TITLE_CHARS = 280;
/** More than this is behind a click. */
const DOUBTS = 6;

export function head(trace: Trace): Html {
  const { record, input } = trace;
  const { says, tone } = STATUS_WORDS[record?.status ?? 'running'];
  const { title, more } = headline(trace);
  const question = record?.question ?? input?.question.text ?? trace.searchId;
  return markup`<header>
    <p class="status">${badge(says, tone)} <span class="soft">GATE report</span></p>
    <p class="question"><span class="soft">Question:</span> ${question}</p>
    ${input?.question.context && markup`<p class="soft">Context: ${input.question.context}</p>`}
    <h1 class="${tone}">${title}</h1>
    ${[...more, ...(record ? replacedTexts(record) : [])].map((line) => markup`<p class="more">${line}</p>`)} ${record && proofLine(record)}
    ${record && doubtList(doubtsOf(record))}
    <ul class="meta">
      ${facts(trace).map((fact) => markup`<li>${fact}</li>`)}
    </ul>
  </header>`;
}

/** The sentence, and what follows it. */
function headline({ record, state }: Trace): { readonly title: string; readonly more: readonly string[] } {
  if (record === null)
    return {
      title: 'There is no answer yet',
      more: [
        `Not finished: round ${state?.iteration ?? 1} is next or under way. The report shows what the search has stored so far.`,
      ],
    };
  const reason = reasonTexts(record);
  const title = statedText(record);
  if (title === null) return { title: withoutAnswer(record), more: reason };
  const known = caveatTexts(record);
  // Rows and doubts have places of their own below.
  const more = (record.answer ?? '')
    .trim()
    .split('\n')
    .slice(1)
    .filter((line) => line.trim() !== '' && !known.includes(line));
  const lead = record.status === 'cancelled' ? 'Best answer so far: ' : '';
  if (title.length <= TITLE_CHARS) return { title: `${lead}${title}`, more: [...more, ...reason] };
  return { title: withoutAnswer(record), more: [title, ...more, ...reason] };
}

function withoutAnswer({ status, columns, rows, sql }: AnswerRecord): string {
  if (columns.length > 0 || (status === 'answered' && sql !== null))
    return columns.length > 0 ? `The result has ${counted(rows.length, 'row')}` : 'The answer is the SQL below';
  switch (status) {
    case 'answered':
      return 'The question is answered';
    case 'unanswerable':
      return 'The question cannot be answered from this database';
    case 'abstained':
      return 'No answer was certain enough to give';
    case 'cancelled':
      return 'The search was cancelled before it had an answer';
    case 'failed':
      return 'The search failed before it had an answer';
    default:
      return status satisfies never;
  }
}

function proofLine(record: AnswerRecord): Html | null {
  const { evidence, columns, sql, claims } = record;
  const decline = declineText(record);
  if (decline !== null) return markup`<p class="proof">${decline}</p>`;
  if (columns.length === 0 && sql === null) return null;
  const unchecked = uncheckedAssumptions(record).filter(({ kind }) => kind === 'assumption');
  const marks = claims === undefined ? evidence : [...claims, ...unchecked.map(() => ({ state: 'open' }))];
  const text = capital(provedText(record));
  if (marks.length === 0) return markup`<p class="proof">${text}</p>`;
  return markup`<p class="proof">
    <span class="gauge" aria-hidden="true">${marks.map(({ state }) => markup`<span class="${state}"></span>`)}</span>
    <a href="#${claims === undefined ? 'evidence' : 'claims'}">${text}</a>
  </p>`;
}

function doubtList(doubts: readonly Doubt[]): Html {
  if (doubts.length === 0) return markup``;
  const rest = doubts.slice(DOUBTS);
  return markup`<section class="doubts" aria-labelledby="open">
    <h2 id="open">Where to doubt it</h2>
    <ul>
      ${doubts.slice(0, DOUBTS).map(doubtItem)}
    </ul>
    ${rest.length > 0 && details(counted(rest.length, 'further point'), markup`<ul>${rest.map(doubtItem)}</ul>`)}
  </section>`;
}

function doubtItem({ text, more, label, to }: Doubt): Html {
  const place = to === null ? null : to.kind === '' ? to.id : anchor(to.kind, to.id);
  return markup`<li>
    ${text} ${badge(label, 'warn')} ${place !== null && markup`<a href="#${place}">why</a>`}
    ${more !== null && markup`<div class="soft">${more}</div>`}
  </li>`;
}

function facts(trace: Trace): string[] {
  const { record, input, state } = trace;
  const usage = record?.usage ?? state?.usage;
  const model = modelText(trace);
  return [
    `Database ${record?.database ?? input?.question.database ?? 'unknown'}`,
    ...(record ? [`As of ${asOfText(record)}`] : []),
    ...(model === null ? [] : [capital(model)]),
    ...(usage === undefined ? [] : [`${counted(usage.llmCalls, 'model call')}, ${dollars(usage.costUsd)}`]),
    ...(record ? [`took ${duration(Math.max(0, Date.parse(record.endedAt) - Date.parse(record.startedAt)))}`] : []),
  ];
}
