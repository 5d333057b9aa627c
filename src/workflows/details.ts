/**
 * What the Temporal UI shows of a question or batch: its current details, as Markdown, and its search attributes. The UI's frame
 * for the details is small, so the most important comes first. The UI asks a worker for them, also after the workflow has ended.
 */
import type { SearchAttributePair } from '@temporalio/common';
import { upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { Usage } from '../domain';
import { progressText, waitedFor, type Progress } from '../search/progress';
import type { AnswerSummary } from '../domain/ports/step-parts';
import type { BatchProgress } from './batch-progress';
import { usageText } from '../text/usage-text';
import { newsTime } from './clock';
import type { ShownAttributes } from './search-attributes';

const MAX_CHARS = 15_000;

export function progressMarkdown(progress: Progress): string {
  const { usage } = progress;
  const sections = [
    `**${waitingText(progress)}** · ${progressText({ ...progress, waiting: [] }, 0)}`,
    usageLine(usage),
    ...(progress.learned === null ? [] : [`Learned: ${cell(progress.learned)}`]),
    table(
      'Plan',
      ['operator', 'state', 'proved by'],
      progress.plan.map(({ name, state, updateId }) => [name, state, updateId ?? '']),
    ),
    table(
      'Frontier',
      ['trajectory', 'score', 'status', 'bottleneck'],
      progress.frontier.map(({ id, score, status, bottleneck }) => [id, score.toFixed(2), status, bottleneck ?? '']),
    ),
  ];
  return joined(sections);
}

/** The time of day and not how long: the UI shows the details as they were set. */
function waitingText({ waiting = [] }: Progress): string {
  const texts = waitedFor(waiting).map(
    ({ what, sinceMs }) => `${what} since ${new Date(sinceMs).toISOString().slice(11, 19)} UTC`,
  );
  return texts.length === 0 ? 'Working' : `Waiting for ${texts.join(' and ')}`;
}

/** The outcome of a search and its proof. */
export function endingMarkdown(summary: AnswerSummary): string {
  const { id, status, endedBy, answer, reason, standing, proof = [], sql, kept = 0, usage } = summary;
  return joined([
    `**${status}** (ended by ${endedBy})${standing === undefined ? '' : ` · ${standing}`}`,
    answer === null ? '' : `**Answer** ${flat(answer)}`,
    reason === null ? '' : `**Reason** ${flat(reason)}`,
    proof.length === 0 ? '' : ['**Proof**', '', ...proof.map((line) => `- ${flat(line)}`)].join('\n'),
    answer !== null && proof.length === 0 ? '**Proof** no reading was tested' : '',
    sql === null ? '' : `\`\`\`sql\n${sql.replaceAll('```', '')}\n\`\`\``,
    kept === 0 ? '' : `**Kept for later questions** ${String(kept)} (\`gate layer list\`)`,
    usageLine(usage),
    `All evidence: \`gate show ${id}\``,
  ]);
}

export function failureMarkdown(reason: string): string {
  return joined(['**failed**', `**Reason** ${flat(reason)}`]);
}

const usageLine = (usage: Usage): string => `**Usage** ${usageText(usage)}`;

function joined(sections: readonly string[]): string {
  const text = sections.filter((section) => section !== '').join('\n\n');
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS - 1)}…` : text;
}

function flat(text: string): string {
  return text.replace(/\s+/g, ' ').slice(0, 2_000);
}

export function batchMarkdown({ total, done, counts, inFlight, stopping, paused, held }: BatchProgress): string {
  const reached = Object.entries(counts).filter(([, count]) => count > 0);
  const sections = [
    `**${String(done)} of ${String(total)} done**, ${String(inFlight.length)} in flight${stopping ? ', stopping' : paused ? ', paused' : ''}`,
    held === undefined ? '' : `No further question starts until the model answers: ${cell(held)}`,
    table(
      'Results',
      ['status', 'questions'],
      reached.map(([status, count]) => [status, String(count)]),
    ),
  ];
  return sections.filter((section) => section !== '').join('\n\n');
}

function table(title: string, head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [`**${title}**`, '', line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function cell(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/\|/g, '\\|').slice(0, 300);
}

const QUIET_MS = 10_000;

/**
 * Search attributes of a running workflow. Each update is an event in its history (design D3), so only changed values are
 * set: at most once in `QUIET_MS`, and at the end.
 */
export interface Attributes {
  /** Sets the attributes now. */
  set(pairs: readonly SearchAttributePair[]): void;
  /** Sets the attributes, unless some were set within `QUIET_MS`. */
  setNowAndThen(pairs: readonly SearchAttributePair[]): void;
}

/** `shown` undefined: no attributes are set. */
export function openAttributes(shown: ShownAttributes | undefined): Attributes {
  let last = newsTime();
  const set = (pairs: readonly SearchAttributePair[]): void => {
    if (shown === undefined) return;
    const now = workflowInfo().typedSearchAttributes.getAll();
    const changed = pairs.filter(({ key, value }) => now.find((one) => one.key.name === key.name)?.value !== value);
    if (changed.length === 0) return;
    upsertSearchAttributes(changed);
    last = newsTime();
  };
  return {
    set,
    setNowAndThen: (pairs) => {
      if (newsTime() - last >= QUIET_MS) set(pairs);
    },
  };
}
