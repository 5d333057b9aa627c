import type { EngineModule } from '../kit/module';
import { createBigQueryEngine } from './engine';
import { createBigQueryInspector } from './inspector';
import { readTarget } from './target';

export { createBigQueryEngine, createBigQueryInspector };
export type { BigQueryEngineSettings } from './engine';

export const engine: EngineModule = {
  open({ address: url, schemas, poolSize, maxScanBytes, bigquery }) {
    return createBigQueryEngine({ url, options: { ...bigquery, schemas, poolSize, maxScanBytes } });
  },
  searchPath({ address: url }) {
    const { project, dataset, billing } = readTarget({ url });
    return billing === project ? [`${project}.${dataset}`, dataset] : [];
  },
  // A dry run of a write writes nothing: the rights of the login are asked when it is opened.
  check: null,
  inspector: (functions) => createBigQueryInspector({ functions }),
};
