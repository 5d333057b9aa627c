/** What AWS Lambda calls; `gate ops deploy lambda` puts it into a package with the configuration. */
import { setEngineFlags } from '../engine-flags';
import { createHandler } from './handler';
import { openKept } from './kept';

setEngineFlags();
const log = (line: string): void => void process.stdout.write(`${line}\n`);

export const handler = createHandler(
  () => openKept(process.env, process.env['LAMBDA_TASK_ROOT'] ?? process.cwd(), log),
  log,
);
