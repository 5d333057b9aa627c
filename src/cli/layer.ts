/** `gate layer`: the command line of what databases proved; what it prints is in `layer-run.ts`. */
import { Command, Option } from 'commander';
import { type CommandFactory, collect, interval, positiveNumber, withExamples, ONE_DATABASE } from './options';
import type { Io } from './io';
import type { AddFlags, ExportFlags, LayerFlags, WatchFlags } from './layer-run';

const FORMATS = ['markdown', 'ossie', 'dbt'];

/** A subcommand on the layer of one database. */
function action(name: string, description: string, ...examples: readonly string[]): Command {
  return withExamples(
    new Command(name)
      .description(description)
      .option(...ONE_DATABASE)
      .option('--json', 'print JSON'),
    ...examples,
  );
}

const ofEntry = (command: Command): Command => command.argument('<entry>', 'id of an entry, or its beginning');

const AUTHOR = 'who says it (default: your user name)';

const byPerson = (command: Command): Command =>
  command.option('--note <text>', 'why').option('--author <name>', AUTHOR);

const timed = (command: Command): Command =>
  command.option('--timeout <seconds>', 'at most this many seconds for one check', positiveNumber, 25);

const work = () => import('./layer-run');

export const layerCommand: CommandFactory = (io, outcome) => {
  const command = new Command('layer').description(
    'what a database proved: conventions with their figures, used by every question (docs/layer.md)',
  );
  for (const make of [list, show, verify, watch, confirm, reject, edit, add, answer, diff, exported, imported])
    command.addCommand(make(io, outcome));
  return withExamples(
    command,
    'gate layer list --db shop',
    'gate layer verify --db shop',
    'gate layer watch --db shop --every 1h',
  );
};

const list: CommandFactory = (io) =>
  action('list', 'list what rows prove, with the figures, and what people say', 'gate layer list --db shop')
    .option('--all', 'also those that are broken, suspended, superseded or rejected')
    .action(async (flags: LayerFlags) => (await work()).listEntries(flags, io));

const show: CommandFactory = (io) =>
  ofEntry(
    action(
      'show',
      'show an entry: check, rivals, where it comes from, or who says it',
      'gate layer show e3f9 --db shop',
    ),
  ).action(async (entry: string, flags: LayerFlags) => (await work()).showEntry(entry, flags, io));

const verify: CommandFactory = (io, outcome) =>
  timed(
    action(
      'verify',
      'run all checks again and say what broke or holds for fewer rows than is kept; exit code 1 if any does, or if nothing was checked',
      'gate layer verify --db shop',
    ),
  ).action(async (flags: LayerFlags) => {
    outcome.code = await (await work()).verifyLayer(flags, io);
  });

const watch: CommandFactory = (io) =>
  timed(
    action(
      'watch',
      'run all checks on a schedule of Temporal; what they show is kept in the layer',
      'gate layer watch --db shop --every 1h',
      'gate layer watch --list',
    ).option('--every <interval>', 'how often: 30m, 1h, 1d, 1w; given again, it changes', interval),
  )
    .option('--list', 'what is watched: next and last checks')
    .option('--stop', 'watch it no longer')
    .action(async (flags: WatchFlags) => (await work()).runWatch(flags, io));

const confirm: CommandFactory = (io) =>
  decided(
    io,
    'confirm',
    'say that an entry is right, with the figures of now: one that fell, one that was rejected, or one of two that contradict each other',
  );

const reject: CommandFactory = (io) =>
  decided(io, 'reject', 'say that an entry is wrong: it and all that rests on it are used no more');

function decided(io: Io, name: 'confirm' | 'reject', description: string): Command {
  const kind = name === 'confirm' ? 'confirmed' : 'rejected';
  return byPerson(
    ofEntry(action(name, description, `gate layer ${name} e3f9 --db shop --note "as the handbook says"`)),
  ).action(async (entry: string, flags: LayerFlags) => (await work()).decideEntry(kind, entry, flags, io));
}

const edit: CommandFactory = (io) =>
  byPerson(
    ofEntry(
      action(
        'edit',
        'word an entry anew; its check stays, and a rule is then what you said',
        'gate layer edit e3f9 "Amounts are in cents." --db shop',
      ),
    ).argument('<statement>', 'one sentence that says no more than the check counts'),
  ).action(async (entry: string, statement: string, flags: LayerFlags) =>
    (await work()).editEntry(entry, statement, flags, io),
  );

const add: CommandFactory = (io, outcome) =>
  timed(
    action(
      'add',
      'state a rule of the database; with --check it is proved like any claim, without one it is kept as what you said',
      'gate layer add "Orders with orders.state = \'X\' are tests and count nowhere." --db shop',
      'gate layer add "orders.total is in cents." --db shop --rows "paid orders" \\\n    --check "SELECT count(*), sum(total = 100 * paid), sum(total = paid) FROM orders" --rival "whole units"',
    ),
  )
    .option(
      '--check <sql>',
      'one SELECT of one row: examined, matching, then how many of the same rows match each rival',
    )
    .option('--rival <reading>', 'a reading that would be wrong, in the order of the check (repeatable)', collect)
    .option('--rows <what>', 'what one examined row is')
    .option('--author <name>', AUTHOR)
    .argument('<statement>', 'one sentence that names the tables and columns that it is about')
    .action(async (statement: string, flags: AddFlags) => {
      outcome.code = await (await work()).addStatement(statement, flags, io);
    });

const answer: CommandFactory = (io) =>
  action(
    'answer',
    'answer a question that no data can decide; the answer is a rule that later questions are told, as what you said',
    'gate layer answer q3f9 "The clock of the depot." --db shop',
  )
    .option('--author <name>', AUTHOR)
    .argument('<question>', 'id of a question (gate layer list shows it), or its beginning')
    .argument('<text>', 'the answer')
    .action(async (question: string, text: string, flags: LayerFlags) =>
      (await work()).answerQuestion(question, text, flags, io),
    );

const diff: CommandFactory = (io) =>
  action(
    'diff',
    'what differs since a time, or between two databases',
    'gate layer diff --db shop --since 2026-11-01',
    'gate layer diff --db staging --with production',
  )
    .option('--since <time>', 'a date or time (ISO); the layer as it was then comes first')
    .option('--with <database>', 'another database; its layer comes second')
    .action(async (flags: LayerFlags) => (await work()).diffLayers(flags, io));

const exported: CommandFactory = (io) =>
  action(
    'export',
    'what is kept, for people (markdown), semantic models (ossie: Apache Ossie, the former OSI) or dbt (sources and tests)',
    'gate layer export --db shop > shop.md',
    'gate layer export --db shop --format ossie > shop.json',
    'gate layer export --db shop --format dbt --out ./dbt-project',
  )
    .addOption(new Option('--format <format>', 'markdown (default), ossie or dbt').choices(FORMATS))
    .option('--out <folder>', 'write into this folder (default: standard output; dbt needs a folder)')
    .action(async (flags: ExportFlags) => (await work()).exportLayer(flags, io));

const imported: CommandFactory = (io, outcome) =>
  timed(
    action(
      'import',
      'prove the entries of an Ossie file here, and keep what the rows show; exit code 1 if one is not kept',
      'gate layer import shop.json --db shop',
    ).argument('<file>', 'JSON or YAML, as gate layer export --format ossie writes it'),
  ).action(async (file: string, flags: LayerFlags) => {
    outcome.code = await (await work()).importLayer(file, flags, io);
  });
