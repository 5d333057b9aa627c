/**
 * What the judge is asked, outside any search: the same task is paid once per store (`judgements/`), whoever asks it again,
 * because its place in the journal is the hash of the model, the judge's version and all that is sent. Sampling is fixed:
 * temperature 0, top-p 1 (paper, App. LLM-as-a-Judge).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { canonical } from '../src/domain/canonical';
import type { JudgeMode } from '../src/domain/judge-modes';
import { ModelError, type Clock, type LanguageModel, type ModelErrorCode, type ObjectStore } from '../src/domain/ports';
import type { UsageDelta } from '../src/domain/ports/step-parts';
import { retryMessages } from '../src/roles/shared/reply';
import {
  abstentionTask,
  contradictionTask,
  correctnessTask,
  JUDGE_VERSION,
  type ContradictionInput,
  type JudgeTask,
} from './judge-prompt';
import { callOnce } from '../src/record/journal';
import { createRunStore, JUDGEMENTS } from '../src/record/run-store';
import { sha256 } from '../src/sha256';

export interface Judge {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly model: LanguageModel;
  /** The model's name. */
  readonly name: string;
  readonly maxOutputTokens: number;
  readonly signal: AbortSignal;
  /** Told what each call costs that is made now, with its id: askers of the same at once share one call. */
  readonly onPaid?: (usage: UsageDelta, call: string) => void;
  /** Pauses before further tries of a call that met an outage. */
  readonly againAfterMs?: readonly number[];
}

export interface ToJudge {
  readonly question: string;
  readonly context: string | null;
  /** The answer as a user reads it. */
  readonly response: string;
  /** The search ended without an answer: it abstains, and no model is asked whether it does. */
  readonly abstained: boolean;
  /** null: the question cannot be answered. */
  readonly correctAnswer: string | null;
}

/** The words of `Verdict` (`benchmarks/score.ts`) that a judge can say. */
export interface Judgement {
  readonly verdict: 'correct' | 'correct-abstained' | 'wrong' | 'wrong-abstained' | 'wrong-answered' | 'undecided';
  /** The final answer as the judge read it; null: none, or nobody asked. */
  readonly extracted: string | null;
  readonly reason: string;
}

const UNANSWERABLE = 'The question cannot be answered from this database.';

export async function judgeAnswer(judge: Judge, asked: ToJudge, mode: JudgeMode): Promise<Judgement> {
  const isAnswerable = asked.correctAnswer !== null;
  const abstains = (reason: string): Judgement => ({
    ...{ verdict: isAnswerable ? 'wrong-abstained' : 'correct-abstained', extracted: null, reason },
  });
  if (asked.abstained) return abstains('the search gave no answer');
  if (mode === 'two-pass') {
    const first = await askJudge(judge, abstentionTask(asked));
    if (first.kind === 'undecided') return { verdict: 'undecided', extracted: null, reason: first.reason };
    if (first.reply.abstains === 'yes') return abstains(first.reply.reason);
    if (!isAnswerable) return { verdict: 'wrong-answered', extracted: null, reason: first.reply.reason };
  }
  const standard = mode === 'two-pass' ? 'same-meaning' : 'exact';
  const correctAnswer = asked.correctAnswer ?? UNANSWERABLE;
  const second = await askJudge(judge, correctnessTask({ ...asked, correctAnswer, standard }));
  if (second.kind === 'undecided') return { verdict: 'undecided', extracted: null, reason: second.reason };
  const { correct, extracted, reason } = second.reply;
  const [right, wrong] = isAnswerable
    ? (['correct', 'wrong'] as const)
    : (['correct-abstained', 'wrong-answered'] as const);
  return { verdict: correct === 'yes' ? right : wrong, extracted, reason };
}

export interface Contradiction {
  /** null: the judge gave no usable reply. */
  readonly contradictory: boolean | null;
  readonly reason: string;
}

export async function judgeContradiction(judge: Judge, input: ContradictionInput): Promise<Contradiction> {
  const asked = await askJudge(judge, contradictionTask(input));
  if (asked.kind === 'undecided') return { contradictory: null, reason: asked.reason };
  return { contradictory: asked.reply.contradictory === 'yes', reason: asked.reply.reason };
}

type Asked<Reply> =
  { readonly kind: 'decided'; readonly reply: Reply } | { readonly kind: 'undecided'; readonly reason: string };

const TRIES = 3;

async function askJudge<Reply>(judge: Judge, task: JudgeTask<Reply>): Promise<Asked<Reply>> {
  const { store, name, maxOutputTokens, signal } = judge;
  const position = sha256(canonical([JUDGE_VERSION, name, maxOutputTokens, task.messages, task.schema]));
  const run = createRunStore(store, 'judge', { folder: JUDGEMENTS.slice(0, -1) });
  let problem = '';
  let messages = [...task.messages];
  for (let tryNumber = 0; tryNumber < TRIES; tryNumber += 1) {
    const request = {
      ...{ role: 'judge' as const, model: name, messages, schema: task.schema },
      ...{ temperature: 0, topP: 1, maxOutputTokens, seed: 0 },
    };
    const before = { paid: false as boolean };
    const { called } = await patiently(judge, () =>
      callOnce({
        ...{ store, run, position, tryNumber, request, signal },
        ...{ model: judge.model, clock: judge.clock, onHit: () => (before.paid = true) },
      }),
    );
    if (!before.paid) judge.onPaid?.(called.usage, called.id);
    const parsed = task.parse(called.text);
    if (parsed.kind === 'ok') return { kind: 'decided', reply: parsed.reply };
    problem = parsed.error;
    messages = [...messages, ...retryMessages(called.text, parsed.error, parsed.hint, tryNumber + 1, TRIES - 1)];
  }
  return { kind: 'undecided', reason: `the judge's reply could not be read: ${problem}` };
}

const OUTAGES: ReadonlySet<ModelErrorCode> = new Set(['rate-limited', 'server-error', 'connection', 'timeout']);
const AGAIN_AFTER_MS = [1_000, 4_000, 16_000, 60_000];

/** Outside a workflow nobody else tries again. */
async function patiently(
  { againAfterMs = AGAIN_AFTER_MS, signal }: Judge,
  call: () => ReturnType<typeof callOnce>,
): ReturnType<typeof callOnce> {
  for (const pause of againAfterMs) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof ModelError) || !OUTAGES.has(error.code)) throw error;
      await sleep(Math.max(pause, error.options.retryAfterMs ?? 0), undefined, { signal });
    }
  }
  return call();
}
