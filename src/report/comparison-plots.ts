/** Accuracy against calls, and differences in accuracy, each with its intervals: SVG without scripts. */
import { scaleLinear } from 'd3-scale';
import type { ComparedMethod, Estimate } from '../questions';
import { accuracyText, decided, differenceText } from './comparison-figures';
import { placeLabels } from './chart/labels';
import { figure, fitting, room, round, WIDTHS, type Width } from './chart/marks';
import { markup, type Html } from './html';

const HEIGHT = { wide: 340, narrow: 280 } as const;
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
    ${legend(placed)} ${scatter(placed, 'wide', label)} ${scatter(placed, 'narrow', label)}
  </figure>`;
}

/** What stands for a method in a plot, by its place among all of them. */
export const letterOf = (at: number): string => String.fromCharCode(65 + at);

export function legend(methods: readonly Pick<Placed, 'letter' | 'method'>[]): Html {
  return markup`<ul class="legend">
    ${methods.map(({ letter, method }) => markup`<li><b>${letter}</b> ${method}</li>`)}
  </ul>`;
}

const byJudge = (methods: readonly ComparedMethod[]): string =>
  methods.some(({ judged }) => judged !== undefined) ? ', by the judge' : '';

function scatter(placed: readonly Placed[], width: Width, label: string): Html {
  const [total, height] = [WIDTHS[width], HEIGHT[width]];
  const x = scaleLinear([0, Math.max(1, ...placed.map(({ calls }) => calls.high))], [48, total - 24]).nice();
  const y = scaleLinear([0, 1], [height - 44, 26]);
  const labels = placeLabels(
    placed.map(({ letter, calls, accuracy }) => ({ text: letter, x: x(calls.value), y: y(accuracy.value) })),
    { left: 48, right: total, top: 0, bottom: height - 44 },
  );
  return markup`<svg class="${width}" viewBox="0 0 ${total} ${height}" role="img" aria-label="${label}">
    ${y
      .ticks(5)
      .map(
        (tick) =>
          markup`<line class="${tick === 0 ? 'axis' : 'grid'}" x1="48" x2="${total - 24}" y1="${round(y(tick))}" y2="${round(y(tick))}" /><text x="40" y="${round(y(tick) + 4)}" text-anchor="end">${Math.round(100 * tick)} %</text>`,
      )}
    ${x
      .ticks(width === 'wide' ? 8 : 4)
      .map(
        (tick) =>
          markup`<line class="axis" x1="${round(x(tick))}" x2="${round(x(tick))}" y1="${height - 44}" y2="${height - 40}" /><text x="${round(x(tick))}" y="${height - 26}" text-anchor="middle">${figure(tick)}</text>`,
      )}
    <text x="${round((48 + total - 24) / 2)}" y="${height - 6}" text-anchor="middle">model calls of a question</text>
    ${placed.map(
      ({ method, colour, accuracy, calls }) =>
        markup`<g><title>${method}: ${accuracyText(accuracy)}, ${calls.value.toFixed(1)} calls</title><line class="line s${colour}" x1="${round(x(calls.value))}" x2="${round(x(calls.value))}" y1="${round(y(accuracy.low))}" y2="${round(y(accuracy.high))}" /><line class="line s${colour}" x1="${round(x(calls.low))}" x2="${round(x(calls.high))}" y1="${round(y(accuracy.value))}" y2="${round(y(accuracy.value))}" /><circle class="f${colour}" cx="${round(x(calls.value))}" cy="${round(y(accuracy.value))}" r="5" /></g>`,
    )}
    ${labels.map((label) => markup`<text class="label mark" x="${round(label.x)}" y="${round(label.y)}">${label.text}</text>`)}
  </svg>`;
}

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
    ${forest(rows, 'wide', label)} ${forest(rows, 'narrow', label)}
  </figure>`;
}

const ROW = 30;

function forest(
  rows: readonly { readonly method: string; readonly difference: Estimate }[],
  width: Width,
  label: string,
): Html {
  const [total, height] = [WIDTHS[width], rows.length * ROW + 34];
  const left = Math.min(total / 2.6, Math.max(...rows.map(({ method }) => room(method))) + 12);
  const ends = rows.flatMap(({ difference: { low, high } }) => [100 * low, 100 * high]);
  const x = scaleLinear([Math.min(-1, ...ends), Math.max(1, ...ends)], [left, total - 24]).nice();
  return markup`<svg class="${width}" viewBox="0 0 ${total} ${height}" role="img" aria-label="${label}">
    ${x
      .ticks(width === 'wide' ? 8 : 4)
      .map(
        (tick) =>
          markup`<line class="${tick === 0 ? 'axis' : 'grid'}" x1="${round(x(tick))}" x2="${round(x(tick))}" y1="4" y2="${height - 26}" /><text x="${round(x(tick))}" y="${height - 8}" text-anchor="middle">${figure(tick)}</text>`,
      )}
    ${rows.map(({ method, difference: { value, low, high } }, at) => {
      const y = at * ROW + 20;
      return markup`<g><title>${method}: ${differenceText({ value, low, high, questions: 0 })}</title><text class="label" x="0" y="${y + 4}">${fitting(method, left - 8)}</text><line class="line s1" x1="${round(x(100 * low))}" x2="${round(x(100 * high))}" y1="${y}" y2="${y}" /><circle class="f1" cx="${round(x(100 * value))}" cy="${y}" r="5" /></g>`;
    })}
  </svg>`;
}
