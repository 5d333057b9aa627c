/** `gate layer`: the command line of what databases proved; the work is in `layer-run.ts`. */
import { userInfo } from 'node:os';
import { Command } from 'commander';
import type { CommandFactory } from './command';
import type { LayerFlags } from './layer-run';
import { positiveNumber, withExamples } from './options';

const DATABASE = 'a configured name, an SQLite file, or postgresql://… (default: the only configured one)';

export const layerCommand: CommandFactory = (io, outcome) => {
  const action = (name: string, description: string, ...examples: readonly string[]): Command =>
    withExamples(
      new Command(name).description(description).option('--db <database>', DATABASE).option('--json', 'print JSON'),
      ...examples,
    );
  const person = (name: 'confirm' | 'reject', description: string): Command =>
    action(name, description, `gate layer ${name} e3f9 --db shop --note "as the handbook says"`)
      .argument('<entry>', 'id of an entry, or its beginning')
      .option('--note <text>', 'why')
      .option('--as <name>', 'who says it', userInfo().username)
      .action(async (entry: string, flags: LayerFlags) => {
        const { decideEntry } = await import('./layer-run');
        await decideEntry(name === 'confirm' ? 'confirmed' : 'rejected', entry, flags, io);
      });
  const group = new Command('layer')
    .description('what a database proved: conventions with their figures, used by every question (docs/layer.md)')
    .addCommand(
      action('list', 'list the entries with their figures', 'gate layer list --db shop')
        .option('--all', 'also those that are broken, suspended or rejected')
        .action(async (flags: LayerFlags) => (await import('./layer-run')).listEntries(flags, io)),
    )
    .addCommand(
      action('show', 'show an entry: check, rivals, where it comes from', 'gate layer show e3f9 --db shop')
        .argument('<entry>', 'id of an entry, or its beginning')
        .action(async (entry: string, flags: LayerFlags) => (await import('./layer-run')).showEntry(entry, flags, io)),
    )
    .addCommand(
      action('verify', 'run all checks again and say what broke; exit code 1 if one did', 'gate layer verify --db shop')
        .option('--timeout <seconds>', 'at most this many seconds for one check', positiveNumber, 25)
        .action(async (flags: LayerFlags) => {
          outcome.code = await (await import('./layer-run')).verifyLayer(flags, io);
        }),
    )
    .addCommand(
      person('confirm', 'say that an entry is right: one over few rows, or of two that contradict each other'),
    )
    .addCommand(person('reject', 'say that an entry is wrong: it and all that rests on it are used no more'))
    .addCommand(
      action('edit', 'word an entry anew; its check stays', 'gate layer edit e3f9 "Amounts are in cents." --db shop')
        .argument('<entry>', 'id of an entry, or its beginning')
        .argument('<statement>', 'one sentence that says no more than the check counts')
        .option('--note <text>', 'why')
        .option('--as <name>', 'who says it', userInfo().username)
        .action(async (entry: string, statement: string, flags: LayerFlags) =>
          (await import('./layer-run')).editEntry(entry, statement, flags, io),
        ),
    )
    .addCommand(
      action(
        'diff',
        'what differs since a time, or between two databases',
        'gate layer diff --db shop --since 2026-11-01',
        'gate layer diff --db staging --with production',
      )
        .option('--since <time>', 'a date or time (ISO); the layer as it was then comes first')
        .option('--with <database>', 'another database; its layer comes second')
        .action(async (flags: LayerFlags) => (await import('./layer-run')).diffLayers(flags, io)),
    )
    .addCommand(
      action('export', 'the active entries as Markdown, for people', 'gate layer export --db shop > shop.md').action(
        async (flags: LayerFlags) => (await import('./layer-run')).exportLayer(flags, io),
      ),
    );
  return withExamples(group, 'gate layer list --db shop', 'gate layer verify --db shop');
};
