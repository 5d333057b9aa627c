/** `gate audit`: the command line; the work is in `audit-run.ts`. */
import { Argument, Command } from 'commander';
import type { AuditFlags, DecideFlags } from './audit-run';
import { addJudgeOptions, withExamples, type CommandFactory } from './options';

/** The same as in `record/audit-store.ts`, which `--help` does not load. */
const DECISIONS = ['contradiction', 'consistent'];

const work = () => import('./audit-run');

export const auditCommand: CommandFactory = (io, outcome) =>
  withExamples(
    new Command('audit')
      .description('how consistent the grounding updates of stored searches are (docs/judging.md)')
      .addCommand(updates(io, outcome))
      .addCommand(decide(io, outcome)),
    'gate audit updates results/ --judge',
    'gate audit decide p-3f9a consistent --note "the two codes are of other years"',
  );

const updates: CommandFactory = (io, outcome) =>
  withExamples(
    addJudgeOptions(
      new Command('updates')
        .description('count updates, their reuse, and the pairs of one search that read a common table')
        .argument('<what...>', 'the --out folder of a batch, a batch id (b-…), search ids, or last')
        .option('--judge', 'let a model judge whether the two updates of each such pair contradict each other'),
    )
      .option('--html <file>', 'also write the figures and the flagged pairs, side by side, as a page')
      .option('--json', 'print everything as JSON'),
    'gate audit updates b-3f9a --judge --model gpt-5.4 --html audit.html',
    'gate audit updates last --json',
  ).action(async (what: readonly string[], flags: AuditFlags) => {
    outcome.code = await (await work()).auditUpdates(what, flags, io);
  });

const decide: CommandFactory = (io) =>
  withExamples(
    new Command('decide')
      .description('say whether a flagged pair is a contradiction; later audits count it')
      .argument('<pair>', 'id of a pair that gate audit updates --judge showed, or its beginning')
      .addArgument(new Argument('<decision>', 'what it is').choices(DECISIONS))
      .option('--note <text>', 'why')
      .option('--author <name>', 'who says it (default: your user name)')
      .option('--json', 'print the decision as JSON'),
    'gate audit decide p-3f9a contradiction --note "eosinophils of blood and of sputum"',
  ).action(async (pair: string, decision: string, flags: DecideFlags) =>
    (await work()).decidePair(pair, decision, flags, io),
  );
