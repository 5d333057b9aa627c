/**
 * What a search costs by part of its prompts. A provider counts the tokens of a call as one number, so that number is shared out
 * over the parts by their characters: exact in sum, near in each part.
 */
import type { ChatMessage } from '../domain/model-call';
import type { CallIntent, CallReply } from '../record/contents';
import { compareIds, cut } from './printable';

export const PARTS = [
  'schema',
  'rules',
  'documents',
  'looks so far',
  'claims',
  'earlier questions',
  'what is known',
  'question and task',
] as const;
type Part = (typeof PARTS)[number];

export type PartTokens = Readonly<Record<Part, number>>;

export interface CallTokens {
  readonly call: string;
  readonly role: string;
  readonly in: number;
  readonly out: number;
  readonly parts: PartTokens;
}

export interface SearchTokens {
  readonly calls: readonly CallTokens[];
  readonly sum: Omit<CallTokens, 'call' | 'role'>;
}

/** Sections of a prompt, `<rules>` or `<data name="…">`; the sentence before each belongs to it. */
const SECTION = /<rules>\n[\s\S]*?\n<\/rules>|<data name="([^"]*)">\n[\s\S]*?\n<\/data>/g;

const BY_NAME: readonly (readonly [RegExp, Part])[] = [
  [/^(schema|columns of tables)/, 'schema'],
  [/^(document|documentation)/, 'documents'],
  [/^earlier questions$/, 'earlier questions'],
  [/^(known|proved by execution|kept before|claim)/, 'claims'],
  [/^(result|observation|error|hint)/, 'looks so far'],
];

export function tokensOf(
  intents: ReadonlyMap<string, Pick<CallIntent, 'messages' | 'role'>>,
  replies: ReadonlyMap<string, Pick<CallReply, 'reply'>>,
): SearchTokens {
  const calls = [...replies]
    .sort(([a], [b]) => compareIds(a, b))
    .map(([call, { reply }]): CallTokens => {
      const { messages = [], role = '' } = intents.get(call) ?? {};
      const parts = shared(charsOf(messages), reply.promptTokens);
      return { call, role, in: reply.promptTokens, out: reply.completionTokens, parts };
    });
  const total = (of: (call: CallTokens) => number): number => calls.reduce((sum, call) => sum + of(call), 0);
  const parts = mapped((part) => total((call) => call.parts[part]));
  return { calls, sum: { in: total((call) => call.in), out: total((call) => call.out), parts } };
}

function charsOf(messages: readonly ChatMessage[]): PartTokens {
  const chars = { ...mapped(() => 0) };
  for (const [at, { role, content }] of messages.entries()) {
    if (role === 'system') chars.rules += content.length;
    // Replies and what was found to them; the first message of the user has all the rest.
    else if (at > 1 || role === 'assistant') chars['looks so far'] += content.length;
    else {
      let rest = content.length;
      for (const [section, name] of content.matchAll(SECTION)) {
        chars[partOf(name)] += section.length;
        rest -= section.length;
      }
      chars['question and task'] += rest;
    }
  }
  return chars;
}

function partOf(name: string | undefined): Part {
  if (name === undefined) return 'rules';
  return BY_NAME.find(([pattern]) => pattern.test(name))?.[1] ?? 'what is known';
}

/** Whole tokens that add up to those of the call: each part ends where its characters do. */
function shared(chars: PartTokens, tokens: number): PartTokens {
  const all = PARTS.reduce((sum, part) => sum + chars[part], 0);
  if (all === 0) return mapped((part) => (part === 'question and task' ? tokens : 0));
  let before = 0;
  let given = 0;
  return mapped((part) => {
    before += chars[part];
    const upTo = Math.round((tokens * before) / all);
    const own = upTo - given;
    given = upTo;
    return own;
  });
}

function mapped(of: (part: Part) => number): PartTokens {
  return Object.fromEntries(PARTS.map((part) => [part, of(part)])) as Record<Part, number>;
}

/** A row for each call and one for all, with the parts that any of them has. */
export function tokensTable({ calls, sum }: SearchTokens): {
  readonly heads: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
} {
  const parts = PARTS.filter((part) => sum.parts[part] > 0);
  const row = (name: string, each: SearchTokens['sum']): (string | number)[] => [
    name,
    ...parts.map((part) => each.parts[part]),
    each.in,
    each.out,
  ];
  return {
    heads: ['call', ...parts, 'in', 'out'],
    rows: [...calls.map((each) => row(cut(each.call, 40), each)), row('sum', sum)],
  };
}
