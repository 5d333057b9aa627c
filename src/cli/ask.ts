/** The commands that begin a search: `gate ask`, `demo`, `learn` and `fork`. Their work is loaded when it is needed. */
import { Command, Option } from 'commander';
import { parseMethodSpec } from '../config/method-specs';
import type { AskFlags, ForkFlags, LearnFlags } from './ask-run';
import { addSteerOptions } from './steer';
import {
  addSearchOptions,
  collectDocs,
  csvOption,
  withExamples,
  commandOf,
  type CommandFactory,
  integer,
  addLimitOptions,
  collect,
  collectModels,
  positiveInteger,
  ONE_DATABASE,
} from './options';

export const askCommand: CommandFactory = (io, outcome) =>
  addSearchOptions(
    commandOf(
      'ask',
      'answer a question, with the evidence for every assumption',
      'gate ask "How many orders came in last week?" --db ./shop.sqlite',
      'gate ask "Which region grew most in 2024?" --db sales --method thorough --max-cost 3',
      'gate ask "and by region?" --after last --db sales',
      'gate ask "…" --db postgresql://reader@localhost/sales --detach',
    )
      .argument('<question>', 'what to ask, in quotes: at most 8,000 characters; - reads it from standard input')
      .option(...ONE_DATABASE)
      .option(
        '--context <text>',
        'background, such as the date that the question refers to (with --instructions at most 32,000 characters)',
      )
      .option(
        '--after <id>',
        'the question follows this search: its id, the beginning of it, or last; context and instructions are those of that one unless you give others',
      )
      .option('--instructions <text>', 'rules that the answer must follow')
      .option(
        '--docs <path>',
        'documentation of the database: text, Markdown, CSV column descriptions, dbt schema.yml, or a folder of them (repeatable; default: "docs" of the database in the configuration)',
        collectDocs,
      )
      .option('--no-docs', 'use no documentation, not even that of the configuration')
      .addOption(
        new Option('--output <mode>', 'the answer in words with its SQL, rows and evidence, or the SQL alone')
          .choices(['answer', 'sql'])
          .default('answer'),
      ),
  )
    .option('--web', 'let the search also look things up on the web (docs/web.md)')
    .option('--detach', 'return at once; a server and a worker keep running in the background')
    .option('--fresh', 'search again even if the same question was answered before')
    .option('--json', 'print the final record as JSON')
    .addOption(csvOption().conflicts(['json', 'detach']))
    .option(
      '--max-rows <n>',
      'at most this many rows of the result (default: the 10,000 that are stored; more are read again with the same SQL)',
      positiveInteger,
    )
    .option('--record <file>', 'write every exchange with the model to this file')
    .addOption(new Option('--replay <file>', 'answer from a recording instead of a model').conflicts('record'))
    .action(async (question: string, flags: AskFlags) => {
      outcome.code = await (await import('./ask-run')).runAsk(question, flags, io);
    });

export const demoCommand: CommandFactory = (io, outcome) =>
  commandOf('demo', 'answer a sample question on a sample database; needs no model', 'gate demo', 'gate demo --json')
    .option('--json', 'print the final record as JSON, as gate ask does')
    .action(async (flags: { json?: boolean; debug?: boolean }) => {
      outcome.code = await (await import('./ask-run')).runDemo(flags, io);
    });

export const learnCommand: CommandFactory = (io, outcome) =>
  addLimitOptions(
    commandOf(
      'learn',
      'prove the conventions of a database without a question, for all later ones (docs/layer.md)',
      'gate learn --db shop',
      'gate learn --db sales --max-cost 2 --turns 6',
    )
      .option(...ONE_DATABASE)
      .option('--turns <n>', 'at most this many turns of queries and claims', positiveInteger, 6)
      .option('--docs <path>', 'documentation of the database (repeatable)', collect)
      .option('--model <name>', 'model for all roles, or ROLE=NAME for one (repeatable)', collectModels),
  )
    .option('--detach', 'return at once; a server and a worker keep running in the background')
    .option('--json', 'print the final record as JSON')
    .action(async (flags: LearnFlags) => {
      outcome.code = await (await import('./ask-run')).runLearn(flags, io);
    });

const FORK_NOTES = `
A fork starts from the state of its parent after that iteration, with all that was proved by then. It pays only its own
calls. If candidates already agree at that point, the fork ends at once, or with --hint after one more plan. Asking for the same fork
again continues it. A fork has the limits of its parent unless you give others; its usage counts from zero.`;

export const forkCommand: CommandFactory = (io, outcome) =>
  withExamples(
    addSteerOptions(
      addLimitOptions(
        new Command('fork')
          .description('start a new search from a checkpoint of another search, running or finished')
          .argument('<id>', 'search id, its beginning, or last')
          .requiredOption('--at <n>', 'start from the state after this iteration', positiveInteger)
          .option('--hint <text>', 'tell the fork something that its parent did not know')
          .option('--db <database>', 'the file, folder or URL, if the database is not configured')
          .option('--model <name>', 'model for all roles, or ROLE=NAME for one (repeatable)', collectModels)
          .option(
            '--method <spec>',
            'fast, thorough or paper from there on, for a search by one of them',
            parseMethodSpec,
          )
          .option('--seed <n>', 'a number; another seed makes another search', integer)
          .option(
            '--iterations <n>',
            'at most this many further iterations (default: as many as the method has)',
            positiveInteger,
          ),
      ),
    )
      .option('--detach', 'return at once; a server and a worker keep running in the background')
      .option('--fresh', 'fork again even if the same fork was made before')
      .addHelpText('after', FORK_NOTES)
      .action(async (id: string, flags: ForkFlags) => {
        outcome.code = await (await import('./ask-run')).runFork(id, flags, io);
      }),
    'gate fork last --at 2 --hint "gaps are in seconds"',
    'gate fork q-3f9a --at 1 --model gpt-5 --method thorough --max-cost 3 --detach',
  );
