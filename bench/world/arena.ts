/** What all contestants share: PostgreSQL, the asked database, the model servers; and what each keeps its state in. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startPostgres, type TestPostgres } from '../../tests/helpers/postgres';
import { userFolders } from '../../src/config/folders';
import { startSimulatedModel, type SimulatedModel } from '../../simulated-model';
import { findTemporalBinary } from '../../src/workers/temporal-binary';
import { startServerProcess, stopServerProcess, type ServerProcess } from '../../src/workers/temporal-process';
import { startContestant, type ContestantProcess } from '../contestants/child';
import { CONTESTANTS, type ContestantConfig, type ContestantKind } from '../contestants/contestant';
import { say } from '../figure';
import { postmasterPid, treeCpuSeconds } from './process-use';
import { answerable, RATES, readSprintSql } from './searches';
import { folderBytes, postgresBytes, sqliteBytes } from './sizes';

const DATABASE = 'sprint_pg';
const PERIPHERAL = ['langgraph-postgres', 'dbos'] as const;

export type Bytes = ReadonlyMap<ContestantKind, { readonly engine: number; readonly store: number }>;

export class Arena {
  private readonly models = new Map<number, SimulatedModel>();
  private server: ServerProcess | null = null;

  private constructor(
    private readonly folder: string,
    private readonly postgres: TestPostgres,
    private readonly postgresPid: number,
    private readonly temporal: string,
  ) {
    mkdirSync(join(folder, 'temporal'));
  }

  static async open(folder: string): Promise<Arena> {
    const temporal = await findTemporalBinary({ env: process.env, cacheFolder: userFolders(process.env).cache });
    const postgres = await startPostgres();
    await postgres.createDatabase(DATABASE, readSprintSql());
    for (const kind of PERIPHERAL) await postgres.createDatabase(databaseOf(kind));
    const arena = new Arena(folder, postgres, await postmasterPid(postgres.url('postgres')), temporal);
    // The schemas of all engines are there before anything is weighed.
    await arena.withField(await arena.model(20), () => Promise.resolve());
    return arena;
  }

  async model(latencyMs: number): Promise<string> {
    return (await this.modelServer(latencyMs)).baseUrl;
  }

  async modelServer(latencyMs: number): Promise<SimulatedModel> {
    const known = this.models.get(latencyMs);
    if (known !== undefined) return known;
    const databases = [`${DATABASE}=${this.postgres.url(DATABASE)}`];
    const model = await startSimulatedModel({
      questions: answerable('postgresql'),
      databases,
      rates: RATES,
      latencyMs,
    });
    this.models.set(latencyMs, model);
    return model;
  }

  async config(kind: ContestantKind, modelUrl: string): Promise<ContestantConfig> {
    return {
      ...{ kind, modelUrl, intents: kind === 'gate' },
      storeFolder: this.storeOf(kind),
      database: this.postgres.url(DATABASE),
      databaseName: DATABASE,
      engineAt: await this.engineAt(kind),
    };
  }

  /** All contestants, each open in its own process while `work` runs. */
  async withField<T>(modelUrl: string, work: (field: Field) => Promise<T>): Promise<T> {
    const field = new Field();
    try {
      for (const kind of CONTESTANTS)
        await field.attempt(kind, async () => field.add(await startContestant(await this.config(kind, modelUrl))));
      return await work(field);
    } finally {
      await field.close();
    }
  }

  /** Processor time so far of a contestant, its engine, and PostgreSQL, which all of them ask. */
  cpuSeconds({ config, pid }: ContestantProcess): number {
    const engine = config.kind === 'gate' && this.server !== null ? treeCpuSeconds(this.server.pid) : 0;
    return treeCpuSeconds(pid) + engine + treeCpuSeconds(this.postgresPid);
  }

  /** In the databases of the engines (the server is stopped for it, which empties its write-ahead log) and in the stores. */
  async bytes(): Promise<Bytes> {
    await this.stopServer();
    const engines = new Map<ContestantKind, number>([
      ['gate', sqliteBytes(this.temporalFile)],
      ['langgraph-sqlite', sqliteBytes(this.langgraphFile)],
      ['langgraph-postgres', await postgresBytes(this.postgres.url(databaseOf('langgraph-postgres')))],
      ['dbos', await postgresBytes(this.postgres.url(databaseOf('dbos')))],
    ]);
    const of = (kind: ContestantKind) => ({ engine: engines.get(kind) ?? 0, store: folderBytes(this.storeOf(kind)) });
    return new Map(CONTESTANTS.map((kind) => [kind, of(kind)]));
  }

  async close(): Promise<void> {
    await this.stopServer();
    for (const model of this.models.values()) await model.close();
    await this.postgres.stop();
  }

  private async engineAt(kind: ContestantKind): Promise<string> {
    switch (kind) {
      case 'in-process':
        return '';
      case 'gate':
        this.server ??= await startServerProcess({
          ...{ binary: this.temporal, uiPort: null, databaseFile: this.temporalFile, detached: false },
          logFile: join(this.folder, 'temporal.log'),
        });
        return `127.0.0.1:${String(this.server.port)}`;
      case 'langgraph-sqlite':
        return this.langgraphFile;
      case 'langgraph-postgres':
      case 'dbos':
        return this.postgres.url(databaseOf(kind));
    }
  }

  private get temporalFile(): string {
    return join(this.folder, 'temporal', 'temporal.sqlite');
  }

  private get langgraphFile(): string {
    return join(this.folder, 'langgraph.sqlite');
  }

  private storeOf(kind: ContestantKind): string {
    return join(this.folder, `store-${kind}`);
  }

  private async stopServer(): Promise<void> {
    if (this.server !== null) await stopServerProcess(this.server.pid);
    this.server = null;
  }
}

/** Contestants that are open. Whoever fails is out, `failures` says why, and the others go on. */
export class Field {
  readonly failures = new Map<ContestantKind, string>();
  readonly #open = new Map<ContestantKind, ContestantProcess>();

  add(one: ContestantProcess): void {
    this.#open.set(one.config.kind, one);
  }

  /** Everybody once; the first one is another each round, so that no place is anybody's. */
  async round(number: number, work: (one: ContestantProcess) => Promise<void>): Promise<void> {
    const all = [...this.#open.values()];
    const first = number % Math.max(1, all.length);
    for (const one of [...all.slice(first), ...all.slice(0, first)])
      await this.attempt(one.config.kind, () => work(one));
  }

  async attempt(kind: ContestantKind, work: () => Promise<void>): Promise<void> {
    if (this.failures.has(kind)) return;
    try {
      await work();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      say(`${kind} failed: ${message}`);
      this.failures.set(kind, message.split('\n')[0] ?? '');
      await this.#open.get(kind)?.kill();
      this.#open.delete(kind);
    }
  }

  async close(): Promise<void> {
    for (const one of this.#open.values()) await this.attempt(one.config.kind, () => one.close());
  }
}

function databaseOf(kind: (typeof PERIPHERAL)[number]): string {
  return `bench_${kind.replace('-', '_')}`;
}
