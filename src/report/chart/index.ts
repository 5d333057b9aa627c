/**
 * The chart of a result as SVG in the page, drawn when the report is written: it needs no script, follows the page's colours,
 * and says in words what it shows. Scales, ticks and shapes come from d3-scale and d3-shape: 0.8 MB installed with all they
 * need, no install script, no DOM. Whole charting libraries measured 19 MB (Vega-Lite) and 64 MB (ECharts), and write styles
 * into their drawings that the page's policy refuses.
 */
import type { AnswerRecord } from '../../domain';
import { markup, type Html } from '../html';
import { counted, cut } from '../printable';
import { drawBars } from './bars';
import { chooseChart, type Bar, type Chart, type Line } from './choose';
import { drawLines, legend, startsAtZero } from './lines';
import { figure } from './marks';

export function chartOf(record: Pick<AnswerRecord, 'columns' | 'rows' | 'truncated'>): Html | null {
  const chart = chooseChart(record);
  return chart === null ? null : markup`${chart.kind === 'bars' ? comparison(chart) : series(chart)}`;
}

function comparison({ along, panels }: Extract<Chart, { kind: 'bars' }>): Html[] {
  return panels.map(({ measure, bars }) => {
    const label = `Bar chart of ${measure} by ${along}: ${extremes(bars)}`;
    return markup`<figure class="chart">
      <figcaption><b>${measure}</b> by ${along}</figcaption>
      ${drawBars(bars, 'wide', label)} ${drawBars(bars, 'narrow', label)}
    </figure>`;
  });
}

function series({ along, scale, by, panels, leftOut }: Extract<Chart, { kind: 'series' }>): Html[] {
  return panels.map(({ measure, lines }) => {
    const label = `Line chart of ${measure} along ${along}: ${lines.map(course).join('; ')}`;
    const notes = [
      ...(startsAtZero(lines) ? [] : ['The axis does not start at zero.']),
      ...(leftOut > 0 ? [`${counted(leftOut, 'row')} without ${along} not drawn.`] : []),
    ];
    return markup`<figure class="chart">
      <figcaption><b>${measure}</b> along ${along}${by !== null && markup`, one line per ${by}`}. ${notes.join(' ')}</figcaption>
      ${by !== null && legend(lines)} ${drawLines({ scale, lines }, 'wide', label)} ${drawLines({ scale, lines }, 'narrow', label)}
    </figure>`;
  });
}

function extremes(bars: readonly Bar[]): string {
  const known = bars.flatMap(({ label, value }) => (value === null ? [] : [{ label, value }]));
  return `${counted(bars.length, 'value')}, ${range(known)}`;
}

function course({ name, points }: Line): string {
  const known = points.flatMap(({ label, y }) => (y === null ? [] : [{ label, value: y }]));
  const from = `from ${points[0]?.label ?? ''} to ${points.at(-1)?.label ?? ''}`;
  return `${name === null ? '' : `${cut(name, 40)}, `}${counted(points.length, 'value')} ${from}, ${range(known)}`;
}

function range(known: readonly { readonly label: string; readonly value: number }[]): string {
  const sorted = [...known].sort((a, b) => a.value - b.value);
  const [low, high] = [sorted[0], sorted.at(-1)];
  if (low === undefined || high === undefined) return 'all NULL';
  return `lowest ${figure(low.value)} (${cut(low.label, 40)}), highest ${figure(high.value)} (${cut(high.label, 40)})`;
}
