/** `gate layer watch`: a schedule in Temporal runs the checks of a layer, and tells of drift before a user finds it. */
import { resolve } from 'node:path';
import { LOG_NAME } from '../adapters/local/log-file';
import { webhookUrl } from '../adapters/web/webhook';
import type { Config } from '../config';
import { resolveDatabase, type ResolvedDatabase } from '../config/databases';
import { WEBHOOK_VARIABLE } from '../config/watch';
import { driftAt } from '../layer/drift';
import type { Outlet } from '../ports/drift';
import { readLayer } from '../record/layer-store';
import { identityKey } from '../record/search-id';
import { compose } from '../workers/composition';
import { findWatch, listWatches, putWatch, runWatch, stopWatch } from '../workers/layer-schedules';
import { isPolled } from '../workers/running-elsewhere';
import { differenceText, servedName, servingOf, type Serving } from '../workers/serving';
import { databaseQueue } from '../workers/task-queues';
import { askedDatabase } from './ask-input';
import { serveInBackground } from './background';
import { lookAt } from './check-database';
import { CommandFailed, EXIT, UsageError, type ExitCode } from './errors';
import type { Io } from './io';
import { printDrift } from './layer-run';
import { openServices, sha256, type Services } from './services';
import { openTemporal, type TemporalSession } from './temporal-session';
import { changesOf, planText, resultText, timeText, toldPlan, watchText } from './watch-texts';

export interface WatchFlags {
  readonly db?: string;
  readonly every?: number;
  readonly webhook?: string;
  readonly file?: string;
  readonly timeout: number;
  readonly list?: boolean;
  readonly stop?: boolean;
  readonly now?: boolean;
  readonly json?: boolean;
}

export async function watchLayer(flags: WatchFlags, io: Io): Promise<ExitCode> {
  const { every, list, stop, now } = flags;
  const asked = [every, list, stop, now].filter((each) => each !== undefined).length;
  if (asked === 0) throw new UsageError('say how often, such as --every 1h, or give --now, --list or --stop');
  if (asked > 1) throw new UsageError('--every, --now, --list and --stop are different commands: give one of them');
  if (every === undefined && (flags.webhook !== undefined || flags.file !== undefined))
    throw new UsageError('--webhook and --file say where drift is told: give them with --every');
  const services = openServices(io);
  if (list) return listAll(services, flags, io);
  const database = askedDatabase(services.config, flags, io);
  const watched = { services, database, identity: database.identity };
  if (stop) return stopWatching(watched, flags, io);
  return now ? checkNow(watched, flags, io) : watch(watched, every ?? 0, flags, io);
}

interface Watched {
  readonly services: Services;
  readonly database: ResolvedDatabase;
  readonly identity: string;
}

async function watch(watched: Watched, everyMs: number, flags: WatchFlags, io: Io): Promise<ExitCode> {
  const { database, identity, services } = watched;
  const { config } = services;
  const to = outletsOf(config, flags, io);
  await lookAt(config, database);
  return withTemporal(services, io, async (session) => {
    const serving = await servingHere(watched);
    const taskQueue = databaseQueue(servedName(database.name, serving));
    await ensureServed(watched, serving, session, io);
    const input = { database: database.name, identity, to, timeoutMs: Math.round(flags.timeout * 1000) };
    const before = await putWatch(session.gate, { input, everyMs, taskQueue }, serving);
    const after = await findWatch(session.gate, identity);
    const next = after?.nextAt ?? null;
    const plan = { input, everyMs, taskQueue, serving: serving.parts };
    const changed = before === null ? [] : changesOf(before, plan);
    if (flags.json) {
      io.out(`${JSON.stringify({ ...toldPlan(plan), nextAt: next, changed }, null, 2)}\n`);
      return EXIT.ok;
    }
    if (before === null) io.out(`'${database.name}' is watched: ${planText(plan)}; next check ${timeText(next)}\n`);
    else if (changed.length === 0) io.out(`'${database.name}' was watched like this before: ${planText(plan)}\n`);
    else io.out(`the watch of '${database.name}' is changed: ${changed.join('; ')}\n`);
    if (to.length === 0) io.err('drift is only kept in the layer: give --webhook or --file to be told\n');
    return EXIT.ok;
  });
}

function outletsOf(config: Config, { webhook, file }: WatchFlags, io: Io): readonly Outlet[] {
  const to: Outlet[] = [];
  if (webhook !== undefined) {
    if (!WEBHOOK_VARIABLE.test(webhook))
      throw new UsageError(
        '--webhook: a URL may hold a token, and schedules are kept in Temporal; put it into a variable such as GATE_WEBHOOK, here and where workers run, and give the name: --webhook GATE_WEBHOOK',
      );
    const url = config.watch.webhooks[webhook]?.reveal();
    if (url === undefined)
      throw new UsageError(
        `--webhook ${webhook}: the variable is not set; set it to the URL, here and where workers run`,
      );
    try {
      webhookUrl(webhook, url, config.watch.privateHosts);
    } catch (error) {
      throw new UsageError(`--webhook ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
    to.push({ kind: 'webhook', variable: webhook });
  }
  if (file !== undefined) {
    if (!LOG_NAME.test(file))
      throw new UsageError(`--file ${file}: lines of JSON are appended to it; give a name that ends in .jsonl`);
    to.push({ kind: 'file', path: resolve(io.cwd, file) });
  }
  return to;
}

async function servingHere({ services: { config }, database }: Watched): Promise<Serving> {
  const composition = await compose(config, { adHoc: [database] });
  try {
    return servingOf(config, composition, [database]);
  } finally {
    await composition.close();
  }
}

/** A check that nobody runs reports nothing. */
async function ensureServed(
  { services: { config }, database }: Watched,
  serving: Serving,
  session: TemporalSession,
  io: Io,
): Promise<void> {
  const workflow = databaseQueue(servedName(database.name, serving));
  if (await isPolled(session.gate, workflow, io.now())) return;
  const announced = { queues: { workflow }, limited: [], serving };
  await serveInBackground(config, [{ database, announced }], session, io);
  io.err(
    'A worker runs the checks in the background; gate dev --stop stops it, and gate ops worker takes its place.\n',
  );
}

async function checkNow(watched: Watched, flags: WatchFlags, io: Io): Promise<ExitCode> {
  const { database, identity, services } = watched;
  return withTemporal(services, io, async (session) => {
    const plan = await findWatch(session.gate, identity);
    if (plan === null) throw notWatched(database);
    const serving = await servingHere(watched);
    if (plan.taskQueue === databaseQueue(servedName(plan.input.database, serving)))
      await ensureServed(watched, serving, session, io);
    else if (!(await isPolled(session.gate, plan.taskQueue, io.now())))
      throw new CommandFailed(
        `nobody runs the checks of '${database.name}': they are scheduled ${differenceText(plan.serving ?? {}, serving.parts)}; give gate layer watch --every again to run them here`,
      );
    const stop = new AbortController();
    const stopListening = io.onInterrupt(() => stop.abort(new CommandFailed('interrupted; the checks go on', 3)));
    const result = await runWatch(session.gate, identity, stop.signal).finally(stopListening);
    if (result === null) throw notWatched(database);
    const place = { store: services.store, hash: sha256, database: identityKey(identity) };
    const drift = driftAt(await readLayer(place), result.at);
    if (flags.json) io.out(`${JSON.stringify({ ...result, ...drift }, null, 2)}\n`);
    else {
      printDrift(drift, [], io);
      io.out(`${resultText(result)}\n`);
    }
    const { checked, unseen, broken, lower } = result;
    return checked > 0 && unseen + broken + lower === 0 ? EXIT.ok : EXIT.failed;
  });
}

async function stopWatching({ database, identity, services }: Watched, flags: WatchFlags, io: Io): Promise<ExitCode> {
  return withTemporal(services, io, async (session) => {
    const stopped = await stopWatch(session.gate, identity);
    if (!stopped) throw notWatched(database);
    if (flags.json) io.out(`${JSON.stringify({ database: database.name, stopped }, null, 2)}\n`);
    else io.out(`'${database.name}' is no longer watched; what its layer holds stays\n`);
    return EXIT.ok;
  });
}

async function listAll(services: Services, flags: WatchFlags, io: Io): Promise<ExitCode> {
  const { config } = services;
  const names = flags.db === undefined ? Object.keys(config.databases) : [flags.db];
  const usable = names.flatMap((name) => {
    try {
      return [resolveDatabase(config, name, io.cwd)];
    } catch (error) {
      // Of all databases, one that cannot be used here may be watched from elsewhere.
      if (flags.db !== undefined || !(error instanceof Error) || error.name !== 'ConfigError') throw error;
      return [];
    }
  });
  const identities = usable.map(({ identity }) => identity);
  return withTemporal(services, io, async ({ gate }) => {
    const all = await listWatches(gate, identities);
    const shown = flags.db === undefined ? all : all.filter(({ input }) => identities.includes(input.identity));
    if (flags.json) {
      const told = shown.map((each) => ({
        ...toldPlan(each),
        ...{ nextAt: each.nextAt, paused: each.paused, runs: each.runs },
      }));
      io.out(`${JSON.stringify({ watches: told }, null, 2)}\n`);
      return EXIT.ok;
    }
    if (shown.length === 0) io.err('nothing is watched; begin with: gate layer watch --db NAME --every 1h\n');
    for (const each of shown) io.out(`${watchText(each)}\n`);
    return EXIT.ok;
  });
}

async function withTemporal(
  { config }: Services,
  io: Io,
  work: (session: TemporalSession) => Promise<ExitCode>,
): Promise<ExitCode> {
  const session = await openTemporal(config, io.env, { onProgress: (line) => io.err(`${line}\n`) });
  let keep = false;
  try {
    const code = await work(session);
    // A schedule needs its server.
    keep = (await listWatches(session.gate, [])).length > 0;
    return code;
  } finally {
    await session.close({ keep });
  }
}

function notWatched({ name }: ResolvedDatabase): CommandFailed {
  return new CommandFailed(`'${name}' is not watched; begin with: gate layer watch --db ${name} --every 1h`);
}
