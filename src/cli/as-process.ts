/** Runs one command of a program as this process, and ends with its exit code. */
import { setEngineFlags } from '../workers/engine-flags';
import { EXIT } from './exit';
import { nodeIo } from './io';
import { run, type Program } from './program';

export function runAsProcess(program: Program): void {
  setEngineFlags();
  let lost: string | null = null;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // The reader of a pipe (`gate list | head`) has seen enough.
    if (error.code === 'EPIPE') process.exit(0);
    lost = error.code ?? error.message;
  });
  // Nobody reads stderr any more; the command continues without it.
  process.stderr.on('error', () => undefined);
  /** A result that a full disk has cut is no success. */
  const end = (code: number): void => {
    if (lost !== null)
      process.stderr.write(
        `${program.name}: the output cannot be written (${lost}); free space, or write it elsewhere\n`,
      );
    process.stderr.write('', () => process.exit(lost !== null && code === EXIT.ok ? EXIT.failed : code));
  };
  // Exit at once when done: an open connection or an idle pool must not keep a finished command waiting. What was written
  // is flushed first, because a pipe is written to asynchronously.
  void run(process.argv.slice(2), nodeIo(process), program).then((code) => {
    process.stdout.write('', () => setImmediate(() => end(code)));
  });
}
