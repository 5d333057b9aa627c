/** A ceiling for what all searches that a process begins may cost together. */
import { GateError } from '../../app/errors';
import type { App } from '../../app/app';
import { recordOf } from '../../app/services';
import type { SearchInput } from '../../domain';

export class Spending {
  /** In US dollars: what ended searches cost, and what the others may still cost. */
  readonly #ended = new Map<string, number>();
  readonly #setAside = new Map<string, number>();

  constructor(private readonly ceilingUsd: number) {}

  /** Sets aside what the search may cost; one that was let in before may go on. */
  async admit({ searchId, settings }: SearchInput, { store }: Pick<App, 'store'>): Promise<void> {
    if (this.#setAside.has(searchId)) return;
    for (const id of this.#setAside.keys()) {
      const record = await recordOf(store, id);
      if (record === null) continue;
      this.#setAside.delete(id);
      this.#ended.set(id, record.usage.costUsd);
    }
    const most = settings.budgets.costUsd ?? this.ceilingUsd;
    const spent = sum(this.#ended) + sum(this.#setAside);
    if (spent + most > this.ceilingUsd)
      throw new GateError(
        `all questions here may cost ${this.ceilingUsd} US dollars together: ${spent.toFixed(2)} are spent or set aside, and this one may cost ${most}; start gate mcp with a higher --budget, or ask for answers that there are`,
      );
    this.#setAside.set(searchId, most);
  }
}

function sum(costs: ReadonlyMap<string, number>): number {
  return [...costs.values()].reduce((total, usd) => total + usd, 0);
}
