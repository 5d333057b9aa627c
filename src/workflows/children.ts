/**
 * The children of a search, each a workflow of its own with its own history. They end with their parent: cancelled with it,
 * terminated if it is. A pause and a hint of the parent reach those that run.
 */
import {
  ChildWorkflowFailure,
  defineSignal,
  getExternalWorkflowHandle,
  sleep,
  type ChildWorkflowHandle,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError, type Workflow } from '@temporalio/common';
import type { Steering } from '../domain';
import {
  childRun,
  type AnswerSummary,
  type ChildInput,
  type ChildSteps,
  type OpenedChild,
} from '../domain/ports/step-parts';
import { questionWorkflowId } from './ids';

/** A command that was given to the parent. */
export const fromParent = defineSignal<[Steering]>('fromParent');

export interface ChildrenOptions {
  readonly open: (input: ChildInput) => Promise<OpenedChild>;
  readonly start: (child: OpenedChild, position: string) => Promise<ChildWorkflowHandle<Workflow>>;
  /** Awaited before a child starts: a paused search starts none. */
  readonly mayCall: () => Promise<void> | null;
}

/** A parent that was terminated takes its children with it only a moment later. */
const START_TRIES = 60;

export class Children implements ChildSteps {
  private readonly running = new Set<string>();

  constructor(private readonly options: ChildrenOptions) {}

  async child(input: ChildInput): ReturnType<ChildSteps['child']> {
    const { open, mayCall } = this.options;
    const opened = await open(input);
    if (opened.ended?.isConclusive === true) return childRun(opened.ended.summary);
    await mayCall();
    try {
      return childRun(await this.run(opened, input.position));
    } catch (error) {
      if (!(error instanceof ChildWorkflowFailure)) throw error;
      const { ended } = await open(input);
      if (ended === null) throw error;
      return childRun(ended.summary);
    }
  }

  underWay(): number {
    return this.running.size;
  }

  /** Ignores that a child has just ended. */
  tell(steering: Steering): void {
    for (const id of this.running) {
      void getExternalWorkflowHandle(questionWorkflowId(id))
        .signal(fromParent, steering)
        .catch(() => undefined);
    }
  }

  private async run(child: OpenedChild, position: string): Promise<AnswerSummary> {
    const handle = await this.started(child, position);
    this.running.add(child.searchId);
    try {
      return (await handle.result()) as AnswerSummary;
    } finally {
      this.running.delete(child.searchId);
    }
  }

  private async started(child: OpenedChild, position: string): Promise<ChildWorkflowHandle<Workflow>> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.options.start(child, position);
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError) || tries >= START_TRIES) throw error;
        await sleep('1 second');
      }
    }
  }
}
