/** Lines at the bottom of a terminal that redraw themselves in place, with others that stay printed above them. */
import type { Io } from './io';

export interface LiveLines {
  /** A line that stays. */
  readonly note: (line: string) => void;
  readonly stop: () => void;
}

/** `lines` have to fit the width of the terminal, or the next drawing starts too low. */
export function liveLines(io: Pick<Io, 'err'>, everyMs: number, lines: () => readonly string[]): LiveLines {
  let height = 0;
  // From the first column: an interrupt has left `^C` where the cursor was.
  const erase = (): string => (height === 0 ? '' : `\r\u001b[${height}A\u001b[0J`);
  const draw = (above = ''): void => {
    const drawn = lines();
    io.err(`${erase()}${above}${drawn.join('\n')}\n`);
    height = drawn.length;
  };
  const timer = setInterval(draw, everyMs);
  draw();
  return {
    note: (line) => draw(`${line}\n`),
    stop: () => {
      clearInterval(timer);
      io.err(erase());
      height = 0;
    },
  };
}
