export { createSqliteEngine, type SqliteEngineSettings } from './engine';
export { createSqliteInspector } from './inspector';
