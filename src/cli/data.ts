/** `gate data`: where the data of benchmarks come from, and whether they are whole; the work is in `data-run.ts`. */
import { Argument, Command } from 'commander';
import { DATA_SOURCES } from '../benchmarks/data-sources';
import { withExamples, type CommandFactory } from './options';
import type { DataFlags } from './data-run';

const nameOf = (): Argument => new Argument('<name>', 'the benchmark').choices(Object.keys(DATA_SOURCES));

export const dataCommand: CommandFactory = (io, outcome) =>
  withExamples(
    new Command('data')
      .description('the data of benchmarks: where they come from, their licence, and whether a folder is whole')
      .addCommand(
        withExamples(
          new Command('list')
            .description('sources, licences, and what has to be asked of each publisher')
            .option('--json', 'print JSON')
            .action(async (flags: DataFlags) => {
              (await import('./data-run')).listData(flags, io);
            }),
          'gate data list',
        ),
      )
      .addCommand(
        withExamples(
          new Command('fetch')
            .description(
              'download what may be downloaded, or copy it from a local folder, unpack it and note its hashes',
            )
            .addArgument(nameOf())
            .option('--dir <folder>', 'where to (default: a folder of that name)')
            .option('--from <folder>', 'a local folder with the data, or with a folder of them; nothing is downloaded')
            .option('--json', 'print JSON')
            .action(async (name: string, flags: DataFlags) => {
              outcome.code = await (await import('./data-run')).fetchData(name, flags, io);
            }),
          'gate data fetch ehrsql2024 --dir ./ehrsql-2024',
          'gate data fetch bird --from ./data --dir ./bird',
        ),
      )
      .addCommand(
        withExamples(
          new Command('check')
            .description('name every file that is missing or not as it was fetched')
            .addArgument(nameOf())
            .option('--dir <folder>', 'where it is (default: a folder of that name)')
            .option('--json', 'print JSON')
            .action(async (name: string, flags: DataFlags) => {
              outcome.code = await (await import('./data-run')).checkData(name, flags, io);
            }),
          'gate data check ehrsql2024 --dir ./ehrsql-2024',
        ),
      ),
    'gate data fetch ehrsql2024 --dir ./ehrsql-2024',
  );
