/** What both kinds of chart share: figures and labels as text, and how much room they take. */
import { clip } from '../../text/clip';
import { visible } from '../printable';

/** Two drawings of each chart stand in the page, one for each width: text that is scaled down cannot be read. */
export const WIDTHS = { wide: 760, narrow: 340 } as const;
export type Width = keyof typeof WIDTHS;

export function figure(value: number): string {
  if (value !== 0 && (Math.abs(value) < 0.01 || Math.abs(value) >= 1e15)) return String(Number(value.toPrecision(3)));
  return value.toLocaleString('en-US', { maximumFractionDigits: Math.abs(value) < 10 ? 3 : 2 });
}

/** Of 12-pixel sans-serif text, on the safe side. */
export function room(text: string): number {
  return text.length * 7;
}

export function fitting(text: string, pixels: number): string {
  const shown = visible(text).replace(/\s+/g, ' ');
  const most = Math.max(3, Math.floor(pixels / 7));
  return shown.length <= most ? shown : `${clip(shown, most - 1)}…`;
}

/** A coordinate: tenths of a pixel are enough. */
export function round(value: number): number {
  return Math.round(value * 10) / 10;
}
