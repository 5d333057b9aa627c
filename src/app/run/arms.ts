/**
 * The arms of a run: one durable batch for each method, seed and set of questions. A batch has the same id whichever run asks it, so
 * that an interrupted one goes on where it was and one done before costs nothing.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import type { ResolvedDatabase } from '../../config/databases';
import type { MethodSpec } from '../../config/method-specs';
import { each } from '../../limiter';
import { hasGold, loadQuestions, type BenchmarkItem } from '../../questions';
import { compose, type Composition } from '../../workers/composition';
import { sha256 } from '../../sha256';
import { UsageError } from '../errors';
import { checkWeb, hasNoWeb, modelsFor, offeredModels } from '../question-input';
import type { Services } from '../services';
import type { Surroundings } from '../surroundings';
import { planBatch, selectItems, type AskedWith, type Batch } from './batch-plan';
import type { RunEvent, Stopping } from './events';
import type { Board, Laboratory, WantedJudge } from './laboratory';
import { questionDatabases, type QuestionDatabases } from './question-databases';
import { askedWith, budgetsOf, nameOf, type MethodSeed, type RunConfig, type RunQuestions } from './run-config';

/** What is typed beside a plan stands before what it says. */
export interface Overrides {
  readonly db?: readonly string[];
  readonly model?: RunConfig['model'];
  readonly concurrency?: number;
  readonly limit?: number;
  /** This seed alone. */
  readonly seed?: number;
  readonly maxTotalCost?: number;
}

/** The file that the exchanges with the model are written to, or read from. */
export interface Recording {
  readonly record?: string;
  readonly replay?: string;
}

export interface QuestionSet {
  readonly name: string;
  readonly items: readonly BenchmarkItem[];
  readonly databases: QuestionDatabases;
  /** The file, or the folder of a benchmark. */
  readonly file: string;
  readonly note: string | null;
  /** null: a file of questions. */
  readonly board: Board | null;
  readonly judge: WantedJudge | null;
  readonly settings: AskedWith;
  readonly methods: readonly MethodSeed[];
}

/** One method with one seed on one set of questions. */
export interface Arm {
  readonly set: QuestionSet;
  readonly spec: MethodSpec;
  readonly seed: number;
  readonly web: boolean;
  readonly batch: Batch;
  /** It tells the arm from the others. */
  readonly label: string;
}

interface OpenSet {
  readonly services: Services;
  readonly run: RunConfig;
  readonly overrides: Overrides;
  /** Where relative paths of the plan begin. */
  readonly base: string;
  /** Where those that were typed begin. */
  readonly cwd: string;
  readonly laboratory: Laboratory | null;
  readonly fresh: boolean;
  readonly dryRun: boolean;
}

export async function openSet(entry: RunQuestions, at: OpenSet): Promise<QuestionSet> {
  const { services, run, overrides, base, cwd, laboratory, fresh, dryRun } = at;
  const { config } = services;
  const own = { ...run, ...entry };
  const { docs, web, memory, knowledge = false, judge } = own;
  const settings: AskedWith = {
    ...{ docs, web, memory, knowledge, fresh, dryRun },
    output: own.output ?? 'sql',
    model: overrides.model ?? run.model,
    budgets: budgetsOf(run),
  };
  checkWeb(config, settings);
  const board = entry.benchmark === undefined ? null : ((await laboratory?.board(entry, base, knowledge)) ?? null);
  const items = board?.items ?? (await loadQuestions(resolve(base, entry.file ?? ''), { hiddenKnowledge: knowledge }));
  const selected = selectItems(items, { ids: entry.ids, limit: overrides.limit ?? own.limit });
  if (selected.length === 0) throw new UsageError(`${nameOf(entry)}: no question is selected`);
  const names = new Set(selected.map(({ database }) => database));
  const typed = (overrides.db ?? []).filter((spec) => {
    const named = /^([\w.-]+)=/.exec(spec)?.[1];
    return named === undefined || names.has(named);
  });
  const given = typed.length > 0 ? typed : (own.databases ?? []);
  const specs = board === null ? given : board.databases(selected, given);
  const wanted = { selected, others: board === null ? items : [] };
  const found = questionDatabases(config, specs, wanted, typed.length > 0 ? cwd : base);
  return {
    ...{ name: nameOf(entry), items: selected, board, settings },
    databases: board === null ? found : documented(found, board, selected),
    file: entry.file ?? entry.data ?? '',
    note: entry.note ?? null,
    judge: judge || null,
    methods: askedWith(run, entry, { only: overrides.seed, method: config.method }),
  };
}

/** What the benchmark says of a database stands where a configuration would say it. */
function documented(found: QuestionDatabases, board: Board, items: readonly BenchmarkItem[]): QuestionDatabases {
  const docs = new Map(
    items.map((item) => {
      const path = board.docs(item);
      return [found.of(item).name, path !== null && existsSync(path) ? path : null];
    }),
  );
  const withDocs = (database: ResolvedDatabase): ResolvedDatabase => {
    const path = docs.get(database.name) ?? null;
    return path === null || database.docs.length > 0 ? database : { ...database, docs: [path] };
  };
  return {
    of: (item) => withDocs(found.of(item)),
    find: (item) => {
      const database = found.find(item);
      return database && withDocs(database);
    },
    all: found.all.map(withDocs),
  };
}

/** Whether its answer enters an accuracy. */
export const isScored = ({ board, judge }: QuestionSet, item: BenchmarkItem): boolean =>
  board === null ? hasGold(item, judge !== null) : item.gold !== null;

export interface Composing {
  readonly services: Services;
  readonly files: Recording;
  /** Serves all arms, where no recording tells them apart; null: each opens its own. */
  readonly composition: Composition | null;
}

/** `scope`: the part of a recording. */
export async function withComposition<T>(
  { services, files, composition: shared }: Composing,
  databases: QuestionDatabases,
  scope: string,
  work: (composition: Composition) => Promise<T>,
): Promise<T> {
  if (shared !== null) return work(shared);
  const composition = await compose(services.config, { adHoc: databases.all, ...files, scope });
  return work(composition).finally(() => composition.close());
}

/** A run that is about to ask. */
export interface AskingRun extends Composing {
  readonly surroundings: Surroundings;
  readonly arms: readonly Arm[];
  readonly concurrency: number;
  /** No further question starts once the searches of the run have cost so much; left out: no ceiling. */
  readonly maxTotalCost?: number;
  /** The results hold the rows of each answer. */
  readonly rows: boolean;
  /** The failures of this batch alone are asked again. */
  readonly retry?: {
    readonly batchId: string;
    /** What was cancelled is asked as well. */ readonly undecided: boolean;
  };
  readonly tell: (event: RunEvent) => void;
  readonly stopping: Stopping;
  /** What the workers log is told. */
  readonly debug: boolean;
  /** What each search has cost. */
  readonly costs: Map<string, number>;
}

/** An arm with what it works with. */
export interface ReadyArm {
  readonly run: AskingRun;
  readonly arm: Arm;
  readonly composition: Composition;
  readonly note: (line: string) => void;
}

export const scopeOf = ({ spec, seed }: Pick<Arm, 'spec' | 'seed'>): string => `${spec.spec} seed ${seed}`;

/** Seeds take turns before sets do, and those before methods. */
export async function planArms(
  at: Composing & { readonly base: string; readonly note: (line: string) => void },
  sets: readonly QuestionSet[],
): Promise<Arm[]> {
  const { files, note } = at;
  const hash = files.replay === undefined ? null : sha256(await readFile(files.replay, 'utf8')).slice(0, 8);
  const asking = sets.flatMap((set) => set.methods.map((one) => ({ ...one, set })));
  const seeds = [...new Set(asking.map(({ seed }) => seed))];
  const ordered = seeds.flatMap((seed) => asking.filter((one) => one.seed === seed));
  const differs = (of: (one: (typeof asking)[number]) => unknown): boolean => new Set(asking.map(of)).size > 1;
  const labelOf = ({ set, spec, seed }: (typeof asking)[number]): string =>
    (differs(({ set: { name } }) => name) ? `${set.name}: ` : '') +
    spec.spec +
    (differs((one) => one.seed) ? `, seed ${seed}` : '');
  const withoutWeb = asking.filter(({ set, spec }) => set.settings.web && hasNoWeb(spec.method));
  for (const line of new Set(withoutWeb.map(({ set, spec }) => `${set.name}: ${spec.method}`)))
    note(`${line} has no web, as its source; it goes without`);
  return each(
    ordered,
    async (one): Promise<Arm> => {
      const { set, spec, seed } = one;
      const web = set.settings.web === true && !hasNoWeb(spec.method);
      const asked: AskedWith = { ...set.settings, method: spec, seed, web };
      const batch = await withComposition(at, set.databases, scopeOf(one), (composition) => {
        if (files.replay !== undefined && isEmpty(composition))
          throw new UsageError(
            `--replay: ${basename(files.replay)} holds no ${spec.spec} with seed ${seed}; add it with --record`,
          );
        const { config, store } = at.services;
        const models = modelsFor(config, asked, offeredModels(composition));
        const name = hash === null ? set.name : `${set.name} replay-${hash}`;
        const { items, databases } = set;
        return planBatch({ config, store, asked, name, items, databases, models, cwd: at.base });
      });
      return { set, spec, seed, web, batch, label: labelOf(one) };
    },
    1,
  );
}

/** Of a recording without exchanges of this scope. */
export function isEmpty({ model }: Composition): boolean {
  return model.models?.length === 0;
}

export const modelsOf = (arms: readonly Arm[]): string[] => [
  ...new Set(arms.flatMap(({ batch }) => Object.values(batch.settings.models))),
];
