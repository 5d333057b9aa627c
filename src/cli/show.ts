/** `gate list` and `gate show`: what was asked, where it stands, and the answer with its evidence. */
import { Option } from 'commander';
import type { ShowFlags } from './show-run';
import { csvOption, positiveInteger, commandOf, type CommandFactory } from './options';

export const listCommand: CommandFactory = (io) =>
  commandOf('list', 'list past and running questions, newest first', 'gate list --limit 5')
    .option('--limit <n>', 'at most this many', positiveInteger, 30)
    .option('--json', 'print JSON')
    .action(async ({ limit, json }: { readonly limit: number; readonly json?: boolean }) => {
      await (await import('./list-run')).runList(limit, json, io);
    });

const VIEWS = ['plan', 'trace', 'tokens', 'report', 'diff', 'sql', 'csv'];
/** One view at a time. */
const alone = (option: Option): Option => option.conflicts(VIEWS.filter((name) => name !== option.attributeName()));

export const showCommand: CommandFactory = (io, outcome) =>
  commandOf(
    'show',
    'show the answer of a question with its evidence, or where it stands',
    'gate show',
    'gate show q-3f9a --wait',
    'gate show last --csv > rows.csv',
    'gate show last --report answer.html',
    'gate show q-3f9a --diff last',
  )
    .argument('[id]', 'search id, its beginning, or last', 'last')
    .option('--wait', 'wait until it is answered')
    .addOption(alone(new Option('--sql', 'print only the SQL').conflicts('json')))
    .addOption(alone(csvOption().conflicts('json')))
    .addOption(
      alone(
        new Option(
          '--plan',
          'its newest plan, what is proved and the candidates, with the ids that gate veto and gate pin take',
        ),
      ),
    )
    .addOption(alone(new Option('--trace', 'how it was searched: trajectories, probes, verdicts, candidates')))
    .addOption(alone(new Option('--tokens', 'what each call of a model cost, by part of its prompt')))
    .addOption(alone(new Option('--report <file>', 'write its report: one HTML file that works offline')))
    .addOption(alone(new Option('--diff <other>', 'compare it with another search, such as a fork of it')))
    .option('--json', 'print JSON')
    .action(async (wanted: string, flags: ShowFlags) => {
      outcome.code = await (await import('./show-run')).runShow(wanted, flags, io);
    });
