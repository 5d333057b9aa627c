/**
 * What `gate ask` does: look into the store, check what can be checked without paying, join or start Temporal, serve the
 * question's own task queue from this process, follow it, print it. A question whose answer is stored costs nothing.
 */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { noteOf, prepareRecording } from '../adapters/recording';
import type { Config } from '../config';
import { storeLocation } from '../config-store';
import { resolveDatabase, type ResolvedDatabase } from '../databases';
import type { AnswerRecord, SearchInput } from '../domain';
import { cut, visible } from '../report/printable';
import { startQuestion } from '../workers/client';
import { compose, type Composition } from '../workers/composition';
import type { GateWorkers } from '../workers/run-worker';
import { modelQueues, queuesByModel, type ModelQueue } from '../workers/model-queues';
import { localQueues, type QuestionQueues } from '../workers/task-queues';
import type { AskFlags } from './ask';
import { modelsFor, questionOf, questionText, searchInput } from './ask-input';
import { serveInBackground } from './background';
import { CommandFailed, EXIT, UsageError, type ExitCode } from './errors';
import { followSearch } from './follow';
import { holdInterrupts } from './interrupts';
import type { Io } from './io';
import { tellWhoReceivesRows } from './notice';
import { checkDatabase, checkModel, unpricedModels } from './preflight';
import { printAnswer } from './print-answer';
import { addToIndex, batchPorts, openServices, recordOf, saveInput, sha256, type Services } from './services';
import { answerJson } from './show-answer';
import { openTemporal, type TemporalSession } from './temporal-session';

export interface RunFlags extends AskFlags {
  readonly debug?: boolean;
  /** Also print the plan behind the answer. */
  readonly showPlan?: boolean;
}

export async function runAsk(argument: string, flags: RunFlags, io: Io): Promise<ExitCode> {
  const text = await questionText(argument, io);
  if (flags.detach && (flags.record ?? flags.replay) !== undefined) {
    throw new UsageError('--record and --replay need this process: leave --detach out');
  }
  const services = openServices(io);
  const { config } = services;
  const database = resolveDatabase(config, flags.db ?? onlyDatabase(config), io.cwd);
  const question = questionOf(text, database.name, flags, io.cwd);
  const files = {
    ...(flags.record === undefined ? {} : { record: resolve(io.cwd, flags.record) }),
    ...(flags.replay === undefined ? {} : { replay: resolve(io.cwd, flags.replay) }),
  };
  const composition = await compose(config, { adHoc: database.adHoc ? [database] : [], ...files });
  try {
    const input = searchInput(config, flags, question, {
      models: modelsFor(config, flags, offeredModels(composition)),
      namespace:
        files.replay === undefined ? 'user' : `replay-${sha256(await readFile(files.replay, 'utf8')).slice(0, 8)}`,
      ...(flags.fresh ? { nonce: randomBytes(8).toString('hex') } : {}),
    });
    const stored = await recordOf(services.store, input.searchId);
    if (stored !== null && isSettled(stored)) {
      io.err(`answered before (${stored.id}, ${stored.endedAt.slice(0, 10)}); --fresh searches anew\n`);
      return await printAnswer(services, stored, io, { json: flags.json ?? false, ui: null, showPlan: flags.showPlan });
    }
    const ready = prepare({ services, composition, database, input, files, io });
    return await (flags.detach ? askDetached : askAttended)({
      services,
      composition,
      database,
      input,
      flags,
      io,
      ready,
    });
  } finally {
    await composition.close();
  }
}

/** A cancelled or failed question is searched again when asked again; its paid calls are not paid twice. */
function isSettled({ status }: AnswerRecord): boolean {
  return status === 'answered' || status === 'unanswerable' || status === 'abstained';
}

function onlyDatabase(config: Config): string {
  const names = Object.keys(config.databases);
  const [only] = names;
  if (names.length === 1 && only !== undefined) return only;
  const known = names.length === 0 ? 'none is configured' : `configured: ${names.join(', ')}`;
  throw new UsageError(`which database? add --db with a name (${known}), an SQLite file, or postgresql://…`);
}

function offeredModels({ model, ollamaModels }: Composition): readonly string[] {
  const recorded = 'models' in model && Array.isArray(model.models) ? (model.models as string[]) : [];
  return ollamaModels ?? recorded;
}

interface Asking {
  readonly services: Services;
  readonly composition: Composition;
  readonly database: ResolvedDatabase;
  readonly input: SearchInput;
  readonly io: Io;
}

/** Checks and stores before anything starts; runs while Temporal is being opened. */
async function prepare({
  services,
  composition,
  database,
  input,
  files,
  io,
}: Asking & { readonly files: { readonly record?: string; readonly replay?: string } }): Promise<void> {
  const { config, store } = services;
  const replayed = files.replay !== undefined;
  const models = [...new Set(Object.values(input.settings.models))];
  await Promise.all([
    checkDatabase(composition, database.name),
    replayed ? undefined : checkModel(config, composition, models),
  ]);
  if (files.record !== undefined) await prepareRecording(files.record, noteOf(composition.model));
  if (!replayed) {
    const unpriced = unpricedModels(config, models);
    const { costUsd } = input.settings.budgets;
    tellWhoReceivesRows(
      config.folders,
      { endpoint: composition.model.endpoint, database: database.name, unpriced, costCeilingUsd: costUsd },
      io,
    );
  }
  await saveInput(store, input);
  await addToIndex(store, input, io.now());
}

type Prepared = Asking & { readonly flags: RunFlags; readonly ready: Promise<void> };

async function askAttended({ services, composition, database, input, flags, io, ready }: Prepared): Promise<ExitCode> {
  // The largest module by far: it loads while the database and Temporal are being reached.
  const runWorker = import('../workers/run-worker');
  const limited = limitedModels(services.config, input, flags);
  const serve = async (opened: TemporalSession): Promise<GateWorkers> => {
    const { createGateWorkers, installLogger } = await runWorker;
    installLogger('WARN', (line) => flags.debug && io.err(`${line}\n`));
    return createGateWorkers({
      ...{ address: opened.address, namespace: opened.namespace, steps: composition.steps },
      dataConverter: opened.dataConverter,
      batch: batchPorts(services.store),
      ...(opened.connectionOptions === null ? {} : { connectionOptions: opened.connectionOptions as never }),
      databases: [database.name],
      serve: 'local',
      modelQueues: limited,
    });
  };
  const held = holdInterrupts(io);
  const { session, made: workers } = await openReady(services.config, io, ready, serve).catch((error: unknown) => {
    held.release();
    throw held.count() > 0 ? interruptedEarly() : error;
  });
  let ended: Awaited<ReturnType<typeof followSearch>>;
  let staysUp = false;
  try {
    if (held.count() > 0) throw interruptedEarly();
    if (session.uiUrl !== null) io.err(`Temporal UI ${session.uiOf(input.searchId) ?? session.uiUrl}\n`);
    const serving = workers.run();
    try {
      await start(session, services.config, input, localQueues(database.name, queuesByModel(limited)));
      const broken = serving.then(() => Promise.reject(new CommandFailed('the worker stopped; ask again to go on')));
      ended = await Promise.race([followSearch(session, input.searchId, io, { cancelOnInterrupt: true }), broken]);
    } finally {
      workers.stop();
      // Its error, if it has one, has ended the race above.
      await serving.catch(() => undefined);
    }
  } finally {
    staysUp = await session.close().finally(() => held.release());
  }
  const json = flags.json ?? false;
  const record = await recordOf(services.store, input.searchId);
  if (ended.kind === 'failed') {
    if (json && record !== null) io.out(answerJson(record, { report: null, ui: null }));
    throw new CommandFailed(ended.message);
  }
  if (record === null)
    throw new CommandFailed(`${input.searchId} ended without a record in ${storeLocation(services.config.store)}`);
  return printAnswer(services, record, io, {
    json,
    ui: staysUp ? session.uiOf(input.searchId) : null,
    showPlan: flags.showPlan,
  });
}

function interruptedEarly(): CommandFailed {
  return new CommandFailed('interrupted before the search began; nothing was asked', EXIT.cancelled);
}

async function askDetached({ services, database, input, flags, io, ready }: Prepared): Promise<ExitCode> {
  const { config } = services;
  const { session } = await openReady(config, io, ready, () => Promise.resolve());
  const ui = session.uiOf(input.searchId);
  try {
    await serveInBackground(config, database, session, io);
    const limited = limitedModels(config, input, flags);
    await start(session, config, input, localQueues(database.name, queuesByModel(limited)));
  } finally {
    await session.close({ keep: true });
  }
  const { searchId } = input;
  if (flags.json) io.out(`${JSON.stringify({ id: searchId, status: 'running', ui }, null, 2)}\n`);
  else io.out(`${searchId}\n`);
  io.err(
    `${ui === null ? '' : `Temporal UI ${ui}\n`}gate status ${searchId} shows where it stands, gate result ${searchId} --wait prints the answer.\n`,
  );
  io.err('Server and worker stay up; gate dev --stop ends them.\n');
  return EXIT.ok;
}

/** Opens Temporal, and what serves on it, while the checks run; a failed check closes it again and wins. */
async function openReady<T>(
  config: Config,
  io: Io,
  ready: Promise<void>,
  make: (session: TemporalSession) => Promise<T>,
): Promise<{ readonly session: TemporalSession; readonly made: T }> {
  const opening = openTemporal(config, io.env, { onProgress: (line) => io.err(`${line}\n`) });
  const [checked, opened, made] = await Promise.allSettled([ready, opening, opening.then(make)]);
  if (checked.status === 'fulfilled' && made.status === 'fulfilled')
    return { session: await opening, made: made.value };
  if (opened.status === 'fulfilled') await opened.value.close();
  throw checked.status === 'rejected' ? checked.reason : (made as PromiseRejectedResult).reason;
}

/** Temporal keeps 400 bytes of a workflow's summary; letters outside ASCII take up to three. */
const LABEL_CHARS = 120;
/** And 20,000 bytes of details. */
const DETAILS_CHARS = 5_000;

/** A recording is written and read by this process alone. */
function limitedModels(config: Config, { settings }: SearchInput, flags: RunFlags): ModelQueue[] {
  if ((flags.record ?? flags.replay) !== undefined) return [];
  return modelQueues(config, Object.values(settings.models));
}

async function start(
  session: TemporalSession,
  config: Config,
  input: SearchInput,
  queues: QuestionQueues,
): Promise<void> {
  const { searchId, settings, question } = input;
  await startQuestion(session.gate, {
    ...{ searchId, settings, modelTimeoutMs: config.models.requestTimeoutMs },
    queues,
    // Shown to whoever may open the UI: the question's text, no row of the database.
    label: cut(`${question.database}: ${question.text}`, LABEL_CHARS),
    details: visible([question.text, question.context ?? ''].join('\n\n').trim()).slice(0, DETAILS_CHARS),
  });
}
