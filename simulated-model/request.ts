/**
 * What a chat request asks: the role, the engine, the question and the sections of the prompt, read from the texts of
 * `src/prompts`. Only structure is read: names, states, outcomes and counts, never what rows say.
 */
import * as z from 'zod';
import { Dialect, Role } from '../src/domain';
import { DIALECTS } from '../src/sql/dialects';

export const ChatBody = z.object({
  model: z.string(),
  seed: z.number().nullish(),
  messages: z.array(z.object({ role: z.string(), content: z.string() })).min(1),
  response_format: z.object({ type: z.string(), json_schema: z.object({ name: z.string() }).nullish() }).nullish(),
});
export type ChatBody = z.infer<typeof ChatBody>;

export interface Section {
  readonly name: string;
  readonly text: string;
}

export interface Asked {
  readonly role: Role;
  readonly dialect: Dialect | null;
  readonly question: string;
  /** The first user message without its data sections and rules. */
  readonly task: string;
  readonly sections: readonly Section[];
  /** Number of unusable replies so far. */
  readonly retries: number;
  /** Tool results so far (roles `react` and `redel`). */
  readonly turns: number;
  readonly lastUser: string;
  /** Whether an action of role `react` holds a list of queries. */
  readonly severalQueries: boolean;
  /** Whether the reply must contain the answer as a sentence with places. */
  readonly sentence: boolean;
  /** Of role `redel`: the question is the subtask of a helper. */
  readonly isSubtask: boolean;
  /** It has helpers already. */
  readonly delegated: boolean;
  /** It has tools of its own. */
  readonly mayQuery: boolean;
}

export type ReadRequest =
  { readonly kind: 'asked'; readonly asked: Asked } | { readonly kind: 'unclear'; readonly error: string };

export function readRequest(body: ChatBody): ReadRequest {
  const system = body.messages.find(({ role }) => role === 'system')?.content ?? '';
  const users = body.messages.filter(({ role }) => role === 'user').map(({ content }) => content);
  const [first = ''] = users;
  const { rules, rest: task } = outsideOf(first);
  const role = roleOf(body, rules);
  if (role === null) return { kind: 'unclear', error: 'no role of this project is recognised in the request' };
  const sections = sectionsOf(first);
  const question = questionOf(task);
  if (question === null) return { kind: 'unclear', error: 'no line "Question: …" in the first user message' };
  return {
    kind: 'asked',
    asked: {
      role,
      dialect: dialectOf(system),
      question,
      task,
      sections,
      retries: users.filter((text) => text.startsWith('Your last reply could not be used')).length,
      turns: users.filter((text) => /^<data name="(?:result(?: 1)?|helper 1, \w+)">/.test(text)).length,
      lastUser: users.at(-1) ?? '',
      severalQueries: /^- tool_call: tool execute_sql with queries, /m.test(rules),
      sentence: /^SENTENCE\. /m.test(rules),
      isSubtask: /^Subtask: /m.test(task),
      delegated: users.some((text) => /^<data name="helper 1, /.test(text)),
      mayQuery: /^- tool_call: /m.test(rules),
    },
  };
}

export function sectionsNamed(asked: Asked, name: RegExp): readonly Section[] {
  return asked.sections.filter((section) => name.test(section.name));
}

function dialectOf(system: string): Dialect | null {
  return Dialect.options.find((dialect) => new RegExp(`\\b${DIALECTS[dialect].name}\\b`).test(system)) ?? null;
}

/** How the rules of each role begin, for clients whose request carries no schema name. */
const OPENINGS: readonly (readonly [RegExp, Role])[] = [
  [/^<rules>\nYou score the open trajectories/, 'evaluate'],
  [/^<rules>\nYou turn the question/, 'plan'],
  [/^<rules>\nYou design the next test/, 'propose'],
  [/^<rules>\nYou judge what/, 'ground'],
  [/^<rules>\nYou choose the answer/, 'select'],
  [/^<rules>\nYou answer the question together with a program/, 'look'],
  [/^<rules>\nYou read what a database has just counted/, 'keep'],
  [/^<rules>\nYou judge whether/, 'judge'],
  [/^<rules>\nYou learn an undocumented database/, 'learn'],
  [/^<rules>\nYou (?:look into one point|answer the question (?:through helpers|.*\. Helpers can look))/, 'redel'],
  [/^<rules>\nYou answer the question/, 'react'],
  [/^<rules>\nYou decide whether one table/, 'reforce-link'],
  [/^<rules>\nYou say which columns the answer has/, 'reforce-format'],
  [/^<rules>\nYou look at the columns/, 'reforce-explore'],
  [/^<rules>\nYou write the SQL/, 'reforce-generate'],
  [/^<rules>\nYou pick one of several SQL/, 'reforce-choose'],
  [/^<rules>\nYou put the result/, 'reforce-answer'],
];

function roleOf(body: ChatBody, rules: string): Role | null {
  const named = Role.safeParse(body.response_format?.json_schema?.name);
  if (named.success) return named.data;
  return OPENINGS.find(([opening]) => opening.test(rules))?.[1] ?? null;
}

const AFTER_QUESTION =
  /\n(?:Context \(binding\): |Instructions: |\n(?:Task: |Wanted: |Wanted at the end: |Tool calls left: ))/;

function questionOf(task: string): string | null {
  const at = /^(?:Question|Subtask): /m.exec(task);
  if (at === null) return null;
  const rest = task.slice(at.index + at[0].length);
  const end = rest.search(AFTER_QUESTION);
  return (end < 0 ? rest : rest.slice(0, end)).trim();
}

const SECTION = /<data name="([^"\n]*)">\n([\s\S]*?)\n<\/data>/g;
const RULES = /<rules>\n[\s\S]*?\n<\/rules>/;

function sectionsOf(text: string): Section[] {
  return [...text.matchAll(SECTION)].map(([, name = '', inner = '']) => ({ name, text: inner }));
}

/** A message without its sections: the rules, and all else. */
export function outsideOf(text: string): { readonly rules: string; readonly rest: string } {
  const outside = text.replace(SECTION, '');
  return { rules: RULES.exec(outside)?.[0] ?? '', rest: outside.replace(RULES, '').trim() };
}
