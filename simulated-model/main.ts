/**
 * The simulated model as a process: `main.js '{"questions": […], "databases": […], …}'` (`SimulatedModelOptions`) prints one
 * line of JSON with its base URL when it is ready, and runs until stopped.
 */
import { startSimulatedModel, type SimulatedModelOptions } from './index';

async function main(options: string): Promise<void> {
  const model = await startSimulatedModel(JSON.parse(options) as SimulatedModelOptions);
  process.stdout.write(`${JSON.stringify({ baseUrl: model.baseUrl, pid: process.pid })}\n`);
  const stop = (): void => void model.close().then(() => process.exit(0));
  process.once('SIGTERM', stop).once('SIGINT', stop);
}

main(process.argv[2] ?? '{}').catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
});
