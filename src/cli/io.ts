/** What a command may touch of its process: streams, environment, working directory, signals. Tests give their own. */
import type { Surroundings } from '../app/surroundings';

export interface Io extends Surroundings {
  /** Results. */
  out(text: string): void;
  /** Everything else: progress, notices, errors. */
  err(text: string): void;
  /** Where events are asked for: they go to stderr, and so does all that `err` is given (`batch-events.ts`). */
  readonly emit?: (event: { readonly event: string }) => void;
  /** A person watches stderr: progress may redraw itself. */
  readonly live: boolean;
  /** A person reads stdout: control characters are made visible. */
  readonly outIsTerminal: boolean;
  readonly columns: number;
  readInput(): Promise<string>;
  /** Calls back on every interrupt until the returned function is called. */
  onInterrupt(listener: () => void): () => void;
}

export function printJson(io: Pick<Io, 'out'>, value: unknown): void {
  io.out(`${JSON.stringify(value, null, 2)}\n`);
}

/** The text of an argument; `-`: standard input. */
export async function argumentText(argument: string, io: Pick<Io, 'readInput'>): Promise<string> {
  return argument === '-' ? io.readInput() : argument;
}

const MOST_BYTES = 4 * 1024 * 1024;

export function nodeIo(process: NodeJS.Process): Io {
  return {
    env: process.env,
    cwd: process.cwd(),
    platform: process.platform,
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    live: process.stderr.isTTY && process.env['TERM'] !== 'dumb' && !process.env['CI'],
    outIsTerminal: process.stdout.isTTY,
    columns: process.stdout.columns || process.stderr.columns || 100,
    now: () => Date.now(),
    readInput: async () => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      for await (const chunk of process.stdin) {
        bytes += chunks[chunks.push(Buffer.from(chunk as Buffer)) - 1]?.length ?? 0;
        // Far beyond every limit: the rest changes nothing.
        if (bytes > MOST_BYTES) break;
      }
      return Buffer.concat(chunks).toString('utf8').replace(/\r\n?/g, '\n');
    },
    onInterrupt: (listener) => {
      const signals = ['SIGINT', 'SIGTERM'] as const;
      for (const signal of signals) process.on(signal, listener);
      return () => {
        for (const signal of signals) process.off(signal, listener);
      };
    },
  };
}
