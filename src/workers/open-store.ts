/** The configured object store: a folder or a bucket, encrypted when keys are configured. Nothing is touched before its first use. */
import { createLocalStore } from '../adapters/local';
import { createS3Store } from '../adapters/s3';
import type { Config } from '../config';
import type { ObjectStore } from '../ports';
import { privateStore } from './encryption';

export function openStore(config: Pick<Config, 'store' | 'encryption'>): ObjectStore {
  return privateStore(config, openPlainly(config));
}

function openPlainly({ store }: Pick<Config, 'store'>): ObjectStore {
  if (store.kind === 'directory') return createLocalStore(store.directory);
  const { kind: _kind, credentials, forcePathStyle, ...rest } = store;
  return createS3Store({
    ...rest,
    credentials: credentials?.() ?? null,
    ...(forcePathStyle === null ? {} : { forcePathStyle }),
  });
}
