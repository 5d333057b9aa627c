/**
 * The conversation of `look-then-prove`: a model step whose reply is stored as a turn, and the queries of a look, which run
 * together in one snapshot.
 */
import type { DatabaseDescription } from '../domain';
import { lookSchema, parseLook, renderLook, type LookReply } from '../prompts';
import { compileSelect } from '../sql/compile';
import { clockOperator } from '../sql/clock';
import type { ModelOutcome, LookInput, Looked, QueriesInput, Queried } from '../ports/search-steps';
import { selectText } from './bodies';
import { bodyScope, buildCommit, type CommitScope } from './commit-plan';
import { addDeltas, once, openInspector, openParser, runSql, type StepContext } from './context';
import { turnsOf } from './look-texts';
import { contentId, invalid, runModelStep, type Read } from './model-step';
import { SCHEMA_ID } from '../record/contents';
import { promptContext } from './prompt-context';
import { columnsOfNamed, profileExtra, showTables } from './shown-tables';

/** Observations need an operator; this name stands for a look, which has none. */
export const LOOK = 'op_look';

export async function look(context: StepContext, step: LookInput): Promise<ModelOutcome<Looked>> {
  const prompt = {
    ...(await promptContext(context, step.memory)),
    turns: await turnsOf(context, step.turns),
  };
  const { description } = await context.run.get('schema', SCHEMA_ID);
  const inspector = await openParser(context, description.dialect);
  return runModelStep(context, step, {
    role: 'look',
    schema: lookSchema,
    messages: () => renderLook(prompt),
    parse: (text) => parseLook(text, prompt),
    read: (reply) => Promise.resolve(read({ context, inspector, description }, contentId(step), reply)),
    details: (text) => columnsOfNamed(context, text),
  });
}

/** A query of a look that does not parse is told with the others' results; a commit has to be sound as a whole. */
function read(scope: CommitScope, turnId: string, reply: LookReply): Read<Looked> {
  if (reply.action === 'commit') {
    const built = buildCommit(scope, turnId, reply);
    if (!('plan' in built)) return invalid(built, 'mend what each line names and keep the rest');
  }
  return {
    kind: 'ok',
    store: async () => {
      await scope.context.run.put('turn', turnId, { schemaVersion: 1, turnId, reply });
      return { turnId, action: reply.action };
    },
  };
}

export async function queries(context: StepContext, step: QueriesInput): Promise<Queried> {
  return once(context, async () => {
    const { reply } = await context.run.get('turn', step.turnId);
    const { description } = await context.run.get('schema', SCHEMA_ID);
    const { inspector } = await openInspector(context);
    const scope = { context, inspector, description };
    const texts = reply.queries.map(({ sql }, at) =>
      selectText(sql, `query ${at + 1}`, inspector, { relations: bodyScope(scope).relations, operators: [] }),
    );
    const run = await runSql(
      context,
      texts.flatMap((each) =>
        each.kind === 'ok' ? [withClock(scope, { ...each.value.inspection, sql: each.value.sql })] : [],
      ),
    );
    const pending = [...run.results];
    const tests = texts.map((each, at) => ({
      operator: LOOK,
      probeSql: each.kind === 'ok' ? each.value.sql : (reply.queries[at]?.sql ?? ''),
      result:
        each.kind === 'ok'
          ? (pending.shift() ?? { kind: 'refused' as const, message: 'it was not run' })
          : { kind: 'refused' as const, message: each.error },
      hypotheses: [],
      materiality: null,
    }));
    const observationId = step.turnId;
    await context.run.put('observation', observationId, {
      ...{ schemaVersion: 1, observationId, proposalId: step.turnId, tests, takenAt: run.takenAt },
    });
    const read = texts.flatMap((each) => (each.kind === 'ok' ? each.value.inspection.relations : []));
    await showTables(context, step.turnId, read, '');
    const profiled = await profileExtra(context, step.turnId);
    return { observationId, usage: addDeltas(run.usage, profiled) };
  });
}

/** A SELECT without operators, with the clock that it may read. */
export function withClock(
  { context, description }: { readonly context: StepContext; readonly description: DatabaseDescription },
  select: { readonly sql: string; readonly relations: readonly string[]; readonly hasWith: boolean },
): string {
  const { clock } = context.input;
  const operators = clock === undefined ? [] : [clockOperator(clock, description.dialect)];
  return compileSelect(operators, select, description.dialect);
}
