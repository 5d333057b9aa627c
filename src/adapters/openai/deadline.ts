/** The caller's signal and a time limit in one, without leaving a listener behind on a signal that outlives the call. */
export class Deadline {
  private readonly controller = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private readonly onAbort = () => this.controller.abort();
  passed = false;

  constructor(
    timeoutMs: number,
    private readonly outer: AbortSignal,
  ) {
    outer.addEventListener('abort', this.onAbort, { once: true });
    this.timer = setTimeout(() => {
      this.passed = true;
      this.controller.abort();
    }, timeoutMs);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  clear(): void {
    clearTimeout(this.timer);
    this.outer.removeEventListener('abort', this.onAbort);
  }
}
