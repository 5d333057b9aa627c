/** A whole search in this process: the real steps, engines, prompts and HTTP, without Temporal. */
import { createOpenAiModel } from '../../src/adapters/openai';
import { createPostgresEngine, createPostgresInspector } from '../../src/adapters/postgres';
import { createMemoryStore } from '../helpers/scripted';
import { createSqliteEngine, createSqliteInspector } from '../../src/adapters/sqlite';
import { AnswerRecord, type Dialect, type PresetName, type SearchInput, type Settings } from '../../src/domain';
import { runInProcess } from '../helpers/in-process';
import { settingsFor } from '../../src/config/presets';
import type { ObjectStore, SqlEngine, SqlInspector } from '../../src/domain/ports';
import { searchIdOf } from '../../src/record/search-id';
import { SIMULATED_MODEL, type GoldQuestion } from '../../simulated-model';
import { toEnd } from '../helpers/fake-steps';
import { createRunStore, storeInput } from '../../src/record/run-store';
import { createSteps } from '../../src/methods/steps';

export interface Opened {
  readonly engine: SqlEngine;
  readonly inspector: SqlInspector;
}

export async function openDatabase(address: string, dialect: Dialect): Promise<Opened> {
  return dialect === 'sqlite'
    ? { engine: createSqliteEngine({ path: address }), inspector: createSqliteInspector() }
    : { engine: createPostgresEngine({ url: address }), inspector: await createPostgresInspector() };
}

export interface InProcess {
  readonly record: AnswerRecord;
  readonly store: ObjectStore;
  readonly searchId: string;
}

export interface AskInProcess {
  readonly question: Pick<GoldQuestion, 'question' | 'database'> & { readonly context?: string | null };
  readonly database: Opened;
  readonly baseUrl: string;
  readonly method?: PresetName | 'react';
  /** Asked again: the store of the first time. */
  readonly store?: ObjectStore;
  /** As `models.maxOutputTokens` of a configuration sets it. */
  readonly outputCeiling?: number;
  readonly overrides?: Partial<Omit<Settings, 'method' | 'spec' | 'models'>>;
}

export async function askInProcess(ask: AskInProcess): Promise<InProcess> {
  const { method = 'fast' } = ask;
  const settings = settingsFor({ method, models: { default: SIMULATED_MODEL }, overrides: ask.overrides });
  const question: SearchInput['question'] = {
    text: ask.question.question,
    database: ask.question.database,
    outputMode: 'sql',
    tools: ['execute_sql'],
    context: ask.question.context ?? null,
    instructions: null,
    documents: [],
  };
  const asked = { question, identity: question.database, settings, namespace: 'test' };
  const searchId = searchIdOf(asked);
  const store = ask.store ?? createMemoryStore();
  const model = createOpenAiModel({ apiKey: 'test', baseUrl: ask.baseUrl, timeoutMs: 30_000 });
  const deps = {
    store,
    models: () => model,
    engine: () => Promise.resolve(ask.database),
    clock: { now: () => Date.now() },
    ...(ask.outputCeiling === undefined ? {} : { outputCeiling: ask.outputCeiling }),
  };
  await storeInput(deps.store, { searchId, ...asked });
  const hooks = { now: () => Date.now(), stopRequested: () => null, onProgress: () => undefined };
  const start = { searchId, settings, state: null };
  const steps = createSteps(deps);
  const outcome = await toEnd(runInProcess(start, steps, hooks));
  if (outcome.kind !== 'finished') throw new Error('the search asked to be continued');
  return { record: AnswerRecord.parse(await readRecord(store, searchId)), store, searchId };
}

async function readRecord(store: ObjectStore, searchId: string): Promise<unknown> {
  return createRunStore(store, searchId).get('result', searchId);
}
