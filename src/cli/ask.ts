/** `gate ask`: the command line of a question; the work is in `ask-run.ts`, which only runs when it is needed. */
import { Command, Option } from 'commander';
import type { AskFlags } from './ask-run';
import { addSearchOptions, collectDocs, csvOption, withExamples } from './options';
import type { CommandFactory } from './command';
import { joinedWords } from './question-words';

export const askCommand: CommandFactory = (io, outcome) =>
  withExamples(
    addSearchOptions(
      new Command('ask')
        .description('answer a question, with the evidence for every assumption')
        .argument(
          '<question...>',
          'what to ask: at most 8,000 characters, best in quotes; - reads it from standard input',
        )
        .option(
          '--db <database>',
          'a configured name, an SQLite file, or postgresql://… (default: the only configured one)',
        )
        .option(
          '--context <text>',
          'background, such as the date that the question refers to (with --instructions at most 32,000 characters)',
        )
        .option('--instructions <text>', 'rules that the answer must follow')
        .option(
          '--docs <path>',
          'documentation of the database: text, Markdown, CSV column descriptions, dbt schema.yml, or a folder of them (repeatable; default: "docs" of the database in the configuration)',
          collectDocs,
        )
        .option('--no-docs', 'use no documentation, not even that of the configuration')
        .addOption(
          new Option('--output <mode>', 'answer in words with the SQL, or the SQL alone')
            .choices(['answer', 'sql'])
            .default('answer'),
        ),
    )
      .option('--web', 'let the search also look things up on the web (docs/web.md)')
      .option('--detach', 'return at once; a server and a worker keep running in the background')
      .option('--fresh', 'search again even if the same question was answered before')
      .option('--json', 'print the final record as JSON')
      .addOption(csvOption().conflicts(['json', 'detach']))
      .option('--record <file>', 'write every exchange with the model to this file')
      .addOption(new Option('--replay <file>', 'answer from a recording instead of a model').conflicts('record'))
      .action(async (words: readonly string[], flags: AskFlags) => {
        const { runAsk } = await import('./ask-run');
        outcome.code = await runAsk(joinedWords(words, io.cwd), flags, io);
      }),
    'gate ask "How many orders came in last week?" --db ./shop.sqlite',
    'gate ask "Which region grew most in 2024?" --db sales --preset thorough --max-cost 3',
    'gate ask "…" --db postgresql://reader@localhost/sales --detach',
  );
