/** What all contestants share: PostgreSQL, the asked database, the model servers; and what each keeps its state in. */
import { join } from 'node:path';
import { startPostgres, type TestPostgres } from '../../tests/helpers/postgres';
import { userFolders } from '../../src/config/folders';
import { startSimulatedModel, type SimulatedModel } from '../../simulated-model';
import { findTemporalBinary } from '../../src/workers/temporal-binary';
import { startServerProcess, stopServerProcess, type ServerProcess } from '../../src/workers/temporal-process';
import { startContestant, type ContestantProcess } from '../contestants/child';
import { CONTESTANTS, type ContestantConfig, type ContestantKind } from '../contestants/contestant';
import { answerable, RATES, readSprintSql } from './searches';
import { postgresBytes, sqliteBytes, storeBytes, type StoreBytes } from './sizes';

const DATABASE = 'sprint_pg';
const PERIPHERAL = ['langgraph-postgres', 'dbos'] as const;

export class Arena {
  private readonly models = new Map<number, SimulatedModel>();
  private server: ServerProcess | null = null;

  private constructor(
    private readonly folder: string,
    private readonly postgres: TestPostgres,
    private readonly temporal: string,
  ) {}

  static async open(folder: string): Promise<Arena> {
    const temporal = await findTemporalBinary({ env: process.env, cacheFolder: userFolders(process.env).cache });
    const postgres = await startPostgres();
    await postgres.createDatabase(DATABASE, readSprintSql());
    for (const kind of PERIPHERAL) await postgres.createDatabase(databaseOf(kind));
    const arena = new Arena(folder, postgres, temporal);
    // The schemas of all engines are there before anything is weighed.
    await arena.withContestants({ modelUrl: await arena.model(20) }, () => Promise.resolve());
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

  async config(kind: ContestantKind, modelUrl: string, journal = kind === 'gate'): Promise<ContestantConfig> {
    return {
      ...{ kind, modelUrl, journal },
      storeFolder: this.storeOf(kind),
      database: this.postgres.url(DATABASE),
      databaseName: DATABASE,
      engineAt: await this.engineAt(kind),
    };
  }

  /** All contestants, each open in its own process while `work` runs. */
  async withContestants(
    { modelUrl }: { readonly modelUrl: string },
    work: (contestants: readonly ContestantProcess[]) => Promise<void>,
  ): Promise<void> {
    const open: ContestantProcess[] = [];
    try {
      for (const kind of CONTESTANTS) open.push(await startContestant(await this.config(kind, modelUrl)));
      await work(open);
    } finally {
      for (const one of open) await one.close();
    }
  }

  /** Of the engines' own databases; the server is stopped for it, which empties its write-ahead log. */
  async engineBytes(): Promise<ReadonlyMap<ContestantKind, number>> {
    await this.stopServer();
    return new Map<ContestantKind, number>([
      ['in-process', 0],
      ['gate', sqliteBytes(this.temporalFile)],
      ['langgraph-sqlite', sqliteBytes(this.langgraphFile)],
      ['langgraph-postgres', await postgresBytes(this.postgres.url(databaseOf('langgraph-postgres')))],
      ['dbos', await postgresBytes(this.postgres.url(databaseOf('dbos')))],
    ]);
  }

  storeBytes(kind: ContestantKind, searches: ReadonlySet<string>): StoreBytes {
    return storeBytes(this.storeOf(kind), searches);
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

function databaseOf(kind: (typeof PERIPHERAL)[number]): string {
  return `bench_${kind.replace('-', '_')}`;
}
