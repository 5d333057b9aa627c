export { checkPostgres } from './check';
export { createPostgresEngine, type PostgresEngineSettings } from './engine';
export { createPostgresInspector } from './inspector';
