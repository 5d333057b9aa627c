/** The kernel of a discrete-event simulation: a clock with a heap of what comes next, and stations at which things wait. */
export type Next = () => void;

export class Clock {
  now = 0;
  readonly #heap: { readonly at: number; readonly order: number; readonly then: Next }[] = [];
  #order = 0;

  after(seconds: number, then: Next): void {
    const heap = this.#heap;
    this.#order += 1;
    let at = heap.push({ at: this.now + seconds, order: this.#order, then }) - 1;
    for (; at > 0 && this.#isBefore(at, (at - 1) >> 1); at = (at - 1) >> 1) this.#swap(at, (at - 1) >> 1);
  }

  run(): void {
    const heap = this.#heap;
    while (heap.length > 0) {
      this.#swap(0, heap.length - 1);
      const event = heap.pop();
      for (let at = 0; ;) {
        let first = 2 * at + 1;
        if (first >= heap.length) break;
        if (first + 1 < heap.length && this.#isBefore(first + 1, first)) first += 1;
        if (!this.#isBefore(first, at)) break;
        this.#swap(at, first);
        at = first;
      }
      this.now = event?.at ?? this.now;
      event?.then();
    }
  }

  /** What was planned first comes first at the same time. */
  #isBefore(a: number, b: number): boolean {
    const [one, other] = [this.#heap[a], this.#heap[b]];
    if (one === undefined || other === undefined) return false;
    return one.at < other.at || (one.at === other.at && one.order < other.order);
  }

  #swap(a: number, b: number): void {
    const [one, other] = [this.#heap[a], this.#heap[b]];
    if (one === undefined || other === undefined) return;
    this.#heap[a] = other;
    this.#heap[b] = one;
  }
}

/** So many may use it at a time; the others wait in the order in which they came. */
export class Station {
  usedSeconds = 0;
  #busy = 0;
  readonly #waiting = new Set<Next>();

  constructor(
    private readonly clock: Clock,
    private readonly size: number,
  ) {}

  take(then: Next): void {
    if (this.#busy === this.size) {
      this.#waiting.add(() => then());
      return;
    }
    this.#busy += 1;
    then();
  }

  give(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#busy -= 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }

  hold(seconds: number, then: Next): void {
    this.usedSeconds += seconds;
    this.take(() =>
      this.clock.after(seconds, () => {
        this.give();
        then();
      }),
    );
  }
}
