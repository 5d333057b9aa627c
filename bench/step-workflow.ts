/** The workflow that `step.ts` measures: empty activities, one after the other. */
import { proxyActivities } from '@temporalio/workflow';

interface StepActivities {
  emptyStep(): Promise<void>;
}

export async function steps(input: { readonly count: number; readonly taskQueue: string | null }): Promise<void> {
  const { emptyStep } = proxyActivities<StepActivities>({
    startToCloseTimeout: '10s',
    ...(input.taskQueue === null ? {} : { taskQueue: input.taskQueue }),
  });
  for (let step = 0; step < input.count; step += 1) await emptyStep();
}
