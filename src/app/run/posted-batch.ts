/** A batch whose questions are given as they are, for doors that take no file: workers in the background work on it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { MemoryMode } from '../../domain';
import { sha256 } from '../../sha256';
import type { App } from '../app';
import { ownDatabase, type Asker } from '../asker';
import { given } from '../given';
import type { DetachedRun } from './run';

const text = z.string().trim().min(1);

export const PostedBatch = z.strictObject({
  /** Another name makes another batch. */
  name: text.max(100),
  questions: z
    .array(z.strictObject({ id: text.optional(), question: text, db: text, context: text.optional() }))
    .min(1),
  /** As `--method` takes it. */
  method: text.optional(),
  memory: MemoryMode.optional(),
  seed: z.int().optional(),
  /** Questions at the same time. Left out: 8. */
  concurrency: z.int().positive().optional(),
  /** What each question may cost, in US dollars. */
  maxCostUsd: z.number().positive().optional(),
});

/** Posted again, it goes on where it was, and what is answered costs nothing. */
export async function postBatch(posted: z.input<typeof PostedBatch>, asker: Asker, app: App): Promise<DetachedRun> {
  const [{ detachRun }, { configOf }] = await Promise.all([import('./run'), import('./run-config')]);
  const { name, questions, method, memory, seed, concurrency, maxCostUsd } = given(PostedBatch, posted, 'batch');
  const lines = questions.map(({ id, question, db, context }, at) =>
    JSON.stringify({ id: id ?? String(at + 1), question, database: ownDatabase(app, db, asker), context }),
  );
  const content = `${lines.join('\n')}\n`;
  const folder = join(app.config.folders.data, 'posted');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, `${sha256(content).slice(0, 16)}.jsonl`);
  writeFileSync(file, content, { mode: 0o600 });
  const plan = {
    ...{ name, questions: [{ name, file }], databases: [...new Set(questions.map(({ db }) => db))] },
    ...(method !== undefined && { methods: [method] }),
    ...{ memory, concurrency, seeds: seed === undefined ? undefined : [seed], 'max-cost': maxCostUsd },
  };
  const never = new AbortController().signal;
  const door = { surroundings: app, tell: () => undefined, stopping: { asked: never, quit: never } };
  const wanted = {
    read: configOf(plan, 'the batch'),
    overrides: {},
    base: folder,
    out: null,
    command: 'POST /v1/batches',
  };
  const started: DetachedRun[] = [];
  await detachRun(wanted, door, (run) => void started.push(run));
  const [run] = started;
  if (run === undefined) throw new Error('a batch began without being told');
  return run;
}
