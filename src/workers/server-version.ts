/** Whether a server process can be used: asked by Temporal's client, which nobody loads who finds a server that is known. */
import { Connection } from '@temporalio/client';

/** gRPC health protocol. */
const SERVING = 1;

/** null when nothing that serves Temporal answers there in time. */
export async function serverVersionAt(address: string, timeoutMs = 2_000): Promise<string | null> {
  const connection = Connection.lazy({ address });
  try {
    return await connection.withDeadline(Date.now() + timeoutMs, async () => {
      await connection.ensureConnected();
      const [{ status }, { serverVersion }] = await Promise.all([
        connection.healthService.check({ service: 'temporal.api.workflowservice.v1.WorkflowService' }),
        connection.workflowService.getSystemInfo({}),
        connection.workflowService.describeNamespace({ namespace: 'default' }),
      ]);
      return (status as number) === SERVING ? serverVersion : null;
    });
  } catch {
    return null;
  } finally {
    await connection.close();
  }
}
