/** `gate ops worker`: serves questions on configured databases until it is stopped. */
import { isIP } from 'node:net';
import type { LogEntry } from '@temporalio/worker';
import { InvalidArgumentError, Option } from 'commander';
import { hostPort } from '../workers/http-server';
import { logContext } from '../workers/log-context';
import { collect, port, positiveNumber, commandOf, type CommandFactory } from './options';
import { codeOf, errorText, UsageError } from '../app/errors';
import { AlreadyTold } from './exit';
import type { HealthServer } from '../workers/health';
import type { Io } from './io';
import type { ServedParts, ServeOptions } from '../app/serve';

export const workerCommand: CommandFactory = (io) =>
  commandOf(
    'worker',
    'work on questions asked with the same configuration, until stopped; any number of workers may run, on any machine that reaches Temporal and the store',
    'gate ops worker',
    'TEMPORAL_ADDRESS=temporal.internal:7233 gate ops worker --db sales',
    'gate ops worker --serve model:gpt-5.4-mini',
    'gate ops worker --metrics-port 9464',
    'gate ops worker --exit-when-idle 60 --grace 25 --health-port 8080 --listen 0.0.0.0',
  )
    .option(
      '--db <database>',
      'serve only this database: a name, a file or a URL (repeatable; default: all configured)',
      collect,
    )
    .option(
      '--serve <parts>',
      'serve only these queues: workflow, model:NAME (separated by commas; default: all)',
      collectParts,
    )
    .option(
      '--exit-when-idle <seconds>',
      'stop with exit code 0 when nothing runs and no task came for so long: for containers that scale to zero',
      positiveNumber,
    )
    .option(
      '--grace <seconds>',
      'for how long running steps may finish after SIGTERM; then they are tried again elsewhere (default: 5)',
      positiveNumber,
    )
    .option('--health-port <n>', 'answer GET /livez and GET /readyz on this port', port)
    .option('--metrics-port <n>', 'answer GET /metrics for Prometheus on this port (docs/telemetry.md)', port)
    .addOption(
      new Option('--listen <address>', 'IP address on which these ports are open').argParser(ip).default('127.0.0.1'),
    )
    .addOption(new Option('--background').hideHelp())
    .action(async (flags: WorkerFlags) => {
      const json = logFormat(io) === 'json';
      try {
        await workWithHealth(flags, json ? jsonIo(io) : io, json ? (entry) => io.err(entryLine(entry)) : undefined);
      } catch (error) {
        if (!json) throw error;
        io.err(logLine('error', errorText(error, flags.debug ?? false), io.now()));
        throw new AlreadyTold(codeOf(error));
      }
    });

/**
 * Lines of a worker's log as JSON, one object each: `time`, `level`, `message`, and the search, workflow and step where they are
 * known (`workers/log-context.ts`).
 */
const LOG_FORMATS = ['text', 'json'] as const;
type LogFormat = (typeof LOG_FORMATS)[number];

function logLine(level: string, message: string, nowMs: number, more: object = {}): string {
  return `${JSON.stringify({ time: new Date(nowMs).toISOString(), level, message, ...more })}\n`;
}

/** Everything that the command itself says becomes lines of level `info`. */
export function jsonIo(io: Io): Io {
  return {
    ...io,
    err: (text) => {
      for (const line of text.split('\n')) if (line.trim() !== '') io.err(logLine('info', line, io.now()));
    },
  };
}

export function entryLine(entry: LogEntry): string {
  const { level, message, timestampNanos } = entry;
  return logLine(level.toLowerCase(), message, Number(timestampNanos / 1_000_000n), logContext(entry));
}

function logFormat({ env }: Io): LogFormat {
  const format = env['GATE_LOG_FORMAT'] || 'text';
  const known = LOG_FORMATS.find((one) => one === format);
  if (known === undefined)
    throw new UsageError(`GATE_LOG_FORMAT: '${format}' is not allowed; give ${LOG_FORMATS.join(' or ')}`);
  return known;
}

async function workWithHealth(flags: WorkerFlags, io: Io, log: ServeOptions['log']): Promise<void> {
  const { startHealthServer } = await import('../workers/health');
  const health = flags.healthPort === undefined ? null : await startHealthServer(flags.listen, flags.healthPort);
  if (health !== null) io.err(`health on ${health.url}\n`);
  try {
    await work(flags, health, log, io);
  } finally {
    await health?.close();
  }
}

interface WorkerFlags {
  readonly db?: readonly string[];
  readonly serve?: ServedParts;
  readonly exitWhenIdle?: number;
  readonly grace?: number;
  readonly healthPort?: number;
  readonly metricsPort?: number;
  readonly listen: string;
  readonly background?: boolean;
  readonly debug?: boolean;
}

async function work(flags: WorkerFlags, health: HealthServer | null, log: ServeOptions['log'], io: Io): Promise<void> {
  const { loadConfig } = await import('../config');
  const { openTemporal } = await import('../app/open-temporal');
  const { checkParts, serve } = await import('../app/serve');
  const { untilStopped } = await import('./interrupts');
  const { DATABASES_VARIABLE } = await import('../app/background');
  const config = loadConfig(io);
  const given = io.env[DATABASES_VARIABLE];
  checkParts(config, flags.serve);
  const session = await openTemporal(config, io.env, { onProgress: (line) => io.err(`${line}\n`) });
  try {
    const serving: ServeOptions = {
      databases: [...(flags.db ?? []), ...(flags.background && given ? (JSON.parse(given) as string[]) : [])],
      debug: flags.debug ?? false,
      background: flags.background ?? false,
      ready: (names, endpoint) =>
        io.err(
          `serving ${names.join(', ') || 'no database'} with model endpoint ${endpoint} on Temporal ${session.address}; Ctrl-C stops\n`,
        ),
      parts: flags.serve,
      exitWhenIdleMs: flags.exitWhenIdle && flags.exitWhenIdle * 1000,
      graceMs: flags.grace && flags.grace * 1000,
      health,
      log,
      metricsAt: flags.metricsPort === undefined ? undefined : hostPort(flags.listen, flags.metricsPort),
    };
    await untilStopped(io, (stop) => serve(config, session, serving, io, stop));
  } finally {
    await session.close();
  }
}

function ip(text: string): string {
  if (isIP(text) === 0) throw new InvalidArgumentError('give an IP address, for example 127.0.0.1 or 0.0.0.0');
  return text;
}

/** Written as `workflow` and `model:NAME`. */
function collectParts(text: string, before?: ServedParts): ServedParts {
  let parts = before ?? { workflow: false, models: [] };
  for (const part of text.split(',').map((each) => each.trim())) {
    const [, model] = /^model:(.+)$/.exec(part) ?? [];
    if (part === 'workflow') parts = { ...parts, workflow: true };
    else if (model !== undefined) parts = { ...parts, models: [...parts.models, model] };
    else throw new InvalidArgumentError(`'${part}' cannot be served; give workflow or model:NAME`);
  }
  return parts;
}
