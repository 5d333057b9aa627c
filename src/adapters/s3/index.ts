export { createS3Store } from './store';
export type { S3Credentials, S3Options } from './store';
