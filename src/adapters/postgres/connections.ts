/**
 * A small pool of connections, each lent to one run in a transaction of its own.
 *
 * 1. There are never more than `poolSize` connections. Callers wait for one until their signal ends the wait.
 * 2. An abort cancels the statement on the server. The connection is dropped then, and after every error.
 */
import { Pool, type ClientConfig, type PoolClient } from 'pg';
import type { SqlOptions } from '../../ports/sql-engine';
import { limiter, type Limiter } from '../../limiter';
import {
  cancelStatement,
  GateClient,
  hearOut,
  readAddress,
  type Address,
  type Cancelling,
  type Target,
} from './connection';
import { toConnectError, toEngineError } from './errors';
import { Lost } from './session';
import { settle, type SessionSettings, Transaction } from './transaction';

/** How long after the time limit a statement is cancelled from here, if the server's own statement_timeout fails. */
const CANCEL_AFTER_MS = 1_000;

type Limits = Pick<SqlOptions, 'timeoutMs' | 'signal' | 'tag'>;
type Use<T> = (transaction: Transaction, lent: Lent) => Promise<T>;

export class Connections {
  readonly #address: Address;
  readonly #pool: Pool;
  readonly #places: Limiter;

  constructor(
    url: string,
    private readonly settings: Pick<SessionSettings, 'role' | 'schemas'>,
    { poolSize, connectTimeoutMs }: { readonly poolSize: number; readonly connectTimeoutMs: number },
  ) {
    this.#address = readAddress(url, connectTimeoutMs);
    this.#places = limiter(poolSize);
    this.#pool = new Pool({
      ...this.#address.config,
      Client: GateClient,
      max: poolSize,
      idleTimeoutMillis: 30_000,
      allowExitOnIdle: true,
    });
    // An idle connection that the server closed leaves the pool by itself; without a listener it would end the process.
    this.#pool.on('error', () => undefined);
  }

  get target(): Target {
    return this.#address.target;
  }

  /** One read-only transaction. `lone`: it has one statement only. */
  async inTransaction<T>(limits: Limits, use: Use<T>, lone = false): Promise<T> {
    return this.#places.run(async () => this.#lend(await this.#connect(), limits, use, lone), limits.signal);
  }

  close(): Promise<void> {
    return this.#pool.end();
  }

  #connect(): Promise<PoolClient> {
    return connected(this.#address, ({ ssl }) => {
      if (ssl === false) this.#pool.options.ssl = false;
      return this.#pool.connect();
    });
  }

  async #lend<T>(pooled: PoolClient, limits: Limits, use: Use<T>, lone: boolean): Promise<T> {
    const { timeoutMs, signal, tag } = limits;
    const client = pooled as unknown as GateClient;
    const onError = (): void => undefined; // the waiting query reports a lost connection
    client.on('error', onError);
    const lent = new Lent(client, this.#address.config, timeoutMs, lone);
    signal.addEventListener('abort', lent.stop, { once: true });
    try {
      signal.throwIfAborted();
      const settings = { timeoutMs, tag, ...this.settings };
      if (client.settled === null) await settle(client, settings);
      const transaction = new Transaction(client, settings, lone);
      const value = await use(transaction, lent);
      signal.throwIfAborted();
      transaction.end();
      return value;
    } catch (error) {
      lent.drop();
      signal.throwIfAborted();
      if (error instanceof Lost) throw error;
      throw toEngineError(error, this.target);
    } finally {
      signal.removeEventListener('abort', lent.stop);
      if (!lent.isDropped) client.off('error', onError);
      pooled.release(lent.isDropped);
    }
  }
}

/** A connection while it is lent. */
export class Lent {
  isDropped = false;

  constructor(
    private readonly client: GateClient,
    private readonly config: ClientConfig,
    private readonly timeoutMs: number,
    private readonly lone: boolean,
  ) {}

  /** The connection is not used again. */
  drop(): void {
    this.isDropped = true;
  }

  /** Cancels the statement. A late request would stop another caller's, so the connection is dropped. */
  readonly stop = (): Cancelling => {
    this.drop();
    return cancelStatement(this.config, this.client);
  };

  /** Stops the statement that `run` waits for, if the server does not. */
  async watch<T>(run: () => Promise<T>): Promise<T> {
    const told: Cancelling[] = [];
    const timer = setTimeout(() => told.push(this.stop()), this.timeoutMs + CANCEL_AFTER_MS);
    return run().finally(async () => {
      clearTimeout(timer);
      for (const { spare, taken } of told) {
        spare(); // keep the connection for the later statements of the run
        await taken;
        if (!this.lone) await hearOut(this.client);
      }
    });
  }
}

/** Connects, without TLS where the server offers none and the URL allows that. */
export async function connected<T>(
  { config, target, plainAllowed }: Address,
  connect: (config: ClientConfig) => Promise<T>,
): Promise<T> {
  try {
    return await connect(config).catch((error: unknown) => {
      if (!plainAllowed || !/server does not support SSL/i.test((error as Error).message)) throw error;
      config.ssl = false;
      return connect(config);
    });
  } catch (error) {
    throw toConnectError(error, target);
  }
}
