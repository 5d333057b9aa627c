/** A comparison as bars: always from zero, in the order of the rows, each with its figure. */
import { scaleBand, scaleLinear } from 'd3-scale';
import { markup, type Html } from '../html';
import type { Bar } from './choose';
import { figure, fitting, room, round, WIDTHS, type Width } from './marks';

const ROW = 27;
const WIDE = 10;

export function drawBars(bars: readonly Bar[], width: Width, label: string): Html {
  const total = WIDTHS[width];
  const height = bars.length * ROW + 4;
  const longest = Math.max(...bars.map((bar) => room(bar.label)));
  // Short labels may be all wide letters.
  const left = Math.min(longest, total * 0.36) + 8 + WIDE;
  const right = Math.max(...bars.map(({ value }) => room(value === null ? 'NULL' : figure(value)))) + 8;
  const values = bars.map(({ value }) => value ?? 0);
  const x = scaleLinear([Math.min(0, ...values), Math.max(0, ...values)], [left, total - right]);
  const y = scaleBand(bars.map((_, at) => at), [0, height]).padding(0.28); // prettier-ignore
  const zero = x(0);
  return markup`<svg class="${width}" viewBox="0 0 ${total} ${height}" role="img" aria-label="${label}">
    ${bars.map((bar, at) => {
      const end = x(bar.value ?? 0);
      const top = y(at) ?? 0;
      const middle = round(top + y.bandwidth() / 2 + 4);
      return markup`<g>
        <title>${bar.label}: ${bar.value === null ? 'NULL' : figure(bar.value)}</title>
        <text class="label" x="${round(left - 8)}" y="${middle}" text-anchor="end">${fitting(bar.label, left - 8 - WIDE)}</text>
        <rect class="f1" x="${round(Math.min(zero, end))}" y="${round(top)}" width="${round(Math.abs(end - zero))}" height="${round(y.bandwidth())}" />
        <text class="value" x="${round(Math.max(zero, end) + 6)}" y="${middle}">${bar.value === null ? 'NULL' : figure(bar.value)}</text>
      </g>`;
    })}
    <line class="axis" x1="${round(zero)}" x2="${round(zero)}" y1="0" y2="${height}" />
  </svg>`;
}
