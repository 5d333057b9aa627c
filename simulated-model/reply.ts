/** Makes the completion for a request: finds role and question, and breaks the JSON if that fault was drawn. */
import type { Role } from '../src/domain';
import { drawer, hashOf } from './draw';
import type { Gold } from './gold';
import { baseRelation } from './bodies';
import type { GoldQuestion, Lookup } from './questions';
import { readRequest, sectionsNamed, type Asked, type ChatBody } from './request';
import { ground } from './roles/ground';
import { judge } from './roles/judge';
import { keep } from './roles/keep';
import { learn } from './roles/learn';
import { look } from './roles/look';
import { evaluate, react, select } from './roles/others';
import { plan } from './roles/plan';
import { propose } from './roles/propose';
import { helper, redel } from './roles/redel';
import * as reforce from './roles/reforce';
import type { Rates, World } from './world';

export interface ReplyOptions {
  readonly seed: number;
  readonly lookup: Lookup;
  readonly gold: (question: GoldQuestion) => Promise<Gold>;
  readonly rates: Rates;
  readonly brokenJson: number;
}

export type SimulatedReply =
  | { readonly kind: 'text'; readonly role: Role; readonly text: string }
  /** The model cannot answer this request; `error` says why. */
  | { readonly kind: 'refused'; readonly error: string };

const ROLES: Record<Exclude<Role, 'learn' | 'judge'>, (world: World) => Promise<object>> = {
  ...{ look, keep, plan, propose, ground, evaluate, select, react, redel },
  ...{ 'reforce-link': reforce.link, 'reforce-format': reforce.format, 'reforce-explore': reforce.explore },
  ...{ 'reforce-generate': reforce.generate, 'reforce-choose': reforce.choose, 'reforce-answer': reforce.phrase },
};

export async function simulateReply(
  body: ChatBody,
  contentHash: string,
  options: ReplyOptions,
): Promise<SimulatedReply> {
  const read = readRequest(body);
  if (read.kind === 'unclear') return { kind: 'refused', error: read.error };
  const { asked } = read;
  if (asked.role === 'judge') return { kind: 'text', role: asked.role, text: JSON.stringify(judge(asked)) };
  // A database is learned without a question.
  if (asked.role === 'learn') return { kind: 'text', role: asked.role, text: JSON.stringify(await learn({ asked })) };
  if (asked.isSubtask) return { kind: 'text', role: asked.role, text: JSON.stringify(helper(asked)) };
  const found = options.lookup(asked.question);
  const fitting = found.filter(({ engine }) => asked.dialect === null || engine === asked.dialect);
  const question = fitting.length > 1 ? await bySchema(fitting, asked, options) : fitting[0];
  if (question === undefined) {
    const elsewhere = found.map(({ engine }) => engine).join(', ');
    const known = elsewhere === '' ? 'it is in no --questions file' : `it is known for ${elsewhere} only`;
    return { kind: 'refused', error: `no gold SQL for this question (${known}): ${asked.question.slice(0, 200)}` };
  }
  const draw = drawer(options.seed);
  const about = [body.seed ?? 0, question.id];
  const slip = (kind: string): number => draw('slip', kind, contentHash);
  const world: World = {
    asked,
    question,
    rates: options.rates,
    draw: (...more) => draw(...about, ...more),
    slip,
    gold: () => options.gold(question),
  };
  const text = JSON.stringify(await ROLES[asked.role](world));
  return { kind: 'text', role: asked.role, text: slip('json') < options.brokenJson ? broken(text, slip('how')) : text };
}

/** Equal for the same conversation and sampling seed; the model's name and limits do not count. */
export function contentHashOf(body: ChatBody): string {
  return hashOf([body.seed ?? null, body.messages.map(({ role, content }) => [role, content])]).slice(0, 32);
}

/** If several databases have the same question: the one whose relations the prompt's schema names. */
async function bySchema(
  questions: readonly GoldQuestion[],
  asked: Asked,
  options: ReplyOptions,
): Promise<GoldQuestion | undefined> {
  const schema = sectionsNamed(asked, /^schema$/)
    .map(({ text }) => text.toLowerCase())
    .join('\n');
  for (const question of questions) {
    if (!question.answerable) continue;
    const relation = baseRelation(await options.gold(question));
    if (relation === null || schema === '' || schema.includes(relation.toLowerCase())) return question;
  }
  return questions[0];
}

function broken(text: string, how: number): string {
  if (how < 0.34) return text.slice(0, Math.floor(text.length * 0.7));
  if (how < 0.67) return text.replace(/"(\w+)":/, "'$1':");
  return 'Let me think about the tables first. I will answer in a moment.';
}
