/** What every role of the simulated model works with: the question's gold, chance, and how often it errs. */
import type { Draw } from './draw';
import type { Gold } from './gold';
import type { GoldQuestion } from './questions';
import type { Asked } from './request';

export interface Rates {
  /** Questions whose first plan leaves its core open, as a mapping with tests. */
  readonly doubt: number;
  /** Readings taken wrongly: in a plan without noticing, or a test that lacks the right one. */
  readonly wrong: number;
  /** Probes that decide nothing. */
  readonly inconclusive: number;
  /** Doubts whose rival readings give the same rows. */
  readonly immaterial: number;
  /** SQL that fails when it runs. */
  readonly failingSql: number;
}

export const DEFAULT_RATES: Rates = { doubt: 0.5, wrong: 0.2, inconclusive: 0.1, immaterial: 0.1, failingSql: 0 };

export interface World {
  readonly asked: Asked;
  readonly question: GoldQuestion;
  readonly draw: Draw;
  readonly rates: Rates;
  /** Chance that hangs on the whole request, for slips that a repeated try mends. */
  readonly slip: (kind: string) => number;
  gold(): Promise<Gold>;
}

/** `op_rows` is of the first derivation, `op_rows_3` of the third; the number is what SQL texts are made from. */
export function operatorName(kind: 'base' | 'rows' | 'answer', derivation: number): string {
  return derivation === 0 ? `op_${kind}` : `op_${kind}_${derivation + 1}`;
}

export function derivationOf(operator: string): number {
  const number = /_(\d+)$/.exec(operator)?.[1];
  return number === undefined ? 0 : Number(number) - 1;
}
