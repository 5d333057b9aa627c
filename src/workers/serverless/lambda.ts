/** What AWS Lambda calls; `gate ops deploy lambda` puts it into a package with the configuration. */
import { createHandler } from './handler';
import { openKept } from './kept';

const log = (line: string): void => void process.stdout.write(`${line}\n`);

export const handler = createHandler(
  () => openKept(process.env, process.env['LAMBDA_TASK_ROOT'] ?? process.cwd(), log),
  log,
);
