/** What `import … from 'gate-sql'` gives. */
export { GateError, SearchFailedError, UsageError, type GateErrorCode } from '../app/errors';
export type { AskOptions } from '../app/given';
export type { SearchStatus } from '../app/read';
export type { SteerCommand, Steered } from '../app/steer';
export type { WrittenRun } from '../app/run/run-config';
export type { WrittenConfig } from '../config';
export type { AnswerRecord } from '../domain';
export type { BatchEvent, Batches, BatchOptions } from './batches';
export type { Databases } from './databases';
export { Gate, type AskEvent, type GateOptions, type StartedSearch, type Waiting } from './gate';
export type { Stopping } from './inside';
export type { Checking, Layers, ListedLayer, OfDatabase, Saying } from './layers';
export type { Underway } from './underway';
