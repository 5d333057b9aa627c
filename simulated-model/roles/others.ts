/** Roles `evaluate`, `select` and `react`. */
import type { AgentReply } from '../../src/methods/agent/prompt';
import type { EvaluateReply } from '../../src/roles/evaluate';
import type { SelectAnswerReply, SelectByNumberReply } from '../../src/roles/select';
import { answerSentence, baseBody, baseRelation, columnList, failingBody, isWrong, rowsBody } from '../bodies';
import { readPlan } from '../evidence';
import { sectionsNamed, type Section } from '../request';
import type { World } from '../world';

export function evaluate(world: World): Promise<EvaluateReply> {
  const scores = sectionsNamed(world.asked, /^trajectory /).map(({ name, text }) => {
    const trajectory = name.replace(/^trajectory /, '');
    const plan = readPlan(text);
    const written = plan.filter(({ hasSql }) => hasSql);
    const ready = ({ inputs }: (typeof plan)[number]) =>
      inputs.every((input) => written.some((operator) => operator.name === input));
    const bottleneck =
      plan.find((operator) => !operator.hasSql && ready(operator)) ?? plan.find((o) => o.highestRisk >= 0.3);
    return {
      trajectory,
      note: plan.length === 0 ? 'no plan yet' : `${written.length} of ${plan.length} operators are written`,
      progress: plan.length === 0 ? 0 : written.length / plan.length,
      bottleneck: bottleneck?.name ?? null,
      potential: plan.length === 0 ? 6 : 1 + 2 * (plan.length - written.length),
    };
  });
  return Promise.resolve({ scores });
}

export function select(world: World): Promise<SelectAnswerReply | SelectByNumberReply> {
  const candidates = sectionsNamed(world.asked, /^candidate \d+$/);
  if (candidates.some(({ text }) => text.startsWith('found by '))) return Promise.resolve(byNumber(world, candidates));
  const at = candidates.findIndex(({ text }) =>
    text.startsWith('unanswerable: ') ? !world.question.answerable : world.question.answerable && !isWrong(text),
  );
  const reason =
    at < 0 ? 'every candidate counts records more than once' : `candidate ${at + 1} counts each record once`;
  return Promise.resolve({ reason, choice: at + 1 });
}

/** The answer that most paths found. */
function byNumber({ question }: World, candidates: readonly Section[]): SelectByNumberReply {
  const found = candidates.map(({ text }, at) => ({
    choice: at + 1,
    paths: Number(/^found by (\d+) /.exec(text)?.[1] ?? 0),
    isRows: !/^answer: unanswerable: /m.test(text),
  }));
  const fitting = found.filter(({ isRows }) => isRows === question.answerable);
  return { choice: [...fitting].sort((a, b) => b.paths - a.paths)[0]?.choice ?? 0 };
}

/** One to three tool calls, then the end. */
export async function react(world: World): Promise<AgentReply> {
  const { asked } = world;
  if (!world.question.answerable) {
    const missing = 'the fact asked for is not stored in any table or column';
    return { ...END, note: 'Looked at every table.', answer: missing, finalSql: null, unanswerable: true };
  }
  const gold = await world.gold();
  const wanted = 1 + Math.floor(world.draw('turns') * 3);
  const spent = /No tool calls left/.test(asked.turns === 0 ? asked.task : asked.lastUser);
  if (asked.turns >= wanted || spent) {
    const wrong = world.draw('wrong') < world.rates.wrong;
    const sql = wrong ? rowsBody(gold, 0, 'twice') : gold.sql;
    const failing = world.slip('final') < world.rates.failingSql;
    const answer = asked.sentence ? answerSentence(gold) : null;
    return { ...END, note: 'The checks agree.', answer, finalSql: failing ? failingBody(gold) : sql };
  }
  const look =
    asked.turns === 0 && baseRelation(gold) !== null
      ? baseBody(gold, 0)
      : counted(gold.sql, columnList(gold), asked.turns);
  const failing = world.slip('tool') < world.rates.failingSql;
  const sql = failing ? failingBody(gold) : look;
  return {
    ...END,
    note: `Step ${asked.turns + 1}: look before the answer.`,
    action: 'tool_call',
    tool: 'execute_sql',
    ...(asked.severalQueries ? { queries: [{ why: 'look', sql }] } : { sql }),
  };
}

const END: AgentReply = {
  note: '',
  action: 'end',
  tool: null,
  answer: null,
  finalSql: null,
  unanswerable: false,
};

function counted(sql: string, columns: string, turn: number): string {
  return `WITH looked${turn}(${columns}) AS (\n${sql}\n)\nSELECT count(*) AS n FROM looked${turn}`;
}
