/**
 * What `gate learn` does: a search without a question, durable like any other. The same command goes on with a lesson that was
 * interrupted; after one that ended it begins the next, which knows what is kept already.
 */
import { resolveDatabase } from '../config/databases';
import type { SearchInput } from '../domain';
import { isConclusive } from '../domain/answer';
import type { ObjectStore } from '../ports';
import { compose, openEngines, type Composition } from '../workers/composition';
import { modelsFor, onlyDatabase, questionOf, searchInput } from './ask-input';
import { closeOpened, follow } from './ask-run';
import type { ExitCode } from './errors';
import type { Io } from './io';
import type { SearchFlags } from './options';
import { recognise } from './seen-databases';
import { openServices, recordOf } from './services';

export interface LearnFlags extends Omit<SearchFlags, 'method'> {
  readonly db?: string;
  readonly turns: number;
  readonly docs?: readonly string[];
  readonly detach?: boolean;
  readonly json?: boolean;
  readonly debug?: boolean;
}

/** As lists and the Temporal UI show it. */
const QUESTION = 'Which conventions does this database follow?';

export async function runLearnCommand(given: LearnFlags, io: Io): Promise<ExitCode> {
  const flags = { ...given, method: 'learn' as const, output: 'sql' as const };
  const services = openServices(io);
  const { config, store } = services;
  const database = resolveDatabase(config, flags.db ?? onlyDatabase(config), io.cwd);
  const { known, notice } = await recognise(store, database);
  if (notice !== null) io.err(`${notice}\n`);
  const question = questionOf(QUESTION, database.name, flags, io.cwd, database.docs);
  const engines = openEngines(config, database.adHoc ? [database] : []);
  const opened: Promise<Composition>[] = [];
  const composition = (): Promise<Composition> => {
    const composing = opened[0] ?? compose(config, { engines });
    opened[0] = composing;
    return composing;
  };
  try {
    const models = modelsFor(config, flags, []);
    const inputFor = (nonce: string): SearchInput => {
      const named = { models, namespace: 'learn', identity: known, memory: 'on' as const, turns: flags.turns, nonce };
      return searchInput(config, flags, question, named);
    };
    const input = await unfinished(store, inputFor);
    return await follow({ services, engines, composition, database, input, files: {}, io }, flags);
  } finally {
    await closeOpened(engines, opened);
  }
}

/** The first lesson of these settings that has not ended. */
async function unfinished(store: ObjectStore, inputFor: (nonce: string) => SearchInput): Promise<SearchInput> {
  for (let lesson = 1; ; lesson += 1) {
    const input = inputFor(`lesson ${lesson}`);
    const record = await recordOf(store, input.searchId);
    if (record === null || !isConclusive(record)) return input;
  }
}
