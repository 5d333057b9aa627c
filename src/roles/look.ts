/**
 * The conversation of `look-then-prove`: a model step whose reply is stored as a turn, and the queries of a look, which run
 * together in one snapshot.
 */
import { lookSchema, parseLook, renderLook } from './look-prompt';
import type { LookReply } from '../domain/turns';
import type { ModelOutcome, LookInput, Looked, QueriesInput, Queried } from '../ports/search-steps';
import { engineScope, parserScope, selectText, type SearchScope } from './shared/bodies';
import { buildCommit } from './sql/commit-plan';
import { addDeltas, once, type StepContext } from './shared/context';
import { turnsOf } from './look-texts';
import { contentId, invalid, runModelStep, type Read } from './shared/model-step';
import { promptContext } from './shared/prompt-context';
import { runSelects } from './sql/queries';
import { refused } from './shared/statements';
import { columnsOfNamed, profileExtra, showTables } from './shared/shown-tables';

/** Observations need an operator; this name stands for a look, which has none. */
export const LOOK = 'op_look';

export async function look(context: StepContext, step: LookInput): Promise<ModelOutcome<Looked>> {
  const prompt = {
    ...(await promptContext(context, step.memory)),
    turns: await turnsOf(context, step.turns),
    ...(step.hearsOut && { hearsOut: step.hearsOut }),
  };
  const scope = await parserScope(context);
  return runModelStep(context, step, {
    role: 'look',
    schema: lookSchema(prompt),
    messages: () => renderLook(prompt),
    parse: (text) => parseLook(text, prompt),
    read: (reply) => read(context, scope, contentId(step), reply),
    details: (text) => columnsOfNamed(context, text),
  });
}

/** A query of a look that does not parse is told with the others' results, if there are any; a commit has to be sound as a whole. */
function read(context: StepContext, scope: SearchScope, turnId: string, reply: LookReply): Read<Looked> {
  if (reply.action === 'commit') {
    const built = buildCommit(context, scope, turnId, reply);
    if (!('plan' in built)) return { ...invalid(built, 'mend what each line names and keep the rest'), badSql: true };
  }
  if (reply.action === 'look') {
    const selects = selectsOf(reply, scope);
    const wrong = selects.flatMap((select) => (select.kind === 'invalid' ? [select.error] : []));
    if (wrong.length === selects.length)
      return { ...invalid(wrong, 'write each query as one SELECT over the tables shown'), badSql: true };
  }
  return {
    kind: 'ok',
    store: async () => {
      await context.run.put('turn', turnId, { turnId, reply });
      return { turnId, action: reply.action };
    },
  };
}

function selectsOf({ queries }: LookReply, scope: SearchScope) {
  return queries.map(({ sql }, at) => ({ ...selectText(sql, `query ${at + 1}`, scope), sql }));
}

export async function queries(context: StepContext, step: QueriesInput): Promise<Queried> {
  return once(context, async () => {
    const { reply } = await context.run.get('turn', step.turnId);
    const scope = await engineScope(context);
    const written = selectsOf(reply, scope);
    const { runs, takenAt, usage } = await runSelects(context, scope.description.dialect, written);
    const tests = written.map((each, at) => ({
      operator: LOOK,
      probeSql: each.kind === 'ok' ? each.value.sql : each.sql,
      result: runs[at]?.result ?? refused('it was not run'),
      hypotheses: [],
      materiality: null,
    }));
    const observationId = step.turnId;
    await context.run.put('observation', observationId, {
      ...{ observationId, proposalId: step.turnId, tests, takenAt },
    });
    const read = written.flatMap((each) => (each.kind === 'ok' ? each.value.relations : []));
    await showTables(context, step.turnId, read, '');
    const profiled = await profileExtra(context, step.turnId);
    return { observationId, usage: addDeltas(usage, profiled) };
  });
}
