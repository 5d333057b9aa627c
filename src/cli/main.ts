#!/usr/bin/env node
/** The command `gate`: runs one command and ends with its exit code. */
import './compile-cache';
import { nodeIo } from './io';
import { run } from './program';

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader of a pipe (`gate list | head`) has seen enough.
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

// Exit at once when done: an open connection or an idle pool must not keep a finished command waiting. What was written
// is flushed first, because a pipe is written to asynchronously.
void run(process.argv.slice(2), nodeIo(process)).then((code) => {
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
});
