/**
 * One transaction, READ ONLY and REPEATABLE READ, that always ends by ROLLBACK (design §7).
 *
 * 1. Its beginning is sent together with what it is for (`batch.ts`), and its settings with the beginning.
 * 2. Its end is not waited for: whoever has the connection next is served after it; or it is sent along with the last
 *    step. A session that fails to end one is not used again.
 */
import { sendBatch, StepFailed, type Answer, type Step } from './batch';
import type { GateClient } from './connection';
import { OTHER_SESSION, settingsOf, type SessionSettings } from './settings';

/** A page of rows larger than this costs its connection, whatever it is made of. */
export const MAX_PAGE_BYTES = 128 * 1024 * 1024;

const BEGIN = 'BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY';
/** Also gives back what a session keeps beyond its transactions. */
const END = ['ROLLBACK', 'SELECT pg_catalog.pg_advisory_unlock_all()', 'DEALLOCATE ALL'];

const statement = (text: string): Step => ({ kind: 'statement', text });

export class Transaction {
  /** What begins it, until that is sent. */
  #beginning: readonly Step[];
  #ended = false;

  constructor(
    readonly client: GateClient,
    settings: SessionSettings,
    /** With one statement only there is nothing to keep its failure from. */
    readonly lone = false,
  ) {
    const texts = [BEGIN, settingsOf(client, settings), ...(lone ? [] : ['SAVEPOINT gate'])];
    this.#beginning = texts.map(statement);
  }

  /** Begins, where nothing was sent yet. */
  async open(): Promise<void> {
    if (this.#beginning.length > 0) await this.send([]);
    this.client.allowBytes(Number.POSITIVE_INFINITY); // what the engine itself asks is not a page of a statement
  }

  /**
   * `last`: ends with these steps, if they succeed. A failure of the beginning throws what the server reported; one of the
   * steps a `StepFailed`.
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

  /** As it was before the last statement, cursor included. Not waited for: what follows is sent behind it. */
  undo(): void {
    // After a lost connection it fails, and the first error is the one to report.
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

/** One whose statements may be sent past every parser, for the engine's own. */
export async function begin(client: GateClient, settings: SessionSettings): Promise<void> {
  await new Transaction(client, settings).open();
}
