/** A ceiling for what all searches that a process begins may cost together. */
import { GateError } from '../../app/errors';
import { recordOf } from '../../app/services';
import type { SearchInput } from '../../domain';
import type { ObjectStore } from '../../domain/ports';

export class Spending {
  /** In US dollars: what ended searches cost, and what the others may still cost. */
  readonly #ended = new Map<string, number>();
  readonly #setAside = new Map<string, number>();

  constructor(
    private readonly store: ObjectStore,
    private readonly ceilingUsd: number,
  ) {}

  /** Sets aside what the search may cost; one that was let in before may go on. */
  readonly admit = async ({ searchId, settings }: SearchInput): Promise<void> => {
    if (this.#setAside.has(searchId)) return;
    for (const id of this.#setAside.keys()) {
      const record = await recordOf(this.store, id);
      if (record === null) continue;
      this.#setAside.delete(id);
      this.#ended.set(id, record.usage.costUsd);
    }
    const most = settings.budgets.costUsd ?? this.ceilingUsd;
    const spent = sum(this.#ended) + sum(this.#setAside);
    if (spent + most > this.ceilingUsd)
      throw new GateError(
        `all questions here may cost ${this.ceilingUsd} US dollars together: ${spent.toFixed(2)} are spent or set aside, and this one may cost ${most}; start gate mcp with a higher --budget, or ask for answers that there are`,
        'budget',
      );
    this.#setAside.set(searchId, most);
  };
}

function sum(costs: ReadonlyMap<string, number>): number {
  return [...costs.values()].reduce((total, usd) => total + usd, 0);
}
