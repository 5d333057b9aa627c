/**
 * The conversation of `look-then-prove`: a model step whose reply is stored as a turn, and the queries of a look, which run
 * together in one snapshot.
 */
import { lookSchema, parseLook, renderLook } from './look-prompt';
import type { LookReply } from '../domain/turns';
import type { ModelOutcome, ModelStepInput } from '../ports/step-parts';
import { selectsOf } from './sql/queries';
import { parserScope, type SearchScope } from './shared/bodies';
import { buildCommit } from './sql/commit-plan';
import type { StepContext } from './shared/context';
import { turnsOf } from './look-texts';
import { contentId, invalid, runModelStep, type Read } from './shared/model-step';
import { promptContext } from './shared/prompt-context';
import { columnsOfNamed } from './shared/shown-tables';

/** One turn of the conversation of `look-then-prove`. */

export interface LookInput extends ModelStepInput {
  readonly role: 'look';
  /** Ids of the turns so far. */
  readonly turns: readonly string[];
  /** The last turn was settled; this one is for what a person said since. */
  readonly hearsOut?: true;
}
export interface Looked {
  readonly turnId: string;
  readonly action: 'look' | 'commit' | 'unanswerable';
}

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
