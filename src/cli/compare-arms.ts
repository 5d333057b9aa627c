/**
 * The arms of a comparison: one durable batch for each method, seed and set of questions, with the id that `gate batch run`
 * gives it, so that an interrupted one goes on where it was and one done before costs nothing.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { BenchmarkItem, Entrant } from '../questions';
import type { MethodSpec } from '../config/method-specs';
import { isDecided, presetOf } from '../domain';
import type { JudgeMode } from '../domain/judge-modes';
import { groupBy } from '../group-by';
import { each } from '../limiter';
import { counted } from '../report/printable';
import { compose, type Composition } from '../workers/composition';
import { hasNoWeb } from '../app/question-input';
import type { Asking } from '../app/start-search';
import type { BatchDatabases } from './batch-databases';
import type { Batch, BatchFlags } from './batch-plan';
import type { Scorer } from './batch-results';
import { plannedBatch } from './batch-run';
import { UsageError } from '../app/errors';
import type { Io } from './io';
import type { LimitFlags, ModelFlags } from './options';
import { recordOf, sha256, type Services } from '../app/services';

/** With what all arms ask. */
export interface ArmFlags extends LimitFlags, Pick<BatchFlags, 'web' | 'memory'> {
  readonly model?: ModelFlags;
  readonly maxTotalCost?: number;
  readonly concurrency: number;
  readonly knowledge?: boolean;
  readonly docs?: readonly string[] | false;
  readonly judge?: JudgeMode;
  readonly judgeModel?: string;
  readonly dryRun?: boolean;
  readonly fresh?: boolean;
  readonly debug?: boolean;
}

/** What is asked, of which databases. */
export interface Asked {
  readonly name: string;
  readonly items: readonly BenchmarkItem[];
  readonly databases: BatchDatabases;
  readonly output: BatchFlags['output'];
  /** Of a benchmark; left out: its own. */
  readonly score?: Scorer;
}

export interface Comparing {
  readonly services: Services;
  readonly asked: Asked;
  readonly flags: ArmFlags;
  readonly files: Asking['files'];
  readonly io: Io;
  /** Serves all arms, where no recording tells them apart; left out: each has its own. */
  readonly composition?: Composition;
}

/** One method with one seed. */
export interface Arm {
  readonly at: Comparing;
  readonly spec: MethodSpec;
  readonly seed: number;
  readonly flags: BatchFlags;
  readonly batch: Batch;
}

export async function withComposition<T>(
  { services, asked, files, composition: shared }: Comparing,
  scope: string,
  work: (composition: Composition) => Promise<T>,
): Promise<T> {
  if (shared !== undefined) return work(shared);
  const scoped = Object.keys(files).length === 0 ? {} : { ...files, scope };
  const composition = await compose(services.config, { adHoc: asked.databases.all, ...scoped });
  try {
    return await work(composition);
  } finally {
    await composition.close();
  }
}

/** Of an arm in a recording. */
export const scopeOf = ({ spec }: MethodSpec, seed: number): string => `${spec} seed ${seed}`;

/** Every method asks the same databases, so what is to be said of them is said once. */
function saidOnce(io: Io): (text: string) => void {
  const said = new Set<string>();
  return (text) => {
    if (!said.has(text)) io.err(text);
    said.add(text);
  };
}

export async function armsOf(at: Comparing, asking: readonly Pick<Arm, 'spec' | 'seed'>[]): Promise<Arm[]> {
  const { services, asked, flags, files, io } = at;
  const { databases, items, output } = asked;
  const hash = files.replay === undefined ? null : sha256(await readFile(files.replay, 'utf8')).slice(0, 8);
  const name = hash === null ? asked.name : `${asked.name} replay-${hash}`;
  const told = { cwd: io.cwd, err: saidOnce(io) };
  const arms: Arm[] = [];
  for (const { spec, seed } of asking) {
    const withoutWeb = flags.web === true && hasNoWeb(spec.method);
    if (withoutWeb) told.err(`${asked.name}: ${spec.method} has no web, as its source; it goes without\n`);
    const ofArm: BatchFlags = { ...flags, method: spec, seed, output, ...(withoutWeb && { web: false }) };
    const batch = await withComposition(at, scopeOf(spec, seed), (composition) => {
      if (files.replay !== undefined && isEmpty(composition))
        throw new UsageError(
          `--replay: ${basename(files.replay)} holds no ${spec.spec} with seed ${seed}; add it with --record`,
        );
      return plannedBatch({ services, composition, databases, items, flags: ofArm, name, io: told });
    });
    arms.push({ at, spec, seed, flags: ofArm, batch });
  }
  return arms;
}

export function isEmpty({ model }: Composition): boolean {
  return 'remaining' in model && (model.remaining as () => number)() === 0;
}

export function entrantsOf(arms: readonly Arm[]): Entrant[] {
  return [...groupBy(arms, ({ spec }) => spec.spec)].flatMap(([method, [arm]]) => {
    if (arm === undefined) return [];
    const { method: name, models } = arm.batch.settings;
    return [{ method, name, preset: presetOf(name), models }];
  });
}

/** One Temporal for all batches: the embedded server would start and stop with each. */
export async function isAnythingOpen({ store }: Services, arms: readonly Arm[]): Promise<boolean> {
  const searches = arms.flatMap(({ batch }) => batch.searches);
  const records = await each(searches, ({ searchId }) => recordOf(store, searchId));
  return records.some((record) => record === null || !isDecided(record));
}

/** A new recording lacks what the store had. */
export function tellFound({ record }: Asking['files'], isNewFile: boolean, found: number, io: Io): void {
  if (!isNewFile || found === 0) return;
  io.err(
    `${counted(found, 'answer')} came from the store and ${found === 1 ? 'is' : 'are'} not in ${record ?? ''}: --fresh records all of them\n`,
  );
}

export const isNew = ({ record }: Asking['files']): boolean => record !== undefined && !existsSync(record);

export const modelsOf = (arms: readonly Arm[]): string[] => [
  ...new Set(arms.flatMap(({ batch }) => Object.values(batch.settings.models))),
];
