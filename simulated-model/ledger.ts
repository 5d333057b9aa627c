/**
 * Every request received and its outcome. Billed means that a completion was sent completely, which is what a provider
 * charges for. So `billed - distinct contents billed` is the number of calls paid again.
 */
import type { Role } from '../src/domain';

export type LedgerRole = Role | 'unclear';

export interface LedgerCounts {
  asked: number;
  /** Completions that were sent completely. */
  billed: number;
  /** Requests that got a deliberate error or no answer. */
  faults: number;
  /** Requests whose client disconnected before the reply was sent. */
  abandoned: number;
}

export interface LedgerReport {
  readonly totals: LedgerCounts & {
    readonly inFlight: number;
    readonly maxInFlight: number;
    readonly distinct: number;
    /** Completions beyond the first for the same content. */
    readonly billedAgain: number;
    readonly promptTokens: number;
    readonly completionTokens: number;
  };
  readonly roles: Readonly<Record<string, LedgerCounts>>;
  readonly contents: Readonly<Record<string, LedgerCounts & { readonly role: string }>>;
  readonly faultKinds: Readonly<Record<string, number>>;
}

const none = (): LedgerCounts => ({ asked: 0, billed: 0, faults: 0, abandoned: 0 });

export class Ledger {
  private readonly contents = new Map<string, LedgerCounts & { role: string }>();
  private readonly faultKinds = new Map<string, number>();
  private inFlight = 0;
  private maxInFlight = 0;
  private promptTokens = 0;
  private completionTokens = 0;

  /** Returns how often the same content was asked before. */
  asked(contentHash: string, role: LedgerRole): number {
    const entry = this.contents.get(contentHash) ?? { role, ...none() };
    this.contents.set(contentHash, entry);
    this.inFlight += 1;
    this.maxInFlight = Math.max(this.maxInFlight, this.inFlight);
    entry.asked += 1;
    return entry.asked - 1;
  }

  ended(contentHash: string, end: 'billed' | 'abandoned' | { readonly fault: string }): void {
    this.inFlight -= 1;
    const entry = this.contents.get(contentHash);
    // The ledger was reset during the request.
    if (entry === undefined) return;
    if (end === 'billed' || end === 'abandoned') entry[end] += 1;
    else {
      entry.faults += 1;
      this.faultKinds.set(end.fault, (this.faultKinds.get(end.fault) ?? 0) + 1);
    }
  }

  tokens(prompt: number, completion: number): void {
    this.promptTokens += prompt;
    this.completionTokens += completion;
  }

  reset(): void {
    this.contents.clear();
    this.faultKinds.clear();
    this.maxInFlight = this.inFlight;
    this.promptTokens = 0;
    this.completionTokens = 0;
  }

  report(): LedgerReport {
    const entries = [...this.contents.values()];
    const roles: Record<string, LedgerCounts> = {};
    for (const { role, ...counts } of entries) roles[role] = sum([roles[role] ?? none(), counts]);
    return {
      totals: {
        ...sum(entries),
        inFlight: this.inFlight,
        maxInFlight: this.maxInFlight,
        distinct: entries.length,
        billedAgain: entries.reduce((total, { billed }) => total + Math.max(0, billed - 1), 0),
        promptTokens: this.promptTokens,
        completionTokens: this.completionTokens,
      },
      roles,
      contents: Object.fromEntries([...this.contents].sort(([a], [b]) => (a < b ? -1 : 1))),
      faultKinds: Object.fromEntries([...this.faultKinds].sort(([a], [b]) => (a < b ? -1 : 1))),
    };
  }
}

function sum(all: readonly LedgerCounts[]): LedgerCounts {
  const total = none();
  for (const { asked, billed, faults, abandoned } of all) {
    total.asked += asked;
    total.billed += billed;
    total.faults += faults;
    total.abandoned += abandoned;
  }
  return total;
}
