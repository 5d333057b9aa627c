/**
 * What `gate ask` does: look into the store, check what can be checked without paying, join or start Temporal, serve the
 * question's own task queue from this process, follow it, print it. A question whose answer is stored costs nothing.
 *
 * What `gate learn` does: a search without a question, durable like any other. The same command goes on with a lesson that
 * was interrupted or stopped; after one that ended it begins the next, which knows what is kept already.
 *
 * The first SQL has to come within a second of Enter (`npm run bench -- ask`), and most of that is loading code: the large
 * modules are imported where they are used.
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Config } from '../config';
import type { ResolvedDatabase } from '../config/databases';
import type { SearchInput } from '../domain';
import { clockAt } from '../sql/clock';
import { compose, type Composition } from '../workers/composition';
import type { MethodSpec } from '../config/method-specs';
import { openEngines } from '../workers/engines';
import { askAgain } from '../app/ask-again';
import type { askAttended } from './ask-attended';
import type { Asking } from '../app/start-search';
import {
  checkWeb,
  modelsFor,
  offeredModels,
  askedDatabase,
  questionOf,
  questionText,
  searchInput,
  webNotice,
  type QuestionFlags,
} from '../app/question-input';
import { UsageError } from '../app/errors';
import type { ExitCode } from './exit';
import { argumentText, type Io } from './io';
import { limitsOf, type SearchFlags } from './options';
import { openServices, sha256, recordOf } from '../app/services';
import { isConclusive } from '../domain/answer';
import type { ObjectStore } from '../ports';

export interface AskFlags extends SearchFlags, QuestionFlags {
  readonly db?: string;
  readonly detach?: boolean;
  readonly fresh?: boolean;
  readonly json?: boolean;
  readonly csv?: boolean;
  /** The SQL alone is printed. */
  readonly sql?: boolean;
  readonly maxRows?: number;
  readonly record?: string;
  readonly replay?: string;
  readonly web?: boolean;
  readonly debug?: boolean;
  /** Also print the plan behind the answer. */
  readonly showPlan?: boolean;
}

export async function runAsk(argument: string, given: AskFlags, io: Io): Promise<ExitCode> {
  const flags = { ...given, sql: given.output === 'sql' && given.csv !== true };
  const text = questionText(await argumentText(argument, io));
  const services = openServices(io);
  const { config } = services;
  checkWeb(config, flags);
  const database = askedDatabase(config, flags, io);
  const question = questionOf(text, database.name, flags, io.cwd, database.docs);
  const files = recordingOf(flags, io);
  return withOpened(config, database, files, async ({ engines, composition }) => {
    // A recording or a local Ollama offers names where none is configured.
    const isNamed = flags.model?.default !== undefined || config.models.default !== null;
    const models = modelsFor(config, flags, isNamed ? [] : offeredModels(await composition()));
    const namespace =
      files.replay === undefined ? 'user' : `replay-${sha256(await readFile(files.replay, 'utf8')).slice(0, 8)}`;
    // A recording is complete without the reading of what was proved.
    const memory = Object.keys(files).length === 0 ? config.memory : 'off';
    const named = { identity: database.identity, models, namespace, memory };
    const inputFor = (nonce?: string): SearchInput =>
      askedNow(
        searchInput(config, { ...flags, budgets: limitsOf(flags) }, question, {
          ...named,
          ...(nonce === undefined ? {} : { nonce }),
        }),
        io,
      );
    const asked = inputFor(flags.fresh ? randomBytes(8).toString('hex') : undefined);
    const again = await askAgain({ store: services.store, engines, inputFor, io }, asked);
    if (again.kind === 'answer') {
      const { printAnswer } = await import('./print-answer');
      const { json = false, csv, sql, maxRows, showPlan } = flags;
      const rows = { max: maxRows, engine: () => engines.engine(database.name) };
      const shown = { json, csv, sql, rows, ui: null, showPlan, db: database.addressLabel };
      return printAnswer(services, again.record, io, shown);
    }
    const { input } = again;
    const notice = webNotice(config, flags);
    if (notice !== null) io.err(`${notice}\n`);
    const asking = { services, engines, composition, database, input, files, io };
    return follow(asking, flags);
  });
}

/** The file that the exchanges with the model are written to, or read from. */
function recordingOf({ record, replay, detach }: AskFlags, { cwd }: Io): Asking['files'] {
  if (detach && (record ?? replay) !== undefined)
    throw new UsageError('--record and --replay do not work in the background: leave --detach out');
  if (replay !== undefined && !existsSync(resolve(cwd, replay)))
    throw new UsageError(`--replay ${replay}: no such file; give a recording that --record wrote`);
  return {
    ...(record === undefined ? {} : { record: resolve(cwd, record) }),
    ...(replay === undefined ? {} : { replay: resolve(cwd, replay) }),
  };
}

/** Detached or attended; each is loaded only where it is wanted. */
export async function follow(
  asking: Asking & { readonly io: Io },
  flags: Parameters<typeof askAttended>[1] & { readonly detach?: boolean },
): Promise<ExitCode> {
  if (flags.detach) return (await import('./ask-detached')).askDetached(asking, flags);
  return (await import('./ask-attended')).askAttended(asking, flags);
}

/** Databases and models of one asking: opened by whoever needs them first, and closed at the end. */
export async function withOpened<T>(
  config: Config,
  database: ResolvedDatabase,
  files: Asking['files'],
  work: (opened: Pick<Asking, 'engines' | 'composition'>) => Promise<T>,
): Promise<T> {
  const engines = openEngines(config, [database]);
  let composing: Promise<Composition> | undefined;
  try {
    return await work({ engines, composition: () => (composing ??= compose(config, { engines, ...files })) });
  } finally {
    // An error on opening has already ended the command, so it is not thrown again.
    const [settled] = await Promise.allSettled(composing === undefined ? [] : [composing]);
    await (settled?.status === 'fulfilled' ? settled.value : engines).close();
  }
}

/** With the clock of this asking; a context may tell one of its own. */
function askedNow(input: SearchInput, io: Pick<Io, 'now'>): SearchInput {
  return input.question.context === null ? { ...input, clock: clockAt(io.now()) } : input;
}

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

const LEARN: MethodSpec = { spec: 'learn', method: 'learn', overrides: {} };

export async function runLearnCommand(given: LearnFlags, io: Io): Promise<ExitCode> {
  const flags = { ...given, method: LEARN, output: 'sql' as const };
  const services = openServices(io);
  const { config, store } = services;
  const database = askedDatabase(config, flags, io);
  const question = questionOf(QUESTION, database.name, flags, io.cwd, database.docs);
  return withOpened(config, database, {}, async (opened) => {
    const models = modelsFor(config, flags, []);
    const inputFor = (nonce: string): SearchInput => {
      const named = {
        models,
        namespace: 'learn',
        identity: database.identity,
        memory: 'on' as const,
        turns: flags.turns,
        nonce,
      };
      return searchInput(config, { ...flags, budgets: limitsOf(flags) }, question, named);
    };
    const input = await unfinished(store, inputFor);
    return follow({ services, ...opened, database, input, files: {}, io }, flags);
  });
}

/** The first lesson of these settings that has not ended by itself: a stopped one goes on, and reads what it has not read. */
async function unfinished(store: ObjectStore, inputFor: (nonce: string) => SearchInput): Promise<SearchInput> {
  for (let lesson = 1; ; lesson += 1) {
    const input = inputFor(`lesson ${lesson}`);
    const record = await recordOf(store, input.searchId);
    if (record === null || record.endedBy === 'stop' || !isConclusive(record)) return input;
  }
}
