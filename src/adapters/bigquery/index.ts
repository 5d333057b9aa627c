/**
 * A BigQuery dataset as a `SqlEngine`: each statement is a dry run and a job (`session.ts`). What the login may write is asked
 * once, and one that may is refused (`rights.ts`), unless the configuration allows it.
 */
import type { SqlEngine } from '../../domain/ports/sql-engine';
import { createEngine, keptFor, once } from '../kit/engine';
import type { EngineModule, Opening } from '../kit/module';
import { sentOf } from '../kit/statement';
import { openApi, type Api, type Call, type LoadLibrary } from './client';
import { describeBigQuery, readTables, revisionOfTables } from './describe';
import { toEngineError } from './errors';
import { createBigQueryInspector, readStatement } from './inspector';
import { refuseWriter } from './rights';
import { BigQuerySession } from './session';
import { readTarget } from './target';

export { createBigQueryInspector };

export const engine: EngineModule = {
  open: ({ address: url, bigquery, ...options }) => createBigQueryEngine({ url, options: { ...options, ...bigquery } }),
  searchPath({ address: url }) {
    const { project, dataset, billing } = readTarget({ url });
    return billing === project ? [`${project}.${dataset}`, dataset] : [];
  },
  // A dry run of a write writes nothing: the rights of the login are asked when it is opened.
  check: null,
  inspector: createBigQueryInspector,
};

export interface BigQueryEngineSettings {
  /** `bigquery://project/dataset?location=…&billing=…&keyFile=…` */
  readonly url: string;
  readonly options?: Partial<Pick<Opening, 'schemas' | 'poolSize' | 'maxScanBytes'> & Opening['bigquery']> & {
    /** Where the library comes from; default: the package @google-cloud/bigquery. */
    readonly load?: LoadLibrary;
  };
}

/** One request for each table: a search asks for the revision at many steps. */
const TABLES_KEPT_MS = 60_000;
const DEFAULT_SCAN_BYTES = 100 * 1024 ** 3;
const USD_PER_TIB = 6.25;

export function createBigQueryEngine({ url, options = {} }: BigQueryEngineSettings): SqlEngine {
  const { key, schemas = [], functions, allowPrivilegedRole = false, poolSize, load } = options;
  const { maxScanBytes = DEFAULT_SCAN_BYTES, usdPerTiB = USD_PER_TIB } = options;
  const target = readTarget({ url, key });
  const checks = { target, inspector: createBigQueryInspector(functions), maxScanBytes, usdPerTiB };
  /** One login for all sessions, whose rights are asked once. */
  const connect = once(async (signal: AbortSignal): Promise<Api> => {
    const api = await openApi(target, load);
    if (!allowPrivilegedRole) await refuseWriter(api(signal), target, schemas);
    return api;
  });
  const { inSession, reading, ...engine } = createEngine<BigQuerySession>({
    dialect: 'bigquery',
    poolSize,
    open: async (signal) => new BigQuerySession(await connect(signal), checks),
    read: (sql) => sentOf(readStatement(sql)),
    toError: (error) => toEngineError(error, target),
  });
  /** The revision and the description read the same. */
  const tables = keptFor(TABLES_KEPT_MS, (call: Call) => readTables(call, target, schemas));
  return {
    ...engine,
    async estimate(sql, request) {
      const text = sentOf(readStatement(sql));
      return typeof text === 'string' ? inSession(request, (session) => session.estimate(text, request)) : null;
    },
    describe: reading('describe', async ({ call }) => describeBigQuery(call, target, await tables(call))),
    revision: reading('revision', async ({ call }) => revisionOfTables(await tables(call))),
  };
}
