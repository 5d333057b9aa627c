/**
 * How the batches of a run share its concurrency. One comes after the other: each leaves to the next what it has no open question
 * for, so all places are in use until the last batch ends, and a batch only ever gets more of them.
 */
export class Places {
  private readonly open: number[];

  /** `open`: open questions of each batch, in their order. */
  constructor(
    private readonly concurrency: number,
    open: readonly number[],
  ) {
    this.open = [...open];
  }

  /** How many questions of this batch may run at the same time, as so many of them are open. */
  of(batch: number, open: number): number {
    this.open[batch] = open;
    return Math.max(
      0,
      this.open.slice(0, batch).reduce((left, before) => left - before, this.concurrency),
    );
  }
}
