export * from './language-model';
export * from './sql-engine';
export * from './sql-inspector';
export * from './object-store';
export * from './run-clock';
export * from './web';
