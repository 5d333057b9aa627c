/** Checks a question and stores its input before it is asked, so that every mistake is reported before a model call is paid. */
import type { ResolvedDatabase } from '../config/databases';
import type { DatabaseDescription, SearchInput, SearchState } from '../domain';
import type { ObjectStore } from '../ports';
import type { Composition, Engines } from '../workers/composition';
import type { Io } from './io';
import { embeddingHost, tellWhoReceivesNames, tellWhoReceivesRows } from './notice';
import { noteSeen } from './seen-databases';
import { addToIndex, inputOf, saveInput, sha256, type Services } from './services';
import { storeFork, type Fork } from '../record/fork';

export interface Asking {
  readonly services: Services;
  readonly engines: Engines;
  /** Models and steps over these engines; opened by whoever needs them first. */
  readonly composition: () => Promise<Composition>;
  readonly database: ResolvedDatabase;
  readonly input: SearchInput;
  readonly files: { readonly record?: string; readonly replay?: string };
  readonly io: Io;
  /** A search that goes on from a checkpoint of another one. */
  readonly fork?: Fork;
}

/**
 * `databaseChecked`: takes a process of its own and is best begun before anything else. Returns the state that the search
 * starts from, if it is a fork.
 */
export async function checkAndStore(
  asking: Asking,
  databaseChecked: Promise<DatabaseDescription>,
): Promise<SearchState | null> {
  const { services, database, input, files, io } = asking;
  const { config, store } = services;
  const composition = await asking.composition();
  const { checkModel, unpricedModels } = await import('./preflight');
  const replayed = files.replay !== undefined;
  const models = [...new Set(Object.values(input.settings.models))];
  const [{ fingerprint }] = await Promise.all([
    databaseChecked,
    replayed ? undefined : checkModel(config, composition, models),
  ]);
  if (files.record !== undefined) {
    const { noteOf, prepareRecording } = await import('../adapters/recording');
    await prepareRecording(files.record, noteOf(composition.model));
  }
  if (!replayed) {
    const unpriced = unpricedModels(config, models);
    const { costUsd } = input.settings.budgets;
    const asked = { database: database.name, identity: database.identity };
    tellWhoReceivesRows(
      config.folders,
      { endpoint: composition.model.endpoint, ...asked, unpriced, costCeilingUsd: costUsd },
      io,
    );
    const names = embeddingHost(config);
    if (names !== null && files.record === undefined)
      tellWhoReceivesNames(config.folders, { endpoint: names, ...asked }, io);
  }
  const { fork } = asking;
  const state = fork === undefined ? null : await storeFork({ store, hash: sha256 }, fork);
  if (fork === undefined) await saveInput(store, await withFirstClock(store, input));
  await addToIndex(store, input, io.now());
  await noteSeen(store, database, fingerprint, io.now());
  return state;
}

/** All steps of a search have one clock: that of the asking that began it (`withClockOfAsking`). */
async function withFirstClock(store: ObjectStore, input: SearchInput): Promise<SearchInput> {
  const before = await inputOf(store, input.searchId);
  if (before === null) return input;
  const { clock: _, ...unclocked } = input;
  return before.clock === undefined ? unclocked : { ...unclocked, clock: before.clock };
}
