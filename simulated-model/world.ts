/** The data for all roles of the simulated model: the question's gold query, random draws, and error rates. */
import type { Draw } from './draw';
import type { Gold } from './gold';
import type { GoldQuestion } from './questions';
import type { Asked } from './request';

export interface Rates {
  /** Share of questions whose first plan leaves its main operator unresolved, with tests. */
  readonly doubt: number;
  /** Share of wrong readings: in a plan, unnoticed, or in a test without the right one. */
  readonly wrong: number;
  /** Share of probes that decide nothing. */
  readonly inconclusive: number;
  /** Share of doubts whose rival readings give the same rows. */
  readonly immaterial: number;
  /** Share of SQL that fails when it runs. */
  readonly failingSql: number;
}

export const DEFAULT_RATES: Rates = { doubt: 0.5, wrong: 0.2, inconclusive: 0.1, immaterial: 0.1, failingSql: 0 };

export interface World {
  readonly asked: Asked;
  readonly question: GoldQuestion;
  readonly draw: Draw;
  readonly rates: Rates;
  /** A draw from the whole request, for errors that another try can correct. */
  readonly slip: (kind: string) => number;
  gold(): Promise<Gold>;
}

/** `op_rows` belongs to the first derivation, `op_rows_3` to the third. SQL texts are made from this number. */
export function operatorName(kind: 'base' | 'rows' | 'answer', derivation: number): string {
  return derivation === 0 ? `op_${kind}` : `op_${kind}_${derivation + 1}`;
}

export function derivationOf(operator: string): number {
  const number = /_(\d+)$/.exec(operator)?.[1];
  return number === undefined ? 0 : Number(number) - 1;
}
