/** How `gate layer watch` tells what is watched, how it went, and what changed. */
import type { Outlet, WatchFound } from '../ports/drift';
import { counted } from '../report/printable';
import { visibleLine } from '../text/visible';
import type { Watch, WatchPlan, WatchRunState } from '../workers/layer-schedules';
import { differenceText } from '../workers/serving';
import { intervalText } from './options';

const SHOWN_RUNS = 3;

export function watchText(watch: Watch): string {
  const runs = watch.runs
    .slice(0, SHOWN_RUNS)
    .map(({ startedAt, outcome }) => `  ${timeText(startedAt)}  ${outcomeText(outcome)}`);
  return [
    `${watch.input.database}: ${planText(watch)}`,
    `  next check ${watch.paused ? 'none: paused in Temporal' : timeText(watch.nextAt)}`,
    ...(runs.length === 0 ? ['  no check yet'] : runs),
  ].join('\n');
}

function outcomeText(outcome: WatchRunState['outcome']): string {
  switch (outcome.kind) {
    case 'checked':
      return resultText(outcome.result);
    case 'failed':
      return `failed: ${visibleLine(outcome.message)}`;
    case 'running':
      return outcome.waitsFor === null ? 'runs now' : `runs still: ${visibleLine(outcome.waitsFor)}`;
    case 'unknown':
      return 'forgotten by Temporal';
  }
}

export function resultText({ checked, unseen, broken, lower, broke, fell, heldAgain }: WatchFound): string {
  const hold = (count: number): string => (count === 1 ? 'holds' : 'hold');
  const fresh = (count: number): string => (count === 0 ? '' : ` (${count} new)`);
  return [
    checked === 0 ? 'nothing checked' : `${counted(checked, 'entry', 'entries')} checked`,
    ...(checked > 0 && broken + lower === 0 ? ['all hold'] : []),
    ...(broken === 0 ? [] : [`${broken} no longer ${hold(broken)}${fresh(broke)}`]),
    ...(lower === 0 ? [] : [`${lower} ${hold(lower)} for fewer rows${fresh(fell)}`]),
    ...(heldAgain === 0 ? [] : [`${heldAgain} ${hold(heldAgain)} again`]),
    ...(unseen === 0 ? [] : [`${unseen} could not be checked`]),
  ].join(', ');
}

export function changesOf(before: WatchPlan, after: WatchPlan): string[] {
  const parts = (plan: WatchPlan): readonly (readonly [string, string])[] => [
    ['every', intervalText(plan.everyMs)],
    ...(['webhook', 'file'] as const).map((kind): [string, string] => [
      kind,
      plan.input.to
        .filter((one) => one.kind === kind)
        .map(outletText)
        .join(', ') || 'none',
    ]),
    ['timeout', `${plan.input.timeoutMs / 1000} s`],
    ['name', plan.input.database],
  ];
  const now = new Map(parts(after));
  const changed = parts(before).flatMap(([what, was]) =>
    now.get(what) === was ? [] : [`${what} ${was} -> ${now.get(what) ?? ''}`],
  );
  const isMoved = before.taskQueue !== after.taskQueue && before.input.database === after.input.database;
  return isMoved ? [...changed, `it ran ${differenceText(before.serving ?? {}, after.serving ?? {})}`] : changed;
}

export function toldPlan({ input: { database, to }, everyMs }: WatchPlan) {
  const [webhook] = to.flatMap((one) => (one.kind === 'webhook' ? [one.variable] : []));
  const [file] = to.flatMap((one) => (one.kind === 'file' ? [one.path] : []));
  return { database, every: intervalText(everyMs), webhook: webhook ?? null, file: file ?? null };
}

export function planText({ everyMs, input: { to } }: WatchPlan): string {
  const told = to.map(outletText).join(' and ');
  return `every ${intervalText(everyMs)}${told === '' ? '' : `, drift is told to ${told}`}`;
}

function outletText(to: Outlet): string {
  return to.kind === 'webhook' ? to.variable : to.path;
}

export function timeText(at: Date | null): string {
  return at === null ? 'none' : `${at.toISOString().slice(0, 16)}Z`;
}
