/** Accuracy against calls, and differences in accuracy, each with its intervals: SVG without scripts. */
import { scaleLinear } from 'd3-scale';
import type { ComparedMethod, Estimate } from '../questions';
import { accuracyText, decided, differenceText } from './comparison-figures';
import { drawing, figure, fitting, heightTick, line, placeTick, room, round, WIDTH } from './chart';
import { markup, type Html } from './html';

const HEIGHT = 340;
/** The style sheet has so many colours; letters tell the methods apart. */
const COLOURS = 5;

interface Placed {
  readonly letter: string;
  readonly method: string;
  readonly colour: number;
  readonly accuracy: Estimate;
  readonly calls: Estimate;
}

/** null: fewer than one method was judged. */
export function accuracyPlot(methods: readonly ComparedMethod[]): Html | null {
  const placed = methods.flatMap((one, at): Placed[] => {
    const { accuracy } = decided(one);
    const { method, perQuestion } = one;
    if (accuracy === null || perQuestion.calls === null) return [];
    const [letter, colour] = [letterOf(at), (at % COLOURS) + 1];
    return [{ letter, method, colour, accuracy, calls: perQuestion.calls }];
  });
  if (placed.length === 0) return null;
  const label = placed
    .map(({ method, accuracy, calls }) => `${method} ${accuracyText(accuracy)} with ${calls.value.toFixed(1)} calls`)
    .join('; ');
  return markup`<figure class="chart">
    <figcaption><b>Accuracy against model calls of a question</b>${byJudge(methods)}, with 95 % intervals</figcaption>
    ${legend(placed)} ${scatter(placed, label)}
  </figure>`;
}

/** The letter of a method in a plot, by its place among all of them. */
const letterOf = (at: number): string => String.fromCharCode(65 + at);

function legend(methods: readonly Pick<Placed, 'letter' | 'method'>[]): Html {
  return markup`<ul class="legend">
    ${methods.map(({ letter, method }) => markup`<li><b>${letter}</b> ${method}</li>`)}
  </ul>`;
}

const byJudge = (methods: readonly ComparedMethod[]): string =>
  methods.some(({ judged }) => judged !== undefined) ? ', by the judge' : '';

/** Nearer than this, points cover each other and share a label. */
const SAME = 6;

function scatter(placed: readonly Placed[], label: string): Html {
  const bottom = HEIGHT - 44;
  const x = scaleLinear([0, Math.max(1, ...placed.map(({ calls }) => calls.high))], [48, WIDTH - 24]).nice();
  const y = scaleLinear([0, 1], [bottom, 26]);
  const points = placed.map((one) => ({ ...one, x: x(one.calls.value), y: y(one.accuracy.value) }));
  const near = (one: (typeof points)[number]) =>
    points.filter((other) => Math.hypot(one.x - other.x, one.y - other.y) <= SAME);
  return drawing(HEIGHT, label, [
    ...y.ticks(5).map((tick) => heightTick(tick === 0, y(tick), 48, `${Math.round(100 * tick)} %`, WIDTH - 24)),
    ...x.ticks(8).map((tick) => placeTick(x(tick), bottom, figure(tick))),
    markup`<text x="${round((24 + WIDTH) / 2)}" y="${HEIGHT - 6}" text-anchor="middle">model calls of a question</text>`,
    ...points.map(
      (one) =>
        markup`<g><title>${one.method}: ${accuracyText(one.accuracy)}, ${one.calls.value.toFixed(1)} calls</title>${line(`line s${one.colour}`, [one.x, y(one.accuracy.low)], [one.x, y(one.accuracy.high)])}${line(`line s${one.colour}`, [x(one.calls.low), one.y], [x(one.calls.high), one.y])}<circle class="f${one.colour}" cx="${round(one.x)}" cy="${round(one.y)}" r="5" /></g>`,
    ),
    ...points.map((one) => {
      const group = near(one);
      if (group[0] !== one) return markup``;
      const text = group.map(({ letter }) => letter).join(', ');
      const isRight = one.x + 8 + room(text) > WIDTH;
      return markup`<text class="label mark" x="${round(one.x + (isRight ? -8 : 8))}" y="${round(one.y - 7)}"${isRight && END}>${text}</text>`;
    }),
  ]);
}

const END = markup` text-anchor="end"`;

/** null: there is nothing to compare. */
export function differencePlot(methods: readonly ComparedMethod[]): Html | null {
  const [first] = methods;
  const rows = methods.flatMap((one, at) => {
    const { difference } = decided(one);
    return difference === null ? [] : [{ method: `${letterOf(at)} ${one.method}`, difference }];
  });
  if (first === undefined || rows.length === 0) return null;
  const label = rows.map(({ method, difference }) => `${method} ${differenceText(difference)}`).join('; ');
  return markup`<figure class="chart">
    <figcaption>
      <b>Accuracy less that of ${first.method}</b>${byJudge(methods)}, in percentage points, paired by question, with 95 % intervals
    </figcaption>
    ${forest(rows, label)}
  </figure>`;
}

const ROW = 30;

function forest(rows: readonly { readonly method: string; readonly difference: Estimate }[], label: string): Html {
  const height = rows.length * ROW + 34;
  const left = Math.min(WIDTH / 2.6, Math.max(...rows.map(({ method }) => room(method))) + 12);
  const ends = rows.flatMap(({ difference: { low, high } }) => [100 * low, 100 * high]);
  const x = scaleLinear([Math.min(-1, ...ends), Math.max(1, ...ends)], [left, WIDTH - 24]).nice();
  return drawing(height, label, [
    ...x
      .ticks(8)
      .map(
        (tick) =>
          markup`${line(tick === 0 ? 'axis' : 'grid', [x(tick), 4], [x(tick), height - 26])}<text x="${round(x(tick))}" y="${height - 8}" text-anchor="middle">${figure(tick)}</text>`,
      ),
    ...rows.map(({ method, difference }, at) => {
      const { value, low, high } = difference;
      const y = at * ROW + 20;
      return markup`<g><title>${method}: ${differenceText(difference)}</title><text class="label" x="0" y="${y + 4}">${fitting(method, left - 8)}</text>${line('line s1', [x(100 * low), y], [x(100 * high), y])}<circle class="f1" cx="${round(x(100 * value))}" cy="${y}" r="5" /></g>`;
    }),
  ]);
}
