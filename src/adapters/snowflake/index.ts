export { createSnowflakeEngine, type SnowflakeEngineSettings } from './engine';
export { createSnowflakeInspector } from './inspector';
export type { SnowflakeLoginSettings } from './target';
