/**
 * One transaction, READ ONLY and REPEATABLE READ, that always ends by ROLLBACK (design §7).
 *
 * 1. BEGIN and the settings are sent together with the first steps (`batch.ts`).
 * 2. The end is not awaited, because the server handles it before whatever is sent next; or it is sent together with the
 *    last step. A connection on which it fails is not used again.
 */
import { sendBatch, StepFailed, type Answer, type Step } from './batch';
import type { GateClient } from './connection';
import { OTHER_SESSION, settingsOf, type SessionSettings } from './settings';

/** A page of rows larger than this closes the connection. */
export const MAX_PAGE_BYTES = 128 * 1024 * 1024;

const BEGIN = 'BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY';
/** Also releases what outlives a transaction: advisory locks and prepared statements. */
const END = ['ROLLBACK', 'SELECT pg_catalog.pg_advisory_unlock_all()', 'DEALLOCATE ALL'];

const statement = (text: string): Step => ({ kind: 'statement', text });

export class Transaction {
  /** The steps that begin it; empty once they are sent. */
  #beginning: readonly Step[];
  #ended = false;

  constructor(
    readonly client: GateClient,
    settings: SessionSettings,
    /** The transaction has one statement only, so it needs no savepoint. */
    readonly lone = false,
  ) {
    const texts = [BEGIN, settingsOf(client, settings), ...(lone ? [] : ['SAVEPOINT gate'])];
    this.#beginning = texts.map(statement);
  }

  /** Sends BEGIN, if that has not been sent yet. */
  async open(): Promise<void> {
    if (this.#beginning.length > 0) await this.send([]);
    this.client.allowBytes(Number.POSITIVE_INFINITY); // the engine's own queries have no limit
  }

  /**
   * `last`: the transaction ends after these steps, if they succeed. Throws the server's error if BEGIN or the settings
   * fail, `StepFailed` if a step does.
   */
  async send(steps: readonly Step[], last = false): Promise<Answer> {
    const first = this.#beginning;
    this.#beginning = [];
    this.client.allowBytes(MAX_PAGE_BYTES);
    try {
      const answer = await sendBatch(this.client, [...first, ...steps, ...(last ? END.map(statement) : [])]);
      this.#ended = last;
      return first.length === 0 ? answer : { ...answer, printed: answer.printed.slice(first.length) };
    } catch (error) {
      if (!(error instanceof StepFailed)) throw error;
      if (error.step < first.length) throw beginningFailed(error.reason);
      const step = error.step - first.length;
      if (step < steps.length) throw new StepFailed(step, error.reason, error.answer);
      this.#ended = true;
      this.client.disconnect();
      return error.answer;
    }
  }

  /** Rolls back to before the last statement, cursor included. Not awaited: later queries are queued after it. */
  undo(): void {
    // It fails only after a lost connection, which was reported already.
    if (!this.lone) this.client.query('ROLLBACK TO SAVEPOINT gate').catch(() => undefined);
  }

  end(): void {
    if (this.#ended || this.#beginning.length > 0) return;
    this.client.query(END.join('; ')).catch(() => this.client.disconnect());
  }
}

function beginningFailed(reason: unknown): unknown {
  if ((reason as { code?: string }).code !== OTHER_SESSION) return reason;
  return new Error('the connection was given another session: run it again', { cause: reason });
}
