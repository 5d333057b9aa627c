/**
 * The searches that the benches run, and the simulated model's slips that make them take their calls. Question, settings
 * and seed decide every reply, so that all contestants do the same work.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Dialect, SearchInput, Settings } from '../../src/domain';
import { settingsFor } from '../../src/config/presets';
import { loadQuestions, SIMULATED_MODEL, type GoldQuestion, type Rates } from '../../simulated-model';

const EXAMPLES = join(__dirname, '../../../examples');
export const QUESTIONS = join(EXAMPLES, 'questions/sprint.jsonl');
export const SPRINT_SQL = join(EXAMPLES, 'sprint/sprint.sql');

export const readSprintSql = (): string => readFileSync(SPRINT_SQL, 'utf8');

/**
 * `usual`: preset `fast`, about two model calls. `endless`: preset `paper`, whose rollouts go on until the iterations are used up.
 */
export type Shape = 'usual' | 'endless';

/** Every question is doubtful, so that a search earns its probes. */
export const RATES: Partial<Rates> = { doubt: 1, wrong: 0.5, inconclusive: 0.3, immaterial: 0 };

type Overrides = Partial<Pick<Settings, 'iterations' | 'cMin' | 'cMax' | 'maxPlans' | 'budgets'>>;

function settingsOf(shape: Shape, seed: number, overrides: Overrides): Settings {
  const models = { default: SIMULATED_MODEL };
  const own = { seed, ...overrides };
  switch (shape) {
    case 'usual':
      return settingsFor({ method: 'fast', models, overrides: own });
    case 'endless':
      return settingsFor({
        ...{ method: 'paper', models },
        overrides: { iterations: 40, cMin: 50, cMax: 50, maxPlans: 50, ...own },
      });
  }
}

export interface SearchesOptions {
  readonly shape: Shape;
  readonly count: number;
  readonly engine: Dialect;
  /** Search ids begin with it; one name, one run. */
  readonly name: string;
  readonly firstSeed?: number;
  readonly overrides?: Overrides;
}

export function benchSearches(options: SearchesOptions): readonly SearchInput[] {
  const { shape, count, engine, name, firstSeed = 1, overrides = {} } = options;
  const questions = answerable(engine);
  return Array.from({ length: count }, (_, at) => {
    const question = questions[at % questions.length];
    if (question === undefined) throw new Error(`${QUESTIONS} holds no answerable question for ${engine}`);
    return {
      ...{ searchId: `${name}-${at}`, namespace: 'bench', identity: question.database },
      settings: settingsOf(shape, firstSeed + at, overrides),
      question: {
        ...{
          text: question.question,
          database: question.database,
          outputMode: 'answer' as const,
        },
        ...{ tools: ['execute_sql' as const], context: null, instructions: null, documents: [] },
      },
    };
  });
}

export function answerable(engine: Dialect): readonly GoldQuestion[] {
  return loadQuestions(QUESTIONS).filter((question) => question.answerable && question.engine === engine);
}
