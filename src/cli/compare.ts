/** `gate compare`: the command line of a comparison; the work is in `compare-run.ts`, which only runs when it is needed. */
import { Command, Option } from 'commander';
import { JUDGE_MODES } from '../domain/judge-modes';
import { joinedWords } from './ask';
import type { CompareFlags } from './compare-arms';
import {
  addQuestionLimits,
  collect,
  collectDocs,
  collectModels,
  positiveInteger,
  positiveNumber,
  withExamples,
  type CommandFactory,
} from './options';

export const compareCommand: CommandFactory = (io, outcome) =>
  withExamples(
    addQuestionLimits(
      new Command('compare')
        .description('answer one question, or a file of them, by several methods on equal terms, and compare them')
        .argument('[question...]', 'one question, in quotes; leave it out with --questions')
        .option('--methods <specs>', 'methods with their settings, separated by commas (docs/methods)', 'gate,react')
        .option('--questions <file>', 'questions with gold SQL, as gate batch run reads them')
        .option('--seeds <n>', 'how often each question is asked by each method, with another seed', positiveInteger, 1)
        .option(
          '--db <database>',
          'for a question as in gate ask, for a file as in gate batch run (repeatable)',
          collect,
        )
        .option('--context <text>', 'background of the one question, such as the date that it refers to')
        .option('--instructions <text>', 'rules that the answer to the one question must follow')
        .option('--model <name>', 'model for all roles, or ROLE=NAME for one (repeatable)', collectModels),
    )
      .option('--max-total-cost <usd>', 'start no further question once all have cost this much', positiveNumber)
      .option('--concurrency <n>', 'how many questions run at the same time', positiveInteger, 8)
      .option('--limit <n>', 'only the first n questions', positiveInteger)
      .option('--ids <ids>', 'only these questions, separated by commas (repeatable)', collect)
      .option('--knowledge', "give each question the file's hidden_knowledge")
      .option('--docs <path>', 'documentation of the databases, as for gate batch run (repeatable)', collectDocs)
      .option('--no-docs', 'use no documentation, not even that of the configuration')
      .addOption(
        new Option(
          '--judge <how>',
          'let a model judge each answer as well, as gate batch judge does; its cost counts towards --max-total-cost',
        ).choices(JUDGE_MODES),
      )
      .option('--judge-model <name>', 'the model that judges (default: models.roles.judge, else the default model)')
      .option('--dry-run', 'check files and databases, estimate the calls and cost of each method, ask nothing')
      .option('--name <name>', 'name of the comparison; another name makes another one (default: of the file)')
      .option('--fresh', 'ask every question again even if it was answered before')
      .option('--json', 'print the comparison as JSON')
      .option('--csv <file>', 'write one line per answer')
      .option('--html <file>', 'write one page with the tables and plots')
      .option('--record <file>', 'write every exchange with the model to this file')
      .addOption(new Option('--replay <file>', 'answer from a recording instead of a model').conflicts('record'))
      .action(async (words: readonly string[], flags: CompareFlags) => {
        const { runCompare } = await import('./compare-run');
        outcome.code = await runCompare(joinedWords(words, io.cwd), flags, io);
      }),
    'gate compare "Which region grew most in 2024?" --db sales --methods gate,gate:paper,react',
    'gate compare --questions questions.jsonl --db sales=./sales.sqlite --methods gate,react --seeds 3 --html table.html',
    'gate compare --questions questions.jsonl --db sales --methods gate,react --judge two-pass --judge-model gpt-5.4',
  );
