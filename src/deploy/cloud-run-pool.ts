/**
 * A worker pool of Cloud Run for each queue group, for `gcloud beta run worker-pools replace`. A pool begins with no instance:
 * Temporal's worker controller (`gcp-cloud-run`) sets how many there are, or a person does.
 */
import { CONFIG_FILE, CONFIG_FOLDER, workerArguments, type ContainerPlan, type QueueGroup } from './container-plan';

export const CONFIG_SECRET = 'gate-config';

export function cloudRunPool(plan: ContainerPlan, group: QueueGroup) {
  return {
    apiVersion: 'run.googleapis.com/v1',
    kind: 'WorkerPool',
    metadata: {
      name: `gate-${group.name}`,
      annotations: {
        'run.googleapis.com/scalingMode': 'manual',
        'run.googleapis.com/manualInstanceCount': '0',
      },
    },
    spec: {
      template: {
        spec: {
          serviceAccountName: 'gate-worker',
          containers: [
            {
              image: plan.image,
              args: workerArguments(group, plan.graceSeconds),
              env: [
                ...Object.entries(plan.environment).map(([name, value]) => ({ name, value })),
                ...plan.secrets.map((name) => ({ name, valueFrom: { secretKeyRef: { name, key: 'latest' } } })),
              ],
              resources: { limits: { cpu: '1', memory: '1Gi' } },
              volumeMounts: [{ name: 'config', mountPath: CONFIG_FOLDER }],
            },
          ],
          volumes: [
            { name: 'config', secret: { secretName: CONFIG_SECRET, items: [{ key: 'latest', path: CONFIG_FILE }] } },
          ],
        },
      },
    },
  };
}
