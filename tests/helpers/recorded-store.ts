/**
 * Stores that earlier versions wrote, kept under `tests/fixtures/stores`: what is asked in them, by the names that
 * `recorded.json` of each gives its search ids under. `scripts/record-store.ts` writes them; a test copies one and goes on
 * from there.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { loadQuestions, startSimulatedModel, type GoldQuestion, type SimulatedModel } from '../../simulated-model';
import { ROOT, SAMPLE_QUESTIONS } from './shared-data';

export const STORES = join(ROOT, 'tests', 'fixtures', 'stores');

/** The name of an ad-hoc database is made from its absolute path, so this path is the same wherever the test runs. */
export const AD_HOC = '/tmp/gate-recorded-store/sprint.sqlite';

/** The configured name of the fixture's own database; stores since 2026-11-22 know it by its `id`, wherever it is copied to. */
export const CONFIGURED = 'sprint';

/** `path` for a recording: the store notes where its databases are, so this is no folder of the machine either. */
export const CONFIGURED_AT = '/tmp/gate-recorded-store/configured.sqlite';

export function configuration(path: string): object {
  return { databases: { [CONFIGURED]: { path, id: 'sprint-recorded' } } };
}

export const ASKED = {
  answered: { question: 'sprint-points-per-team', flags: [] },
  adHoc: { question: 'sprint-drivers-count', flags: [] },
  cancelled: { question: 'sprint-largest-gap', flags: [] },
  paper: { question: 'sprint-pole-to-win', flags: ['--preset', 'paper'] },
  react: { question: 'sprint-tracks-2022', flags: ['--method', 'react'] },
} as const satisfies Record<string, { readonly question: string; readonly flags: readonly string[] }>;
export type AskedName = keyof typeof ASKED;

export const FORK_FLAGS = ['--at', '1', '--seed', '5', '--hint', 'ties count for both', '--author', 'ada'] as const;

/** Its first three are answered in the store. */
export const BATCH = [
  'sprint-teams-names',
  'sprint-drivers-per-team',
  'sprint-events-per-season',
  'sprint-wins-per-driver',
  'sprint-dominant',
  'sprint-unanswerable-fuel',
] as const;
export const BATCH_ANSWERED = 3;
export const BATCH_ARGS = ['batch', 'run', 'questions.jsonl', '--out', 'out', '--concurrency', '1'] as const;

export interface Recorded {
  readonly recordedWith: string;
  readonly searches: Record<AskedName | 'fork', string>;
}

/** `gate ask` for one of them, without `ask` and `--json`. */
export function askArgs(name: AskedName): string[] {
  const { question, flags } = ASKED[name];
  return [wordsOf(question), '--db', name === 'adHoc' ? AD_HOC : CONFIGURED, ...flags];
}

export function wordsOf(id: string): string {
  return goldOf(id).question;
}

export function goldOf(id: string): GoldQuestion {
  const found = loadQuestions(SAMPLE_QUESTIONS).find((each) => each.id === id);
  if (found === undefined) throw new Error(`no question ${id} in ${SAMPLE_QUESTIONS}`);
  return found;
}

/** Questions that take several iterations: there is something to fork, and time to interrupt. */
const DOUBTED: ReadonlySet<string> = new Set([ASKED.answered.question, ASKED.cancelled.question]);

/** The model of one question or of the batch; the same requests get the same replies in the recording and in a test. */
export function recordedModel(sprint: string, question: string | null, latencyMs = 0): Promise<SimulatedModel> {
  const doubted = question !== null && DOUBTED.has(question);
  return startSimulatedModel({
    questions: [SAMPLE_QUESTIONS],
    databases: [`${CONFIGURED}=${sprint}`],
    latencyMs,
    rates: doubted
      ? { doubt: 1, wrong: 1, inconclusive: 0.5, immaterial: 0 }
      : { doubt: 0, wrong: 0, inconclusive: 0, immaterial: 0 },
  });
}

/** Renamed into place, so that tests that run at once do not see half a file. */
export function place(sprint: string, path: string): void {
  if (existsSync(path)) return;
  mkdirSync(dirname(path), { recursive: true });
  const fresh = `${path}.${process.pid}`;
  cpSync(sprint, fresh);
  renameSync(fresh, path);
}

/** The store, batch folder, configuration and database of one recording, in a folder of the test's own. */
export function copyRecordedStore(date: string, folder: string): Recorded {
  cpSync(join(STORES, date), folder, { recursive: true });
  return JSON.parse(readFileSync(join(folder, 'recorded.json'), 'utf8')) as Recorded;
}
