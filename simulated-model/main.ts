/** The simulated model as a process: prints one line of JSON with its base URL when it is ready, and runs until stopped. */
import { Command, InvalidArgumentError, Option } from 'commander';
import {
  FAULT_KINDS,
  DEFAULT_RATES,
  QuestionFileError,
  SIMULATED_MODEL,
  WIRE_FAULTS,
  startSimulatedModel,
} from './index';
import type { FaultKind, FaultRates } from './index';

interface Flags {
  readonly questions: string[];
  readonly db: string[];
  readonly host: string;
  readonly port: number;
  readonly seed: number;
  readonly model: string[];
  readonly apiKey?: string;
  readonly latencyMs: number;
  readonly latencySpread: number;
  readonly doubtRate: number;
  readonly wrongRate: number;
  readonly inconclusiveRate: number;
  readonly immaterialRate: number;
  readonly faultRate: number;
  readonly fault: FaultRates;
  readonly retryAfter: number;
  readonly requestsPerMinute?: number;
}

const { doubt, wrong, inconclusive, immaterial } = DEFAULT_RATES;

function program(): Command {
  return new Command('simulated-model')
    .description(
      'An OpenAI-compatible server that plays every role of a search from questions with gold SQL, for load, fault and ' +
        'cost tests. It knows the answers: nothing measured with it is ever called accuracy.',
    )
    .requiredOption('--questions <file>', 'questions with gold SQL, one JSON object a line (repeatable)', collect, [])
    .option(
      '--db <name=address>',
      'where a database is: NAME=path or NAME=URL, or one template with {database} (repeatable)',
      collect,
      [],
    )
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <n>', 'port to listen on; 0 takes a free one', whole, 0)
    .option('--seed <n>', 'another seed errs elsewhere', whole, 0)
    .option('--model <name>', `model name it answers to (repeatable; default: ${SIMULATED_MODEL})`, collect, [])
    .option('--api-key <key>', 'refuse any other key')
    .option('--latency-ms <n>', 'median time to answer', amount, 0)
    .option('--latency-spread <sigma>', 'sigma of a log-normal distribution around it; 0 is a fixed time', amount, 0)
    .option('--doubt-rate <r>', 'share of questions whose plan leaves its core open', rate, doubt)
    .option('--wrong-rate <r>', 'chance that a reading is taken wrongly', rate, wrong)
    .option('--inconclusive-rate <r>', 'chance that a probe decides nothing', rate, inconclusive)
    .option('--immaterial-rate <r>', 'chance that rival readings give the same rows', rate, immaterial)
    .option('--fault-rate <r>', `chance that a request fails on the wire, shared by ${WIRE_FAULTS.join(', ')}`, rate, 0)
    .addOption(
      new Option('--fault <kind=rate>', `chance of one kind: ${FAULT_KINDS.join(', ')} (repeatable)`)
        .argParser(collectFault)
        .default({}, 'none'),
    )
    .option('--retry-after <seconds>', 'what a 429 asks to wait', amount, 1)
    .option('--requests-per-minute <n>', 'requests beyond it get a 429 that says when the next may come', whole)
    .addHelpText('after', '\nGET /ledger tells what was asked and billed, POST /reset empties it.')
    .exitOverride();
}

async function main(argv: readonly string[]): Promise<void> {
  const flags = program().parse(argv).opts<Flags>();
  const shared = flags.faultRate / WIRE_FAULTS.length;
  const model = await startSimulatedModel({
    questions: flags.questions,
    databases: flags.db,
    seed: flags.seed,
    host: flags.host,
    port: flags.port,
    models: flags.model.length === 0 ? [SIMULATED_MODEL] : flags.model,
    apiKey: flags.apiKey ?? null,
    latencyMs: flags.latencyMs,
    latencySpread: flags.latencySpread,
    rates: {
      doubt: flags.doubtRate,
      wrong: flags.wrongRate,
      inconclusive: flags.inconclusiveRate,
      immaterial: flags.immaterialRate,
    },
    faults: { ...Object.fromEntries(WIRE_FAULTS.map((kind) => [kind, shared])), ...flags.fault },
    retryAfterSeconds: flags.retryAfter,
    rateLimit: flags.requestsPerMinute === undefined ? null : { requests: flags.requestsPerMinute, windowMs: 60_000 },
  });
  process.stdout.write(`${JSON.stringify({ baseUrl: model.baseUrl, pid: process.pid })}\n`);
  const stop = (): void => void model.close().then(() => process.exit(0));
  process.once('SIGTERM', stop).once('SIGINT', stop);
}

function collect(text: string, before: readonly string[]): string[] {
  return [...before, text];
}

function collectFault(text: string, before: FaultRates): FaultRates {
  const [kind = '', value = ''] = text.split('=');
  if (!(FAULT_KINDS as readonly string[]).includes(kind))
    throw new InvalidArgumentError(`'${kind}' is no fault; allowed: ${FAULT_KINDS.join(', ')}`);
  return { ...before, [kind as FaultKind]: rate(value) };
}

function rate(text: string): number {
  const value = amount(text);
  if (value > 1) throw new InvalidArgumentError('give a number from 0 to 1');
  return value;
}

function amount(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0) || !Number.isFinite(value))
    throw new InvalidArgumentError('give a number, 0 or more');
  return value;
}

function whole(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('give a whole number, 0 or more');
  return Number(text);
}

function explain(error: unknown): void {
  // commander has printed its own line already.
  const printed = error instanceof Error && 'exitCode' in error;
  if (printed) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else {
    const known = error instanceof QuestionFileError || (error instanceof Error && 'code' in error);
    process.stderr.write(
      `simulated-model: ${known ? error.message : error instanceof Error ? String(error.stack) : String(error)}\n`,
    );
    process.exitCode = error instanceof QuestionFileError ? 2 : 1;
  }
}

main(process.argv).catch(explain);
