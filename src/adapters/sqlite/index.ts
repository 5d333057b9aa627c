export { checkSqlite } from './check';
export { createSqliteEngine, type SqliteEngineSettings } from './engine';
export { createSqliteInspector } from './inspector';
