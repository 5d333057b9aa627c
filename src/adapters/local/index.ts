export { createLocalStore, type LocalStoreOptions } from './store';
