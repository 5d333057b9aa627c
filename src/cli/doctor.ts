/** `gate doctor`: what is configured, reachable and missing, each with its fix. */
import { EXIT } from './exit';
import { commandOf, type CommandFactory } from './options';

export const doctorCommand: CommandFactory = (io, outcome) =>
  commandOf(
    'doctor',
    'check what is configured, reachable and missing, and say how to fix it',
    'gate doctor',
    'gate doctor --call --db ./shop.sqlite',
  )
    .option('--db <database>', 'check this database too: a file, a folder of data files or a URL')
    .option('--call', 'also make one tiny model call (costs a fraction of a cent)')
    .option('--json', 'print JSON')
    .action(async (flags: { db?: string; call?: boolean; json?: boolean }) => {
      const { examine } = await import('../app/doctor');
      const findings = await examine(io, { call: flags.call ?? false, db: flags.db });
      if (findings.some(({ state }) => state === 'missing')) outcome.code = EXIT.failed;
      if (flags.json) {
        io.out(`${JSON.stringify(findings, null, 2)}\n`);
        return;
      }
      const width = Math.max(...findings.map(({ what }) => what.length));
      for (const { what, state, detail, fix } of findings) {
        io.out(`${state.padEnd(7)}  ${what.padEnd(width)}  ${detail}\n`);
        if (fix !== null) io.out(`${' '.repeat(9 + width + 2)}fix: ${fix}\n`);
      }
    });
