/** What a container of workers is told, whatever runs it. No secret is in it, only the names of variables that hold one. */

export interface ContainerPlan {
  readonly image: string;
  /** The configuration file as it is, mounted at `CONFIG_PATH`. */
  readonly configuration: string;
  /** Variables without secrets. */
  readonly environment: Readonly<Record<string, string>>;
  /** Variables that are filled from the platform's store of secrets. */
  readonly secrets: readonly string[];
  readonly groups: readonly QueueGroup[];
  readonly graceSeconds: number;
  /** TCP ports that workers connect to. */
  readonly ports: readonly number[];
}

/** Queues that scale together. */
export interface QueueGroup {
  /** Of a resource: lower case, digits and dashes. */
  readonly name: string;
  /** As `gate worker --serve` takes it. */
  readonly serve: string;
}

export const CONFIG_FOLDER = '/etc/gate';
export const CONFIG_FILE = 'gate.config.json';
export const CONFIG_PATH = `${CONFIG_FOLDER}/${CONFIG_FILE}`;
export const HEALTH_PORT = 8080;
/** After the grace, steps that do not react get 10 s; then the process has to end. */
export const AFTER_GRACE_SECONDS = 15;

export function workerArguments({ serve }: QueueGroup, graceSeconds: number): string[] {
  const health = ['--health-port', String(HEALTH_PORT), '--health-host', '0.0.0.0'];
  return ['worker', '--serve', serve, '--grace', String(graceSeconds), ...health];
}
