/** `gate schedule`: questions whose answers are kept up to date by a schedule of Temporal. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { UsageError } from '../app/errors';
import type { Repetition } from '../app/schedules';
import { visibleLine } from '../clip';
import type { RunState } from '../workers/schedules';
import type { Repeated } from '../workflows/repeat-question';
import type { ScheduleFlags } from './ask-run';
import { printJson } from './io';
import {
  addSearchOptions,
  collectDocs,
  interval,
  ONE_DATABASE,
  timeText,
  withExamples,
  commandOf,
  type CommandFactory,
} from './options';

const NOTES = `
Each run executes the stored SQL and its claims again, without a model call. Only where they no longer hold, the question is
searched again, with the same settings and limits. Webhooks of the configuration are told (docs/freshness.md).`;

const WEEKLY = 'gate schedule add "How many orders came in last week?" --db shop --cron "0 7 * * 1"';

export const scheduleCommand: CommandFactory = (io, outcome) => {
  const command = commandOf('schedule', 'keep the answer of a question up to date, on a schedule', WEEKLY);
  for (const make of [add, list, remove]) command.addCommand(make(io, outcome));
  return command;
};

const add: CommandFactory = (io, outcome) =>
  withExamples(
    addSearchOptions(
      new Command('add')
        .description('ask a question, then repeat it; given again for the same question, the times change')
        .argument('<question>', 'what to ask, in quotes; - reads it from standard input')
        .option(...ONE_DATABASE)
        .option('--cron <expression>', 'when, as minute hour day month weekday, in UTC', cronText)
        .addOption(new Option('--every <interval>', 'how often: 30m, 1h, 1d, 1w').argParser(interval).conflicts('cron'))
        .option('--context <text>', 'background, as for gate ask')
        .option('--instructions <text>', 'rules that the answer must follow')
        .option('--docs <path>', 'documentation of the database, as for gate ask (repeatable)', collectDocs)
        .option('--no-docs', 'use no documentation, not even that of the configuration')
        .option('--json', 'print the schedule as JSON'),
    )
      .addHelpText('after', NOTES)
      .action(async (question: string, flags: ScheduleFlags) => {
        if ((flags.every ?? flags.cron) === undefined)
          throw new UsageError('say when it runs: --cron "0 7 * * 1", or --every 1d');
        outcome.code = await (await import('./ask-run')).runSchedule(question, flags, io);
      }),
    WEEKLY,
    'gate schedule add "Which orders are late?" --db shop --every 1h --json',
  );

const list: CommandFactory = (io) =>
  commandOf('list', 'list the schedules: when they run, and their last three runs', 'gate schedule list')
    .option('--db <name>', 'those of this database')
    .option('--json', 'print JSON')
    .action(async ({ db, json }: { readonly db?: string; readonly json?: boolean }) => {
      const schedules = await (await import('../app/schedules')).schedulesOf(io, db);
      if (json) printJson(io, { schedules: schedules.map(scheduleJson) });
      else io.out(schedules.map(scheduleText).join(''));
      if (schedules.length === 0 && !json)
        io.err('nothing is scheduled; begin with: gate schedule add "…" --db NAME --every 1d\n');
    });

const remove: CommandFactory = (io) =>
  commandOf('remove', 'remove a schedule; its answers stay', 'gate schedule remove q-3f9a')
    .argument('<id>', 'id of a schedule (gate schedule list shows it), or its beginning')
    .option('--json', 'print JSON')
    .action(async (wanted: string, { json }: { readonly json?: boolean }) => {
      const id = await (await import('../app/schedules')).dropSchedule(io, wanted);
      if (json) printJson(io, { id, removed: true });
      else io.out(`${id} is no longer scheduled; its answers stay\n`);
    });

/** Its ranges are checked by Temporal. */
function cronText(text: string): string {
  if (!/^\S+(\s+\S+){4}$/.test(text.trim()))
    throw new InvalidArgumentError('give minute, hour, day, month and weekday, such as "0 7 * * 1"');
  return text.trim();
}

function scheduleJson({ input: { question, ...input }, nextAt, paused, runs }: Repetition): object {
  return { id: question.searchId, ...input, nextAt, paused, runs };
}

function scheduleText({ input, paused, nextAt, runs }: Repetition): string {
  return [
    `${input.question.searchId}  ${visibleLine(input.label)}`,
    `  ${input.when}; next run ${paused ? 'none: paused in Temporal' : timeText(nextAt)}`,
    ...runTexts(runs, 'run', repeatedText),
    '',
  ].join('\n');
}

function repeatedText({ kind, searchId, status }: Repeated): string {
  if (kind === 'searched') return `searched again (${searchId}): ${status ?? ''}`;
  return kind === 'changed' ? `the rows changed (${searchId})` : 'the answer stands';
}

/** `what`: a run, or a check. */
export function runTexts<Result>(
  runs: readonly RunState<Result>[],
  what: string,
  endedText: (result: Result) => string,
): readonly string[] {
  const text = (outcome: RunState<Result>['outcome']): string => {
    if (outcome.kind === 'ended') return endedText(outcome.result);
    if (outcome.kind === 'failed') return `failed: ${visibleLine(outcome.message)}`;
    return outcome.kind === 'running' ? 'runs now' : 'forgotten by Temporal';
  };
  if (runs.length === 0) return [`  no ${what} yet`];
  return runs.map(({ startedAt, outcome }) => `  ${timeText(startedAt)}  ${text(outcome)}`);
}
